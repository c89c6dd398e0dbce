import Foundation
import SQLiteStore
import Tailrace
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
    let claims = try #require(try place.number("SELECT epoch FROM tailrace_lists"))
    print("three contenders, \(store): \(kills) kills, \(claims) claims, \(report)")
    expectNothingLost(report)
    // A claim that ends leaves one step that was not stored, at most.
    #expect(report.runAgain <= claims)
  }

  @Test("a process that is stopped while its lease ends is superseded, and follows")
  func stopped() async throws {
    let place = try Place()
    let steps = place.folder.appending(path: "steps").path
    func writer(_ length: Int) throws -> Child {
      try Child(
        "enginewalk", ["write", "sqlite", place.url.path, "contend", steps, "\(length)"])
    }
    var claims = 0
    for round in 1...5 {
      let length = round * 300
      let sleeper = try writer(.max)
      defer { sleeper.signal(SIGKILL) }
      await sleeper.printed(length - 200)
      sleeper.signal(SIGSTOP)
      let other = try writer(.max)
      defer { other.signal(SIGKILL) }
      await other.printed(length - 100)
      sleeper.signal(SIGCONT)
      // It reads what the other has written, and goes on only when that one is gone.
      await sleeper.printed(length - 100)
      await other.kill()
      await sleeper.printed(length)
      await sleeper.kill()
      claims = try place.number("SELECT epoch FROM tailrace_lists") ?? 0
      #expect(claims >= 3 * round)
    }
    let last = try writer(2000)
    defer { last.signal(SIGKILL) }
    let list = LazyList(reading: sqliteChain(place.url.path, .process))
    let check = try await list.reduce(into: ChainCheck()) { try $0.pass($1) }
    #expect(check.count == 2000)
    #expect(await last.lastLine() == "end 2000 \(check.link.hash)")
  }

  private func loop(in place: Place, _ store: String) -> CrashLoop<SQLiteStore<ChainRow, Link>> {
    CrashLoop(
      store: store, address: place.url.path, steps: place.folder.appending(path: "steps"),
      reading: sqliteChain(place.url.path, .process))
  }

  private func expectNothingLost(_ report: CrashReport) {
    #expect(report.length > 0)
    #expect(report.lost == 0, "elements that were given out are not there")
    #expect(report.neverRun == 0, "elements are there that nobody computed")
    #expect(report.ends.count == 4 && Set(report.ends).count == 1, "\(report.ends)")
    #expect(report.ends.first?.hasPrefix("end \(report.length) ") == true)
  }
}
