import Foundation
import Tailrace
import TailraceStored
import Testing
import Walking

@testable import ValkeyStore

@Suite("Processes that are killed", .serialized, .timeLimit(.minutes(30)))
struct ProcessTests {
  static let isFull = ProcessInfo.processInfo.environment["FULL"] != nil

  func loop(_ server: Server) -> (CrashLoop<ValkeyStore<String, Link>>, steps: URL) {
    let steps = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    let store = ValkeyStore(
      "chain", on: ValkeyServer(port: server.port), element: .text as ValkeyCoding<String>,
      state: .json as ValkeyCoding<Link>)
    return (
      CrashLoop(
        store: "valkey", address: "\(server.port):chain", steps: steps, reading: store), steps
    )
  }

  @Test(
    "a writer is killed again and again, and three follow it", arguments: [Walk.Mode.one, .array])
  func kills(_ mode: Walk.Mode) async throws {
    let server = try await Server(isDurable: true)
    let (loop, steps) = loop(server)
    defer { try? FileManager.default.removeItem(at: steps) }
    let kills = Self.isFull ? 200 : 20
    let report = try await loop.run(kills: kills, mode: mode)
    #expect(report.length > 0 && report.lost == 0 && report.neverRun == 0, "\(report)")
    #expect(report.ends.count == 4 && Set(report.ends).count == 1, "\(report)")
    #expect(report.ends.first?.hasPrefix("end \(report.length) ") == true, "\(report)")
    // A step that was not stored runs again: one for each kill, or those gathered meanwhile.
    #expect(report.runAgain <= kills * (mode == .one ? 1 : 1024), "\(report)")
    print("figures: \(mode), \(kills) kills, \(report)")
  }

  @Test("three share a list, and one after the other is killed")
  func contenders() async throws {
    let server = try await Server(isDurable: true)
    let (loop, steps) = loop(server)
    defer { try? FileManager.default.removeItem(at: steps) }
    let kills = Self.isFull ? 150 : 20
    let report = try await loop.contend(kills: kills)
    #expect(report.length > 0 && report.lost == 0 && report.neverRun == 0, "\(report)")
    #expect(report.ends.count == 4 && Set(report.ends).count == 1, "\(report)")
    // Only the one with the lease computes.
    #expect(report.runAgain <= kills, "\(report)")
    print("figures: three contenders, \(kills) kills, \(report)")
  }
}
