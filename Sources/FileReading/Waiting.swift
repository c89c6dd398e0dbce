import Dispatch
import Synchronization
import TailraceSupport

// Tasks share few threads: none of those waits here.

extension Descriptor {
  /// The next bytes, at most that many: none at the end. Throws
  /// ``SystemError/cancelled`` if the task is cancelled while there is nothing: that is not the end.
  package func read(upTo count: Int = 1 << 16) async throws(SystemError) -> [UInt8] {
    while true {
      let bytes = await elsewhere { [self] () throws(SystemError) in try readNow(upTo: count) }
      if let bytes = try bytes.get() { return bytes }
      await waitUntilReadable()
      if Task.isCancelled { throw .cancelled }
    }
  }

  /// Waits, without blocking a thread, for something to read or for cancellation.
  private func waitUntilReadable() async {
    // Guard: Dispatch's own; a source is thread-safe. May touch it: this call, the handlers of the
    // source, and the cancellation handler.
    nonisolated(unsafe) let source = DispatchSource.makeReadSource(
      fileDescriptor: number, queue: readiness)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        source.setEventHandler { source.cancel() }
        // Runs once, whoever cancels. The descriptor must stay open until then.
        source.setCancelHandler { [self] in
          withExtendedLifetime(self) { continuation.resume() }
        }
        source.activate()
      }
    } onCancel: {
      source.cancel()
    }
  }
}

/// Makes a call that may block, on a disk or a network, on a separate queue.
package func elsewhere<Value: Sendable>(
  _ call: @escaping @Sendable () throws(SystemError) -> Value
) async -> Result<Value, SystemError> {
  let request = Request(call)
  let waiter = Waiter()
  let (number, queue) = blockingCalls.withLock { $0.take() }
  queue.async {
    request.run()
    blockingCalls.withLock { $0.give(number) }
    waiter.wake(.lookAgain)
  }
  _ = await waiter.park()
  return request.answer
}

/// A call for a waiting task, and then its result.
///
/// The call is released before the task is woken, so that this thread does not retain its
/// resources, such as an open file.
///
/// The waiter does not carry the result: if it is woken before its task has suspended, the thread
/// sanitizer does not see the transfer, and users would read its reports.
private final class Request<Value: Sendable>: Sendable {
  private let isAnswered = Atomic(false)
  // Guard: `isAnswered`. May touch them: the answering thread, before; everybody, to read, after.
  private nonisolated(unsafe) var call: (@Sendable () throws(SystemError) -> Value)?
  private nonisolated(unsafe) var found: Result<Value, SystemError>?

  init(_ call: @escaping @Sendable () throws(SystemError) -> Value) { self.call = call }

  func run() {
    if let call = call.take() { found = Result(catching: call) }
    isAnswered.store(true, ordering: .releasing)
  }

  var answer: Result<Value, SystemError> {
    guard isAnswered.load(ordering: .acquiring), let found else {
      preconditionFailure("a task was woken before there was an answer")
    }
    return found
  }
}

private let readiness = DispatchQueue(
  label: "Tailrace.file-reading", qos: .userInitiated, attributes: .concurrent)

private let blockingCalls = Locked(BlockingQueues())

/// Serial queues, of which each has a thread while it has something to do.
///
/// A concurrent queue has one thread for each core at first (Linux), and calls that wait for a disk would
/// wait for each other: of 20 at a time that each take 4 ms, one in ten took 27 ms.
private struct BlockingQueues: Sendable {
  private static let most = 64

  private var queues: [DispatchQueue] = []
  /// How many calls each queue has.
  private var loads: [Int] = []

  /// The queue for one call more: an idle one, a new one, or the one with the fewest.
  mutating func take() -> (number: Int, queue: DispatchQueue) {
    var number = loads.firstIndex(of: 0)
    if number == nil, queues.count < Self.most {
      number = queues.count
      queues.append(DispatchQueue(label: "Tailrace.file-reading", qos: .userInitiated))
      loads.append(0)
    }
    let found = number ?? loads.indices.min { loads[$0] < loads[$1] } ?? 0
    loads[found] += 1
    return (found, queues[found])
  }

  /// A call is over.
  mutating func give(_ number: Int) { loads[number] -= 1 }
}
