import Foundation
import Tailrace
import TailraceStored
import Testing

@testable import feed

/// Servers that are killed while clients read, and started again.
@Suite("Killed servers: every element once", .serialized, .timeLimit(.minutes(10)))
struct KillTests {
  @Test("a server is killed again and again; three clients of each kind read on")
  func kills() async throws {
    let kills = 12
    let folder = try FeedFolder()
    let options = ["--every", "2", "--count", "600"]
    let first = try await onThread { try folder.serve(options) }
    let port = first.port
    let progress = Progress()
    try await withThrowingTaskGroup(of: (ListReader.Mode, [FeedItem], Int).self) { group in
      for mode in ListReader.Mode.allCases + ListReader.Mode.allCases + ListReader.Mode.allCases {
        group.addTask {
          try await onThread {
            var reader = ListReader(mode, port: port, progress)
            try reader.run()
            return (mode, reader.items, reader.connections)
          }
        }
      }
      let last = try await onThread {
        var server = first
        var reached = 0
        for _ in 0..<kills {
          reached = progress.wait(for: min(reached + Int.random(in: 0...45), 590))
          server.kill()
          server = try folder.serve(port: port, options)
        }
        return server
      }
      for try await (mode, items, connections) in group {
        #expect(items.count == 600, "\(mode)")
        #expect(items.firstFault == nil, "\(mode)")
        #expect(connections > kills / 2, "\(mode)")
      }
      #expect(try await stored(folder).firstFault == nil)
      let status = try await onThread { last.stop() }
      #expect(status == 0)
    }
  }

  @Test("a second server follows the list, and continues it when the first is killed")
  func follower() async throws {
    let folder = try FeedFolder()
    let options = ["--every", "5", "--count", "200"]
    let progress = Progress()
    let items = try await onThread {
      let writer = try folder.serve(options)
      let follower = try folder.serve(options)
      Thread.detachNewThread {
        progress.wait(for: 60)
        writer.kill()
      }
      var reader = ListReader(.events, port: follower.port, progress)
      try reader.run()
      return reader.items
    }
    #expect(items.count == 200)
    #expect(items.firstFault == nil)
    let processes = Set(items.map { $0.text.split(separator: " ")[3] })
    #expect(processes.count == 2, "both have computed some")
  }

  @Test("a server that is asked to stop ends its streams at once", arguments: [0, 1, 20])
  func stops(clients: Int) async throws {
    let folder = try FeedFolder()
    let (status, time, responses) = try await onThread {
      let server = try folder.serve(["--every", "3600000"])
      let sockets = try (0..<2 * clients).map { index in
        try server.open("/stream?offset=-1&live=\(index < clients ? "long-poll" : "sse")")
      }
      var responses = [PartialResponse](repeating: PartialResponse(), count: 2 * clients)
      // Once the head is here, the response has begun.
      for index in clients..<2 * clients { responses[index].take(try sockets[index].receive()) }
      let start = ContinuousClock.now
      let status = server.stop()
      let time = ContinuousClock.now - start
      for index in sockets.indices { responses[index].take(try sockets[index].receiveAll()) }
      return (status, time, responses)
    }
    #expect(status == 0)
    // Without its ending the streams, it would wait a minute for their end.
    #expect(time < .seconds(20))
    for (index, response) in responses.enumerated() {
      #expect(response.status == (index < clients ? 503 : 200))
      #expect(response.isComplete)
    }
  }

  private func stored(_ folder: FeedFolder) async throws -> [FeedItem] {
    try await LazyList(reading: FeedItem.store(folder.list)).array()
  }
}
