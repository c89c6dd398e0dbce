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

  package func make(
    beside path: [CChar]
  ) throws(SystemError) -> (file: any DiskFile, path: [CChar]) {
    while true {
      let name = path.beside(.new)
      // With the rights of any new file.
      let number = systemOpen(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if number >= 0 { return (SystemFile(number), name) }
      if errno != EEXIST, errno != EINTR { throw .last }
    }
  }

  package func name(_ path: [CChar], as other: [CChar]) throws(SystemError) {
    if let isDone = try renameIfFree(path, other) {
      if !isDone { throw SystemError(code: EEXIST) }
      return
    }
    try link(path, to: other)
    remove(path)
  }

  /// False if the name is taken. `nil` if this system, or this file system, cannot do it at once.
  private func renameIfFree(_ path: [CChar], _ other: [CChar]) throws(SystemError) -> Bool? {
    #if canImport(Darwin)
      let result = renamex_np(path, other, UInt32(RENAME_EXCL))
    #else
      // Swift does not see it in the C library.
      typealias Rename =
        @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32
      guard let symbol = dlsym(nil, "renameat2") else { return nil }
      let keepsOther: UInt32 = 1
      let result = unsafeBitCast(symbol, to: Rename.self)(
        AT_FDCWD, path, AT_FDCWD, other, keepsOther)
    #endif
    if result == 0 { return true }
    switch errno {
    case EEXIST: return false
    case EINVAL, ENOSYS, ENOTSUP: return nil
    default: throw .last
    }
  }

  package func link(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    if systemLink(path, other) != 0 { throw .last }
  }

  package func rename(_ path: [CChar], to other: [CChar]) throws(SystemError) {
    if systemRename(path, other) != 0 { throw .last }
  }

  package func remove(_ path: [CChar]) { unlink(path) }

  /// Some file systems cannot, and need not; and a folder that may not be read cannot be opened.
  package func synchronizeFolder(of path: [CChar]) throws(SystemError) {
    let folder: SystemFile
    do throws(SystemError) {
      folder = try SystemFile(path.folder, flags: O_RDONLY | O_CLOEXEC)
    } catch {
      if error.code == EACCES { return }
      throw error
    }
    while fsync(folder.number) != 0 {
      if [EINVAL, ENOTSUP, EROFS].contains(errno) { return }
      if errno != EINTR { throw .last }
    }
  }

  package func status(of path: [CChar]) throws(SystemError) -> FileStatus? {
    #if !canImport(Darwin)
      if let status = FileStatus(untimed: AT_FDCWD, path) { return status }
    #endif
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

// Outside of the types, whose methods have the names of these calls.
private func systemOpen(_ path: [CChar], _ flags: Int32, _ mode: mode_t) -> Int32 {
  open(path, flags, mode)
}
private func systemLink(_ path: [CChar], _ other: [CChar]) -> Int32 { link(path, other) }
private func systemRename(_ path: [CChar], _ other: [CChar]) -> Int32 { rename(path, other) }

extension FileStatus {
  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    node = UInt64(truncatingIfNeeded: status.st_ino)
    links = Int(status.st_nlink)
    size = Int(status.st_size)
    isRegular = status.st_mode & S_IFMT == S_IFREG
  }
}

#if !canImport(Darwin)
  extension FileStatus {
    private typealias Call =
      @convention(c) (
        Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer
      ) -> Int32

    /// `statx`, which Swift does not see in the C library.
    private static let call = dlsym(nil, "statx").map { unsafeBitCast($0, to: Call.self) }

    /// The status without times.
    ///
    /// Whoever asks for the times makes the next write note a time of its own (Linux 6.13), and the sync
    /// after that write takes a third longer.
    ///
    /// - Parameter path: of an entry of a folder; empty for the open file itself.
    fileprivate init?(untimed file: Int32, _ path: [CChar]) {
      guard let call = Self.call else { return nil }
      let (emptyPath, typeLinksNodeAndSize): (Int32, UInt32) = (0x1000, 0x305)
      let isFound = withUnsafeTemporaryAllocation(byteCount: 256, alignment: 8) { bytes in
        guard call(file, path, emptyPath, typeLinksNodeAndSize, bytes.baseAddress!) == 0 else {
          return false
        }
        func number<Number: FixedWidthInteger>(_: Number.Type, _ offset: Int) -> Number {
          bytes.load(fromByteOffset: offset, as: Number.self)
        }
        guard number(UInt32.self, 0) & typeLinksNodeAndSize == typeLinksNodeAndSize else {
          return false
        }
        links = Int(number(UInt32.self, 16))
        isRegular = mode_t(number(UInt16.self, 28)) & S_IFMT == S_IFREG
        node = number(UInt64.self, 32)
        size = Int(number(UInt64.self, 40))
        // As `st_dev` has it.
        let (major, minor) = (UInt64(number(UInt32.self, 136)), UInt64(number(UInt32.self, 140)))
        device =
          (major & 0xFFF) << 8 | minor & 0xFF | (minor & ~0xFF) << 12 | (major & ~0xFFF) << 32
        return true
      }
      if !isFound { return nil }
    }
  }
#endif

/// A file of this machine.
final class SystemFile: DiskFile {
  let number: Int32

  init(_ path: [CChar], flags: Int32) throws(SystemError) {
    number = systemOpen(path, flags, 0)
    guard number >= 0 else { throw .last }
  }

  init(_ number: Int32) { self.number = number }

  deinit {
    // A child of this process may have the file, too, and its lock with it.
    unlock()
    close(number)
  }

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
    #if !canImport(Darwin)
      if let status = FileStatus(untimed: number, [0]) { return status }
    #endif
    var status = stat()
    guard fstat(number, &status) == 0 else { throw .last }
    return FileStatus(status)
  }

  func size() throws(SystemError) -> Int {
    // Nobody else uses the place that this moves.
    let size = lseek(number, 0, SEEK_END)
    if size < 0 { throw .last }
    return Int(size)
  }

  func lock() throws(SystemError) -> Bool {
    if flock(number, LOCK_EX | LOCK_NB) == 0 { return true }
    if errno == EWOULDBLOCK { return false }
    throw .last
  }

  func unlock() { flock(number, LOCK_UN) }

  func takeRights(of other: any DiskFile) throws(SystemError) {
    guard let other = other as? SystemFile else { return }
    var status = stat()
    guard fstat(other.number, &status) == 0 else { throw .last }
    // Only an administrator can give a file away. The rights come second: they are those of the owner.
    _ = fchown(number, status.st_uid, status.st_gid)
    if fchmod(number, status.st_mode & 0o7777) != 0 { throw .last }
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
