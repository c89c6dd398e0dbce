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
  let answer = Answer<Result<Value, SystemError>>()
  await withCheckedContinuation { continuation in
    blockingCalls.async {
      answer.give(Result(catching: call))
      continuation.resume()
    }
  }
  return answer.value
}

/// What a thread has found out for a task that waits for it.
///
/// The continuation does not carry it: one that is resumed before its task has suspended hands a value
/// over where the thread sanitizer cannot see it, and users would read its reports.
private final class Answer<Value: Sendable>: Sendable {
  private let isGiven = Atomic(false)
  // Guard: `isGiven`. May touch it: the thread that gives it, before; everybody, to read, after.
  private nonisolated(unsafe) var given: Value?

  func give(_ value: Value) {
    given = value
    isGiven.store(true, ordering: .releasing)
  }

  var value: Value {
    guard isGiven.load(ordering: .acquiring), let given else {
      preconditionFailure("a task was woken before there was an answer")
    }
    return given
  }
}

private let blockingCalls = DispatchQueue(
  label: "Tailrace.file-reading", qos: .userInitiated, attributes: .concurrent)
