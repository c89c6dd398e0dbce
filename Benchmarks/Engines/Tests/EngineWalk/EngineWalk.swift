import Foundation
import Walking

/// A program to be killed: it writes a stored chain, or follows it. See ``Walk``.
@main
struct EngineWalk {
  static func main() async {
    let walk = Walk()
    do {
      try await run(walk)
    } catch {
      // A store can fail for good, such as one that waited in vain for a lock.
      FileHandle.standardError.write(Data("\(walk.store): \(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ walk: Walk) async throws {
    switch walk.store {
    case "sqlite": try await walk.run(over: sqliteChain(walk.address, .survivesPowerLoss))
    case "sqlite-process": try await walk.run(over: sqliteChain(walk.address, .survivesProcess))
    case "valkey": try await walkValkey(walk)
    default: Walk.refuse("\(walk.store) is no store")
    }
  }
}
