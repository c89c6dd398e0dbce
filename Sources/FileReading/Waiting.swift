import Dispatch
import Synchronization

// The threads on which tasks run are few, and the other tasks need them: none of them waits here.

extension Descriptor {
  /// What is there to be read next, at most so many bytes: none at the end, and none when the task
  /// is cancelled while there is nothing.
  package func read(upTo count: Int = 1 << 16) async throws(SystemError) -> [UInt8] {
    while true {
      let bytes = await elsewhere { [self] () throws(SystemError) in try readNow(upTo: count) }
      if let bytes = try bytes.get() { return bytes }
      await waitUntilReadable()
      if Task.isCancelled { return [] }
    }
  }

  /// Waits without a thread, until there is something to read or the task is cancelled.
  private func waitUntilReadable() async {
    // Guard: Dispatch's own; a source may be used from any thread.
    // May touch it: this call, the handlers of the source, and the handler of the cancellation.
    nonisolated(unsafe) let source = DispatchSource.makeReadSource(
      fileDescriptor: number, queue: blockingCalls)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        source.setEventHandler { source.cancel() }
        // Runs once, whoever cancels. Until then the descriptor must stay open.
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

/// Makes a call that may block, a disk's or a network's, on a queue of its own.
package func elsewhere<Value: Sendable>(
  _ call: @escaping @Sendable () throws(SystemError) -> Value
) async -> Result<Value, SystemError> {
  let request = Request(call)
  await withCheckedContinuation { continuation in
    blockingCalls.async {
      request.run()
      continuation.resume()
    }
  }
  return request.answer
}

/// A call for a task that waits for it, and then what it has found out.
///
/// The call is let go of before the task is woken: what it holds, an open file for one, is not held by a
/// thread that has nothing more to do with it.
///
/// The continuation does not carry the answer: one that is resumed before its task has suspended hands a
/// value over where the thread sanitizer cannot see it, and users would read its reports.
private final class Request<Value: Sendable>: Sendable {
  private let isAnswered = Atomic(false)
  // Guard: `isAnswered`. May touch them: the thread that answers, before; everybody, to read, after.
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

private let blockingCalls = DispatchQueue(
  label: "Tailrace.file-reading", qos: .userInitiated, attributes: .concurrent)
