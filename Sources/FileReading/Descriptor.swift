#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Glibc
#endif

/// An open file, closed when it is released.
package final class Descriptor: Sendable {
  let number: Int32
  /// Pipes, sockets and terminals may have nothing to read for a long time.
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
    // A directory can be opened, but not read.
    if kind == S_IFDIR { throw SystemError(code: EISDIR) }
  }

  deinit { close(number) }

  /// Opens a file, at a path that ends with a zero byte.
  ///
  /// Opens a pipe before another process opens its other end; reading waits for data.
  package static func opening(_ path: [CChar]) throws(SystemError) -> Descriptor {
    try Descriptor(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK))
  }

  /// Duplicates the descriptor of a file that other code has open and may close.
  package static func duplicating(_ number: Int32) throws(SystemError) -> Descriptor {
    try Descriptor(fcntl(number, F_DUPFD_CLOEXEC, 0))
  }

  /// The bytes that one call can read, at most that many: none at the end, `nil` if there are none
  /// yet.
  package func readNow(upTo count: Int = 1 << 16) throws(SystemError) -> [UInt8]? {
    // A shared descriptor shares its mode: this one may block, and must not be changed.
    if canBeSilent && !isReadable { return nil }
    var result = 0
    let size = count <= 1 << 16 ? count : min(count, sizeOfLargestRead)
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, initializedCount in
      repeat {
        result = systemRead(number, buffer.baseAddress, size)
      } while result < 0 && errno == EINTR
      if result < 0 { result = -Int(errno) }
      initializedCount = max(result, 0)
    }
    if result >= 0 { return bytes }
    if result == -Int(EAGAIN) { return nil }
    throw SystemError(code: Int32(-result))
  }

  /// How many bytes a read may need memory for, at any limit: the rest of the file, and at least
  /// 64 KiB, which a file of unknown size may have; for a pipe or a socket, as much as it mostly
  /// holds.
  private var sizeOfLargestRead: Int {
    if canBeSilent { return 1 << 20 }
    var status = stat()
    let position = lseek(number, 0, SEEK_CUR)
    guard position >= 0, fstat(number, &status) == 0 else { return 1 << 16 }
    // Systems read at most 2 GiB at once.
    return min(max(1 << 16, Int(status.st_size) - Int(position)), 1 << 30)
  }

  /// Whether reading would not block: there are bytes, an end, or an error.
  private var isReadable: Bool {
    var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) != 0
  }
}

// Outside of the type, whose methods have the name of this call.
private func systemRead(
  _ number: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int
) -> Int {
  read(number, bytes, count)
}
