import Foundation
import SQLiteStore
import Tailrace
import TailraceStored
import Testing
import Walking

@testable import enginewalk

/// Processes that are killed while they write, and go on.
@Suite("SQLiteStore: crashes", .serialized, .timeLimit(.minutes(30)))
struct CrashTests {
  static let isFull = ProcessInfo.processInfo.environment["FULL"] != nil

  @Test(
    "a writer is killed again and again, and three follow it",
    arguments: [
      ("sqlite", Walk.Mode.one), ("sqlite-process", .one), ("sqlite", .array),
      ("sqlite-process", .array),
    ])
  func kills(_ store: String, _ mode: Walk.Mode) async throws {
    let place = try Place()
    let kills = Self.isFull ? 200 : 20
    let report = try await loop(in: place, store).run(kills: kills, mode: mode)
    print("\(store), \(mode): \(kills) kills, \(report)")
    expectNothingLost(report)
    // A step that was not stored runs again: one for each kill, or as many as are gathered.
    #expect(report.runAgain <= kills * (mode == .one ? 1 : 1000))
  }

  @Test(
    "three contend, and one after the other is killed", arguments: ["sqlite", "sqlite-process"])
  func contenders(_ store: String) async throws {
    let place = try Place()
    let kills = Self.isFull ? 150 : 20
    let report = try await loop(in: place, store).contend(kills: kills)
    let leases = try #require(try place.number("SELECT epoch FROM tailrace_lists"))
    print("three contenders, \(store): \(kills) kills, \(leases) leases, \(report)")
    expectNothingLost(report)
    // A lease that ends leaves one step that was not stored, at most.
    #expect(report.runAgain <= leases)
  }

  @Test("a process that is stopped while its lease ends is superseded, and follows")
  func stopped() async throws {
    let place = try Place()
    let steps = place.folder.appending(path: "steps").path
    func writer(_ length: Int = .max) throws -> Child {
      try Child(
        "enginewalk", ["write", "sqlite", place.url.path, "contend", steps, "\(length)"])
    }
    func stored() throws -> Int {
      try place.number("SELECT count FROM tailrace_lists WHERE name = 'chain'") ?? 0
    }
    for round in 1...5 {
      let sleeper = try writer()
      defer { sleeper.signal(SIGKILL) }
      await sleeper.printed(try round == 1 ? 50 : stored() + 50)
      // A process that is stopped within a transaction keeps everybody from writing: again, then.
      sleeper.stop()
      while !place.isUnlocked {
        let count = try stored()
        sleeper.signal(SIGCONT)
        await sleeper.printed(count + 1)
        sleeper.stop()
      }
      let other = try writer()
      defer { other.signal(SIGKILL) }
      await other.printed(try stored() + 50)
      sleeper.signal(SIGCONT)
      // It reads what the other has written, and goes on only when that one is gone.
      await sleeper.printed(try stored())
      await other.kill()
      await sleeper.printed(try stored() + 50)
      await sleeper.kill()
      // Three for each round; less, if one of them gave up on a lock.
      #expect(try place.number("SELECT epoch FROM tailrace_lists") ?? 0 >= 2 * round)
    }
    let length = try stored() + 50
    let last = try writer(length)
    defer { last.signal(SIGKILL) }
    let list = LazyList(reading: sqliteChain(place.url.path, .survivesProcess))
    let check = try await list.reduce(into: ChainCheck()) { try $0.pass($1) }
    #expect(check.count == length)
    #expect(await last.lastLine() == "end \(length) \(check.link.hash)")
  }

  private func loop(in place: Place, _ store: String) -> CrashLoop<SQLiteStore<ChainRow, Link>> {
    CrashLoop(
      store: store, address: place.url.path, steps: place.folder.appending(path: "steps"),
      reading: sqliteChain(place.url.path, .survivesProcess))
  }

  private func expectNothingLost(_ report: CrashReport) {
    #expect(report.length > 0)
    #expect(report.lost == 0, "elements that were given out are not there")
    #expect(report.neverRun == 0, "elements are there that nobody computed")
    #expect(report.ends.count == 4 && Set(report.ends).count == 1, "\(report.ends)")
    #expect(report.ends.first?.hasPrefix("end \(report.length) ") == true)
  }
}
