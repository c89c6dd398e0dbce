import FileReading

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file's properties, from the file system.
struct FileStatus {
  /// The same for all names of a file, and for all symbolic links to it.
  struct Identity: Hashable {
    fileprivate let device: dev_t
    fileprivate let number: ino_t
  }

  private let status: stat

  /// Follows symbolic links.
  init(of path: Path) throws(SystemError) {
    var status = stat()
    guard stat(path.characters, &status) == 0 else { throw .last }
    self.status = status
  }

  static func ofStandardInput() throws(SystemError) -> FileStatus {
    var status = stat()
    guard fstat(STDIN_FILENO, &status) == 0 else { throw .last }
    return FileStatus(status)
  }

  private init(_ status: stat) { self.status = status }

  var identity: Identity { Identity(device: status.st_dev, number: status.st_ino) }
  var isDirectory: Bool { status.st_mode & S_IFMT == S_IFDIR }
  var isRegular: Bool { status.st_mode & S_IFMT == S_IFREG }
  var size: Int { Int(status.st_size) }
}
