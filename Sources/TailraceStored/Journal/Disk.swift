import FileReading

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Glibc
#endif

/// The system calls of a journal: a separate layer, so that a test can fake failures.
///
/// Its calls may block. They run on a queue for that (`elsewhere`), except short writes that do
/// not wait for the disk.
package protocol Disk: Sendable {
  /// The present start of the machine; `.none` if it is unknown.
  var boot: JournalID { get }

  /// Opens an existing file. It does not wait, not even for the other end of a pipe.
  func open(_ path: [CChar], writes: Bool) throws(SystemError) -> any DiskFile

  /// Makes a file with some contents, atomically. Does nothing if it exists.
  func create(_ path: [CChar], contents: [UInt8]) throws(SystemError)

  /// Puts a new file into a file's place, atomically and on the disk, and keeps the former one.
  ///
  /// - Parameter fill: writes the contents. If it throws, nothing has changed.
  /// - Returns: the path of the former one.
  func replace(
    _ path: [CChar], _ fill: (any DiskFile) throws -> Void
  ) throws -> [CChar]

  /// The file at a path; `nil` if there is none.
  func status(of path: [CChar]) throws(SystemError) -> FileStatus?

  /// The name of a file system, if it is another machine's.
  func remoteFileSystem(of status: FileStatus) -> String?
}

/// What a system says about a file.
package struct FileStatus: Sendable, Equatable {
  package var device: UInt64 = 0
  package var node: UInt64 = 0
  package var links = 1
  package var size = 0
  package var isRegular = true

  package init() {}

  package func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && node == other.node
  }
}

/// An open file. Releasing it closes it and ends its lock.
package protocol DiskFile: AnyObject, Sendable {
  /// Reads some bytes, fewer at the end of the file.
  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int
  /// Writes some bytes, perhaps not all.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int
  /// Returns when all written bytes are on the disk.
  func synchronize() throws(SystemError)
  /// Writes zeros at the end of the file, as room for later bytes.
  func extend(_ range: Range<Int>) throws(SystemError)
  func truncate(to size: Int) throws(SystemError)
  /// Frees the space of some bytes, if the file system can; they are then zero.
  func punch(_ range: Range<Int>)
  func status() throws(SystemError) -> FileStatus
  /// Takes the lock of the file. False if another holder has it.
  func lock() throws(SystemError) -> Bool
}

extension DiskFile {
  /// Reads exactly that many bytes; `nil` if the file ends before.
  func bytes(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8]? {
    let bytes = try upTo(count, at: offset)
    return bytes.count == count ? bytes : nil
  }

