#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An open file, closed when nobody wants more of it.
package final class Descriptor: Sendable {
  let number: Int32
  /// Pipes, sockets and terminals may have nothing to read for long.
  private let canBeSilent: Bool

  private init(_ number: Int32) throws(SystemError) {
    guard number >= 0 else { throw .last }
    var status = stat()
    guard fstat(number, &status) == 0 else {
      let error = SystemError.last
      close(number)
      throw error
    }
    let kind = status.st_mode & S_IFMT
    self.number = number
    canBeSilent = kind != S_IFREG
    // It can be opened, and not be read.
    if kind == S_IFDIR { throw SystemError(code: EISDIR) }
  }

  deinit { close(number) }

  /// Opens a file, at a path that ends with a zero.
  ///
  /// A pipe is opened before another process opens its other end; its silence is waited for later.
  package static func opening(_ path: [CChar]) throws(SystemError) -> Descriptor {
    try Descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK))
  }

  /// A descriptor of its own for a file that somebody else has open, and may close.
  package static func duplicating(_ number: Int32) throws(SystemError) -> Descriptor {
    try Descriptor(fcntl(number, F_DUPFD_CLOEXEC, 0))
  }

  /// What one call can read next, at most so many bytes: none at the end, `nil` when there is nothing
  /// yet.
  package func readNow(upTo count: Int = 1 << 16) throws(SystemError) -> [UInt8]? {
    // Who shares a descriptor shares its mode: this one may block, and must not be changed.
    if canBeSilent && !isReadable { return nil }
    var result = 0
    let size = count <= 1 << 16 ? count : min(count, sizeOfLargestRead)
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initializedCount in
      repeat {
        #if canImport(Glibc)
          result = Glibc.read(number, buffer.baseAddress, size)
        #else
          result = Darwin.read(number, buffer.baseAddress, size)
        #endif
      } while result < 0 && errno == EINTR
      if result < 0 { result = -Int(errno) }
      initializedCount = max(result, 0)
    }
    if result >= 0 { return bytes }
    if result == -Int(EAGAIN) { return nil }
    throw SystemError(code: Int32(-result))
  }

  /// For how many bytes a call needs memory, whatever the limit: all that a file has left, and not less
  /// than 64 KiB, which one that does not know its size may have; as much as a pipe or a socket mostly
  /// holds.
  private var sizeOfLargestRead: Int {
    if canBeSilent { return 1 << 20 }
    var status = stat()
    let position = lseek(number, 0, SEEK_CUR)
    guard position >= 0, fstat(number, &status) == 0 else { return 1 << 16 }
    // Systems read no more than 2 GiB at once.
    return min(max(1 << 16, Int(status.st_size) - Int(position)), 1 << 30)
  }

  /// Whether reading would not wait: there is something, or an end, or an error.
  private var isReadable: Bool {
    var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) != 0
  }
}
