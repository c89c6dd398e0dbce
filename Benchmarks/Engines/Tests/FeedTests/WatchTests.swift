import AsyncHTTPClient
import Foundation
import Tailrace
import TailraceFoundation
import TailraceStored
import TailraceTesting
import Testing

@testable import feed
@testable import watch

/// Remote lists of servers that are killed, behind a proxy that harms connections.
@Suite("Remote lists: every element once", .serialized, .timeLimit(.minutes(20)))
struct WatchTests {
  private static let isFull = ProcessInfo.processInfo.environment["FULL"] != nil
  private static let rounds = isFull ? 20 : 2

  private func remote(_ port: Int) -> RemoteList<FeedItem> {
    RemoteList(
      HTTPClient.shared.transport(to: "http://127.0.0.1:\(port)"), path: "/stream", element: .json,
      silence: .seconds(2))
  }

  @Test("a server that is killed fifteen times, and a bad proxy", arguments: 0..<rounds)
  func kills(round: Int) async throws {
    let folder = try FeedFolder()
    let options = ["--every", "2", "--count", "600"]
    let first = try await onThread { try folder.serve(options) }
    let port = first.port
    let proxy = try BadProxy(to: port, seed: UInt64(round))
    defer { proxy.stop() }
    let progress = Progress()
    let mirror = folder.url.appending(path: "mirror")
    try await withThrowingTaskGroup(of: [FeedItem].self) { group in
      let shared = LazyList(reading: remote(proxy.port))
      for _ in 0..<3 {
        group.addTask {
          var items: [FeedItem] = []
          for try await item in shared {
            items.append(item)
            progress.reach(items.count)
          }
          return items
        }
      }
      group.addTask { try await LazyList(reading: remote(proxy.port)).array() }
      group.addTask {
        // Its reader is gone after each hundred elements, and begins again.
        for count in stride(from: 100, through: 600, by: 100) {
          let store = FileStore<FeedItem, RemotePlace>(mirror, element: .json, state: .json)
          let list = LazyList(mirroring: remote(proxy.port), in: store)
          _ = try await list.prefix(count).count()
        }
        let store = FileStore<FeedItem, RemotePlace>(mirror, element: .json, state: .json)
        return try await LazyList(mirroring: remote(proxy.port), in: store).array()
      }
      let last = try await onThread {
        var server = first
        var reached = 0
        for _ in 0..<15 {
          reached = progress.wait(for: min(reached + Int.random(in: 0...38), 590))
          server.kill()
          server = try folder.serve(port: port, options)
        }
        return server
      }
      for try await items in group {
        #expect(items.count == 600)
        #expect(items.firstFault == nil)
      }
      last.kill()
    }
    print(
      "round \(round): 15 kills; \(proxy.counts.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", "))"
    )
  }

  @Test(
    "a list that is made anew meanwhile is told, and never put behind the old one",
    arguments: 0..<rounds)
  func anew(round: Int) async throws {
    let folder = try FeedFolder()
    // It does not end before it is killed.
    let first = try await onThread { try folder.serve(["--every", "2"]) }
    let port = first.port
    let proxy = try BadProxy(to: port, seed: UInt64(100 + round))
    defer { proxy.stop() }
    let progress = Progress()
    let reader = Task {
      var (items, failure) = ([FeedItem](), RemoteListError?.none)
      do {
        for try await item in LazyList(reading: remote(proxy.port)) {
          items.append(item)
          progress.reach(items.count)
        }
      } catch {
        failure = error as? RemoteListError
      }
      // Nobody waits for a reader that has ended.
      progress.reach(.max)
      return (items, failure)
    }
    let second = try await onThread {
      progress.wait(for: 10 + 20 * round % 300)
      first.kill()
      try FileManager.default.removeItem(at: folder.list)
      return try folder.serve(port: port, ["--every", "2", "--count", "600"])
    }
    let (items, error) = await reader.value
    #expect(items.count >= 10 && items.firstFault == nil)
    guard case .otherList(found: _?) = error?.reason else {
      Issue.record("\(String(describing: error))")
      return
    }
    let again = try await LazyList(reading: remote(proxy.port)).array()
    #expect(again.count == 600 && again.firstFault == nil)
    second.kill()
  }

  @Test(
    "an element is one line, the same value, and nothing that a terminal obeys",
    arguments: [
      ("[1,2]", "[1,2]"), ("{\r\n\t\"a\": 1}", "{   \"a\": 1}"), (#""é\u001b""#, #""é\u001b""#),
      ("\"\u{1B}[2J\u{7}\u{7F}\u{9B}0m\u{0}\"", #""\u001b[2J\u0007\u007f\u009b0m\u0000""#),
    ])
  func controls(_ sent: String, _ printed: String) async throws {
    let transport: RemoteTransport = { _ in
      RemoteResponse(
        status: 200, headers: ["Stream-Next-Offset": "1", "Stream-Closed": "true"],
        body: [Array("[\(sent)]".utf8)])
    }
    let list = RemoteList(transport, path: "/list", element: .jsonText)
    #expect(try await LazyList(reading: list).array() == [printed])
  }

  @Test("the program prints each element once, also when it is killed itself")
  func program() async throws {
    let folder = try FeedFolder()
    let server = try await onThread { try folder.serve(["--every", "2", "--count", "300"]) }
    let mirror = folder.url.appending(path: "mirror").path
    let texts = try await onThread {
      var last = ""
      for delay in [200_000, 300_000, 0] as [UInt32] {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: CommandLine.arguments[0])
          .deletingLastPathComponent().appending(path: "watch")
        process.arguments = ["http://127.0.0.1:\(server.port)/stream", "--mirror", mirror]
        process.standardOutput = pipe
        try process.run()
        try pipe.fileHandleForWriting.close()
        if delay > 0 {
          Thread.detachNewThread {
            usleep(delay)
            kill(process.processIdentifier, SIGKILL)
          }
        }
        last = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
      }
      return last
    }
    let items = try texts.split(separator: "\n").map {
      try JSONDecoder().decode(FeedItem.self, from: Data($0.utf8))
    }
    #expect(items.count == 300 && items.firstFault == nil)
    server.kill()
  }

  @Test(
    "arguments that are wrong say what they take",
    arguments: [
      ([], "one URL is required"), (["list"], "one URL is required"),
      (["http://a/b", "--from", "x"], "--from takes a number"),
      (["http://a/b", "--header", "x"], "--header takes NAME:VALUE"),
      (["http://a/b", "--from", "1", "--mirror", "m"], "--from cannot be had with --mirror"),
      (["http://a/b", "--colour", "red"], "--colour is unknown"),
    ])
  func mistakes(_ arguments: [String], _ problem: String) {
    let error = #expect(throws: WatchUsageError.self) { try WatchOptions(arguments) }
    #expect(error?.description.hasPrefix("watch: \(problem)") == true)
  }

  @Test("an address has a server and a path")
  func address() throws {
    let options = try WatchOptions(["https://example.com:8443/runs/7?a=b", "--header", "X: y"])
    #expect(options.server == "https://example.com:8443" && options.path == "/runs/7?a=b")
    #expect(options.headers.map(\.0) == ["X"] && options.headers.map(\.1) == ["y"])
  }
}
