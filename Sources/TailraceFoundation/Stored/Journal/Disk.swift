import FileReading

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The system calls of a journal: a separate layer, so that a test can fake failures.
///
/// Its calls may block. They run on a queue for that (`elsewhere`), except short writes that do
/// not wait for the disk.
package protocol Disk: Sendable {
  /// Opens an existing file.
  func open(_ path: [CChar], writes: Bool) throws(SystemError) -> any DiskFile

  /// Makes a file with some contents, atomically. Does nothing if it exists.
  func create(_ path: [CChar], contents: [UInt8]) throws(SystemError)

  /// The name of the path's file system, if it is another machine's.
  func remoteFileSystem(of path: [CChar]) -> String?
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
  func size() throws(SystemError) -> Int
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

  package func open(_ path: [CChar], writes: Bool) throws(SystemError) -> any DiskFile {
    try SystemFile(path, flags: (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOCTTY)
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
    // Syncs the directory's entry, too. Some file systems cannot, and need not.
    let folder = Array(path.folder)
    if let folder = try? SystemFile(folder, flags: O_RDONLY | O_CLOEXEC) { fsync(folder.number) }
  }

  /// Makes an empty file under a unique name, with the rights of any new file.
  private static func openBeside(_ path: [CChar]) throws(SystemError) -> (Int32, [CChar]) {
    while true {
      let suffix = String(UInt32.random(in: 0...(.max)), radix: 36)
      let name = path.dropLast() + Array(".new-\(suffix)".utf8CString)
      let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
      #if canImport(Glibc)
        let number = Glibc.open(name, flags, 0o666)
      #else
        let number = Darwin.open(name, flags, 0o666)
      #endif
      if number >= 0 { return (number, name) }
      if errno != EEXIST, errno != EINTR { throw .last }
    }
  }

  package func remoteFileSystem(of path: [CChar]) -> String? {
    #if canImport(Glibc)
      guard let kind = MountedFileSystem.kind(of: path.folder) else { return nil }
      return MountedFileSystem.remote.contains(kind) ? kind : nil
    #else
      var status = statfs()
      guard statfs(path.folder, &status) == 0, status.f_flags & UInt32(MNT_LOCAL) == 0 else {
        return nil
      }
      return withUnsafeBytes(of: status.f_fstypename) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
    #endif
  }
}

/// A file of this machine.
final class SystemFile: DiskFile {
  let number: Int32

  init(_ path: [CChar], flags: Int32) throws(SystemError) {
    #if canImport(Glibc)
      number = Glibc.open(path, flags)
    #else
      number = Darwin.open(path, flags)
    #endif
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
    #if canImport(Glibc)
      _ = try retried { Int(fdatasync(number)) }
    #else
      // A file system without it has `fsync`.
      if fcntl(number, F_FULLFSYNC) == 0 { return }
      _ = try retried { Int(fsync(number)) }
    #endif
  }

  func extend(_ range: Range<Int>) throws(SystemError) {
    try put([UInt8](repeating: 0, count: range.count), at: range.lowerBound)
  }

  func truncate(to size: Int) throws(SystemError) {
    _ = try retried { Int(ftruncate(number, off_t(size))) }
  }

  func size() throws(SystemError) -> Int {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw .last }
    return Int(status.st_size)
  }

  func lock() throws(SystemError) -> Bool {
    if flock(number, LOCK_EX | LOCK_NB) == 0 { return true }
    if errno == EWOULDBLOCK { return false }
    throw .last
  }

  func punch(_ range: Range<Int>) {
    #if canImport(Glibc)
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

#if canImport(Glibc)
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

    static func kind(of folder: [CChar]) -> String? {
      var status = stat()
      guard stat(folder, &status) == 0 else { return nil }
      let device = "\(major(status.st_dev)):\(minor(status.st_dev))"
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

    private static func major(_ device: dev_t) -> UInt64 {
      UInt64(device) >> 8 & 0xFFF | UInt64(device) >> 32 & ~0xFFF
    }
    private static func minor(_ device: dev_t) -> UInt64 {
      UInt64(device) & 0xFF | UInt64(device) >> 12 & ~0xFF
    }
  }
#endif