  /// Reads that many bytes, or those up to the end of the file.
  func upTo(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      let room = UnsafeMutableRawBufferPointer(buffer)
      do throws(SystemError) {
        while initializedCount < count {
          let rest = UnsafeMutableRawBufferPointer(rebasing: room[initializedCount...])
          let got = try read(into: rest, at: offset + initializedCount)
          if got == 0 { break }
          initializedCount += got
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Writes all bytes.
  func put(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      done += try write(UnsafeRawBufferPointer(rebasing: bytes[done...]), at: offset + done)
    }
  }

  func put(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    let result = bytes.withUnsafeBytes { buffer in
      Result { () throws(SystemError) in try put(buffer, at: offset) }
    }
    try result.get()
  }
}

/// The disk of this machine.
package struct SystemDisk: Disk {
  package init() {}

  package var boot: JournalID { Self.presentBoot }

  private static let presentBoot: JournalID = {
    #if canImport(Darwin)
      var text = [CChar](repeating: 0, count: 64)
      var length = text.count
      guard sysctlbyname("kern.bootsessionuuid", &text, &length, nil, 0) == 0 else { return .none }
      let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    #else
      let path = Array("/proc/sys/kernel/random/boot_id".utf8CString)
      guard let file = try? SystemFile(path, flags: O_RDONLY | O_CLOEXEC),
        let bytes = try? file.upTo(64, at: 0)
      else { return .none }
    #endif
    let digits = bytes.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard digits.count == 32 else { return .none }
    func number(_ digits: some Sequence<Int>) -> UInt64 {
      digits.reduce(0) { $0 << 4 | UInt64($1) }
    }
    return JournalID(number(digits.prefix(16)), number(digits.suffix(16)))
  }()

  package func open(_ path: [CChar], writes: Bool) throws(SystemError) -> any DiskFile {
    try SystemFile(path, flags: (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
  }

  /// The file is made beside its place, and linked there when it is complete and on the disk: no
  /// reader ever sees a part of it, and of two creators one is first.
  package func create(_ path: [CChar], contents: [UInt8]) throws(SystemError) {
    let (number, name) = try Self.openBeside(path)
    let file = SystemFile(number)
    defer { unlink(name) }
    try file.put(contents, at: 0)
    try file.synchronize()
    if link(name, path) != 0, errno != EEXIST { throw .last }
    Self.synchronize(path.folder)
  }

  package func replace(
    _ path: [CChar], _ fill: (any DiskFile) throws -> Void
  ) throws -> [CChar] {
    let (number, name) = try Self.openBeside(path)
    let file = SystemFile(number)
    do {
      try fill(file)
      try file.synchronize()
      // The former one has two names before it loses one: there is a list at the path at any moment.
      let aside = Self.beside(path, "damaged")
      guard link(path, aside) == 0 else { throw SystemError.last }
      Self.synchronize(path.folder)
      guard rename(name, path) == 0 else { throw SystemError.last }
      Self.synchronize(path.folder)
      return aside
    } catch {
      unlink(name)
      throw error
    }
  }

  /// Brings a folder's entries on the disk. Some file systems cannot, and need not.
  private static func synchronize(_ folder: [CChar]) {
    if let folder = try? SystemFile(folder, flags: O_RDONLY | O_CLOEXEC) { fsync(folder.number) }
  }

  /// The name of another file in the same folder. It is not longer than a name may be.
  private static func beside(_ path: [CChar], _ kind: String) -> [CChar] {
    let suffix = String(UInt32.random(in: 0...(.max)), radix: 36)
    let folder = path.folder.dropLast()
    let name = path.dropFirst(path.contains(CChar(UInt8(ascii: "/"))) ? folder.count : 0).dropLast()
    let start = path.contains(CChar(UInt8(ascii: "/"))) ? Array(folder) : []
    return start + name.prefix(230) + Array(".\(kind)-\(suffix)".utf8CString)
  }

  /// Makes an empty file under a unique name, with the rights of any new file.
  private static func openBeside(_ path: [CChar]) throws(SystemError) -> (Int32, [CChar]) {
    while true {
      let name = beside(path, "new")
      let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
      let number = systemOpen(name, flags, 0o666)
      if number >= 0 { return (number, name) }
      if errno != EEXIST, errno != EINTR { throw .last }
    }
  }

  package func status(of path: [CChar]) throws(SystemError) -> FileStatus? {
    var status = stat()
    if stat(path, &status) == 0 { return FileStatus(status) }
    if errno == ENOENT || errno == ENOTDIR { return nil }
    throw .last
  }

  package func remoteFileSystem(of status: FileStatus) -> String? {
    #if canImport(Darwin)
      return nil
    #else
      guard let kind = MountedFileSystem.kind(of: status.device) else { return nil }
      return MountedFileSystem.remote.contains(kind) ? kind : nil
    #endif
  }
}

#if canImport(Darwin)
  private func systemOpen(_ path: [CChar], _ flags: Int32, _ mode: mode_t) -> Int32 {
    Darwin.open(path, flags, mode)
  }
#elseif canImport(Musl)
  private func systemOpen(_ path: [CChar], _ flags: Int32, _ mode: mode_t) -> Int32 {
    Musl.open(path, flags, mode)
  }
#elseif canImport(Android)
  private func systemOpen(_ path: [CChar], _ flags: Int32, _ mode: mode_t) -> Int32 {
    Android.open(path, flags, mode)
  }
#else
  private func systemOpen(_ path: [CChar], _ flags: Int32, _ mode: mode_t) -> Int32 {
    Glibc.open(path, flags, mode)
  }
#endif

extension FileStatus {
  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    node = UInt64(truncatingIfNeeded: status.st_ino)
    links = Int(status.st_nlink)
    size = Int(status.st_size)
    isRegular = status.st_mode & S_IFMT == S_IFREG
  }
}

/// A file of this machine.
final class SystemFile: DiskFile {
  let number: Int32

  init(_ path: [CChar], flags: Int32) throws(SystemError) {
    number = systemOpen(path, flags, 0)
    guard number >= 0 else { throw .last }
  }

  init(_ number: Int32) { self.number = number }

  deinit { close(number) }

  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    try retried { pread(number, bytes.baseAddress, bytes.count, off_t(offset)) }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    let count = try retried { pwrite(number, bytes.baseAddress, bytes.count, off_t(offset)) }
    if count == 0, bytes.count > 0 { throw SystemError(code: EIO) }
    return count
  }

  func synchronize() throws(SystemError) {
    #if canImport(Darwin)
      if fcntl(number, F_FULLFSYNC) == 0 { return }
      // A file system without it has `fsync`. Any other failure is one of the disk.
      guard [ENOTSUP, EINVAL, ENOTTY].contains(errno) else { throw .last }
      _ = try retried { Int(fsync(number)) }
    #else
      _ = try retried { Int(fdatasync(number)) }
    #endif
  }

  func extend(_ range: Range<Int>) throws(SystemError) {
    try put([UInt8](repeating: 0, count: range.count), at: range.lowerBound)
  }

  func truncate(to size: Int) throws(SystemError) {
    _ = try retried { Int(ftruncate(number, off_t(size))) }
  }

  func status() throws(SystemError) -> FileStatus {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw .last }
    return FileStatus(status)
  }

  func lock() throws(SystemError) -> Bool {
    if flock(number, LOCK_EX | LOCK_NB) == 0 { return true }
    if errno == EWOULDBLOCK { return false }
    throw .last
  }

  func punch(_ range: Range<Int>) {
    #if !canImport(Darwin)
      // Swift does not see it in the C library; a C library without it keeps the space.
      typealias Allocate = @convention(c) (Int32, Int32, off_t, off_t) -> Int32
      guard let symbol = dlsym(nil, "fallocate") else { return }
      let keepsSizeAndPunches: Int32 = 0x01 | 0x02
      _ = unsafeBitCast(symbol, to: Allocate.self)(
        number, keepsSizeAndPunches, off_t(range.lowerBound), off_t(range.count))
    #else
      // Whole blocks only.
      let block = 4096
      let (start, end) = (
        (range.lowerBound + block - 1) / block * block, range.upperBound / block * block
      )
      guard start < end else { return }
      var hole = fpunchhole_t(
        fp_flags: 0, reserved: 0, fp_offset: off_t(start), fp_length: off_t(end - start))
      _ = fcntl(number, F_PUNCHHOLE, &hole)
    #endif
  }

  private func retried(_ call: () -> Int) throws(SystemError) -> Int {
    while true {
      let result = call()
      if result >= 0 { return result }
      if errno != EINTR { throw .last }
    }
  }
}

extension [CChar] {
  /// The folder of a path, with a zero byte at its end.
  var folder: [CChar] {
    guard let slash = lastIndex(of: CChar(UInt8(ascii: "/"))) else {
      return Array(".".utf8CString)
    }
    return Array(self[...slash]) + [0]
  }
}

#if !canImport(Darwin)
  /// The kernel's list of mounted file systems.
  enum MountedFileSystem {
    /// File systems whose locks may fail or not reach every machine, and whose sync guarantees
    /// little.
    static let remote: Set<String> = [
      "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "coda", "glusterfs", "lustre",
      "beegfs",
      "ncpfs", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.ceph", "davfs",
      "fuse.davfs2",
    ]

    static func kind(of device: UInt64) -> String? {
      let device =
        "\(device >> 8 & 0xFFF | device >> 32 & ~0xFFF):\(device & 0xFF | device >> 12 & ~0xFF)"
      guard let file = try? SystemFile(Array("/proc/self/mountinfo".utf8CString), flags: O_RDONLY),
        let bytes = try? file.upTo(1 << 20, at: 0)
      else { return nil }
      return kind(of: device, in: String(decoding: bytes, as: UTF8.self))
    }

    /// The word after the `-` in the line of a device; the third word of a line is its device.
    static func kind(of device: String, in mounts: String) -> String? {
      for line in mounts.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard words.count > 4, words[2] == device, let dash = words.firstIndex(of: "-"),
          dash + 1 < words.count
        else { continue }
        return String(words[dash + 1])
      }
      return nil
    }
  }
#endif
