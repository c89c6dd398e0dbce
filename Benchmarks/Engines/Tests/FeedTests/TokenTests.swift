import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Tailrace
import TailraceFoundation
import TailraceStored
import TailraceTesting
import Testing

@testable import tokens
@testable import watch

/// A generator whose tokens come when the test lets them.
private struct GatedGenerator: Generator {
  let gate = Gate()

  func token(of prompt: String, at position: Int) async throws -> String? {
    await gate.wait()
    return position < 6 ? "\(prompt) \(position)" : nil
  }
}

@Suite("The token service", .timeLimit(.minutes(5)))
struct TokenTests {
  private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = URL.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
  }

  private func list(_ port: Int, _ path: String) -> LazyList<Token, any Error> {
    LazyList(
      reading: RemoteList(
        HTTPClient.shared.transport(to: "http://127.0.0.1:\(port)"), path: path, element: .json))
  }

  @Test("late watchers and those that come again get every token; a leaving one ends nothing")
  func watchers() async throws {
    try await withFolder { folder in
      let generator = GatedGenerator()
      let runs = Runs(
        in: folder, limits: StoredListLimits(producing: 1), generator: generator)
      try await Tokens.application(runs) { _ in }.test(.live) { client in
        let path = try await client.execute(uri: "/runs?prompt=word", method: .post) { response in
          #expect(response.status == .created)
          return try #require(response.headers[.location])
        }
        try await client.execute(uri: "/runs?prompt=more", method: .post) {
          #expect($0.status == .tooManyRequests)
        }
        let port = try #require(client.port)
        let early = Task { try await list(port, path).array() }
        let leaving = Task { try await list(port, path).array() }
        for _ in 0..<3 { generator.gate.pass() }
        let first = try await list(port, path).prefix(3).map(\.text).array()
        #expect(first == ["word 0", "word 1", "word 2"])
        leaving.cancel()
        _ = await leaving.result
        generator.gate.open()
        let all = (0..<6).map { Token(n: $0, text: "word \($0)") }
        #expect(try await early.value == all)
        #expect(try await list(port, path).array() == all)
      }
    }
  }

  @Test("stop is a request of its own: readers get the end, and another run may begin")
  func stop() async throws {
    try await withFolder { folder in
      let generator = GatedGenerator()
      let runs = Runs(
        in: folder, limits: StoredListLimits(producing: 1), generator: generator)
      try await Tokens.application(runs) { _ in }.test(.live) { client in
        let path = try await client.execute(uri: "/runs?prompt=word", method: .post) {
          try #require($0.headers[.location])
        }
        let port = try #require(client.port)
        let reader = Task { try await list(port, path).array() }
        for _ in 0..<2 { generator.gate.pass() }
        _ = try await list(port, path).prefix(2).array()
        try await client.execute(uri: path + "/stop", method: .post) {
          #expect($0.status == .noContent)
        }
        generator.gate.pass()
        #expect(try await reader.value.map(\.text) == ["word 0", "word 1"])
        try await client.execute(uri: "/runs/none/stop", method: .post) {
          #expect($0.status == .notFound)
        }
        try await client.execute(uri: "/runs/none", method: .get) {
          #expect($0.status == .notFound)
        }
        try await client.execute(uri: "/runs?prompt=more", method: .post) {
          #expect($0.status == .created)
        }
        generator.gate.open()
      }
    }
  }

  @Test("a run goes on when the service is started again, also one that has no token yet")
  func restart() async throws {
    try await withFolder { folder in
      for life in 0..<3 {
        let generator = GatedGenerator()
        let runs = Runs(in: folder, limits: StoredListLimits(), generator: generator)
        try await runs.open()
        if life == 0 { #expect(try await runs.start("a", state: RunState(prompt: "word"))) }
        if life == 1 { generator.gate.pass() }
        if life < 2 {
          await generator.gate.waitForArrivals(life + 1)
        } else {
          generator.gate.open()
          try await Tokens.application(runs) { _ in }.test(.live) { client in
            let port = try #require(client.port)
            #expect(
              try await list(port, "/runs/a").array()
                == (0..<6).map { Token(n: $0, text: "word \($0)") })
            try await client.execute(uri: "/runs/a?prompt=other", method: .post) {
              #expect($0.status == .ok)
            }
            try await client.execute(uri: "/runs", method: .get) {
              #expect(String(buffer: $0.body) == #"[{"id":"a","count":6,"ended":true}]"#)
            }
          }
        }
        await runs.close()
        // A token that comes after the end of a life is not part of the run.
        generator.gate.open()
      }
    }
  }
}
