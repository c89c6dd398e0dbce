import Foundation
import Hummingbird
import Synchronization

/// A number that goes up and down, and tasks that wait for it.
final class Gauge: Sendable {
  private struct State {
    var value = 0
    var total = 0
    var waiters: [(isEnough: @Sendable (Int) -> Bool, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var value: Int { state.withLock { $0.value } }
  /// How often it went up.
  var total: Int { state.withLock { $0.total } }

  func add(_ difference: Int) {
    let ready = state.withLock { state in
      state.value += difference
      state.total += max(0, difference)
      let value = state.value
      let ready = state.waiters.filter { $0.isEnough(value) }
      state.waiters.removeAll { $0.isEnough(value) }
      return ready.map(\.1)
    }
    for continuation in ready { continuation.resume() }
  }

  /// Waits until the number is right.
  func wait(until isEnough: @escaping @Sendable (Int) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isReady = state.withLock { state in
        if isEnough(state.value) { return true }
        state.waiters.append((isEnough, continuation))
        return false
      }
      if isReady { continuation.resume() }
    }
  }
}

/// Counts the responses that are not over: being computed, or being sent as a stream.
struct ResponseGauge<Context: RequestContext>: RouterMiddleware {
  let gauge: Gauge

  func handle(
    _ request: Request, context: Context,
    next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    gauge.add(1)
    do {
      var response = try await next(request, context)
      let body = response.body
      guard body.contentLength == nil else {
        gauge.add(-1)
        return response
      }
      response.body = ResponseBody(contentLength: body.contentLength) { [gauge] writer in
        defer { gauge.add(-1) }
        try await body.write(writer)
      }
      return response
    } catch {
      gauge.add(-1)
      throw error
    }
  }
}

/// Runs a server while a closure is running, which gets its port.
func withServer(
  _ router: Router<BasicRequestContext>, _ body: (Int) async throws -> Void
) async throws {
  let (ports, port) = AsyncStream<Int>.makeStream()
  let application = Application(
    router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) })
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask {
      defer { port.finish() }
      do { try await application.run() } catch is CancellationError {}
    }
    for await port in ports {
      try await body(port)
      break
    }
    group.cancelAll()
  }
}
