import Walking

/// A program to be killed: it writes a stored chain, or follows it. See ``Walk``.
@main
struct EngineWalk {
  static func main() async throws {
    let walk = Walk()
    switch walk.store {
    case "sqlite": try await walk.run(over: sqliteChain(walk.address, .machine))
    case "sqlite-process": try await walk.run(over: sqliteChain(walk.address, .process))
    case "valkey": try await walkValkey(walk)
    default: Walk.refuse("\(walk.store) is no store")
    }
  }
}
