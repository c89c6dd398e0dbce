import Dispatch
import Foundation

/// An open file, closed when nobody wants more of it. Nothing here blocks a thread that runs tasks.
final class Descriptor: Sendable {
  private let number: Int32
  /// For errors.
  private let path: String
  /// Pipes, sockets and terminals may have nothing to read for long.
  private let canBeSilent: Bool

  private init(_ number: Int32, _ path: String) throws(FileError) {
    guard number >= 0 else { throw FileError(path, errno) }
    var status = stat()
    guard fstat(number, &status) == 0 else {
      let code = errno
      close(number)
      throw FileError(path, code)
    }
    let kind = status.st_mode & S_IFMT
    self.number = number
    self.path = path
    canBeSilent = kind != S_IFREG
    // It can be opened, and not be read.
    if kind == S_IFDIR { throw FileError(path, EISDIR) }
  }

  deinit { close(number) }

  /// Opens a file. One that another process has to open, too, is open before that does.
  static func opening(_ path: String) async throws(FileError) -> Descriptor {
    try await elsewhere { () throws(FileError) in
      try Descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), path)
    }
  }

  /// A descriptor of its own for a file that somebody else has open, and may close.
  static func duplicating(_ number: Int32) throws(FileError) -> Descriptor {
    try Descriptor(fcntl(number, F_DUPFD_CLOEXEC, 0), "file descriptor \(number)")
  }

  /// What can be read next, at most so many bytes: none at the end, and when the task is cancelled
  /// while there is nothing.
  func read(upTo count: Int) async throws(FileError) -> [UInt8] {
    while true {
      let bytes = try await elsewhere { [self] () throws(FileError) in try readNow(upTo: count) }
      if let bytes { return bytes }
      await waitUntilReadable()
      if Task.isCancelled { return [] }
    }
  }

  /// `nil` when there is nothing to read yet.
  private func readNow(upTo count: Int) throws(FileError) -> [UInt8]? {
    // Who shares a descriptor shares its mode: this one may block, and must not be changed.
    if canBeSilent && !isReadable { return nil }
    var code: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      var result = 0
      repeat {
        result = Foundation.read(number, buffer.baseAddress, count)
      } while result < 0 && errno == EINTR
      if result < 0 { code = errno }
      initializedCount = max(result, 0)
    }
    switch code {
    case 0: return bytes
    case EAGAIN: return nil
    default: throw FileError(path, code)
    }
  }

  /// Whether reading would not wait: there is something, or an end, or an error.
  private var isReadable: Bool {
    var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) != 0
  }

  /// Waits without a thread, until there is something to read or the task is cancelled.
  private func waitUntilReadable() async {
    // Guard: Dispatch's own; a source may be used from any thread.
    // May touch it: this call, the handlers of the source, and the handler of the cancellation.
    nonisolated(unsafe) let source = DispatchSource.makeReadSource(
      fileDescriptor: number, queue: fileQueue)
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

/// Makes a call that may block, on a queue of our own: the threads on which tasks run are few.
private func elsewhere<Value: Sendable>(
  _ call: @escaping @Sendable () throws(FileError) -> Value
) async throws(FileError) -> Value {
  let result: Result<Value, FileError> = await withCheckedContinuation { continuation in
    fileQueue.async { continuation.resume(returning: Result(catching: call)) }
  }
  return try result.get()
}

private let fileQueue = DispatchQueue(
  label: "TailraceFoundation.files", qos: .userInitiated, attributes: .concurrent)
