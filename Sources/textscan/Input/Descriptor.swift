import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An open file, closed when nobody wants more of it.
final class Descriptor: Sendable {
  private let number: Int32

  private init(number: Int32) throws(SystemError) {
    guard number >= 0 else { throw .last }
    self.number = number
  }

  convenience init(opening path: Path) throws(SystemError) {
    try self.init(number: open(path.characters, O_RDONLY | O_CLOEXEC | O_NOCTTY))
  }

  static func standardInput() throws(SystemError) -> Descriptor {
    try Descriptor(number: dup(STDIN_FILENO))
  }

  deinit { close(number) }

  /// What can be read next, up to 64 KiB; nothing at the end.
  func read() throws(SystemError) -> [UInt8] {
    let count = 1 << 16
    var result = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      repeat {
        #if canImport(Glibc)
          result = Glibc.read(number, buffer.baseAddress, count)
        #else
          result = Darwin.read(number, buffer.baseAddress, count)
        #endif
      } while result < 0 && errno == EINTR
      initializedCount = max(result, 0)
    }
    guard result >= 0 else { throw .last }
    return bytes
  }
}

/// Makes a call that may block for long, on a queue of its own.
///
/// A pipe can be silent for an hour. The threads on which tasks run are few, and the other readers
/// need them: one that blocked there would stop them all.
func elsewhere<Value: Sendable>(
  _ call: @escaping @Sendable () throws(SystemError) -> Value
) async -> Result<Value, SystemError> {
  await withCheckedContinuation { continuation in
    blockingCalls.async { continuation.resume(returning: Result(catching: call)) }
  }
}

private let blockingCalls = DispatchQueue(label: "textscan.blocking-calls")
