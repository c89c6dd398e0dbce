import FileReading

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A path as the file system has it: bytes, which need not be valid UTF-8.
struct Path: Sendable, Equatable {
  /// Without the zero that ends a C string.
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// As system calls take it.
  var characters: [CChar] { bytes.map(CChar.init(bitPattern:)) + [0] }

  /// Repaired where it is not valid UTF-8.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The part behind the last slash.
  var lastComponent: String {
    String(decoding: bytes.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
  }
}

extension Path: CustomStringConvertible {
  var description: String { text.displayable }
}

extension Path {
  /// The paths of the entries of this directory, in the order of their bytes.
  func entries() throws(SystemError) -> [Path] {
    guard let directory = opendir(characters) else { throw .last }
    defer { closedir(directory) }
    var names: [[UInt8]] = []
    // Only this variable tells an error of `readdir` from the end.
    errno = 0
    while let entry = readdir(directory) {
      names.append(entry.name)
      errno = 0
    }
    guard errno == 0 else { throw .last }
    names.removeAll { $0 == Array(".".utf8) || $0 == Array("..".utf8) }
    names.sort { $0.lexicographicallyPrecedes($1) }
    let slash = UInt8(ascii: "/")
    let directoryBytes = bytes.last == slash ? bytes : bytes + [slash]
    return names.map { Path(bytes: directoryBytes + $0) }
  }
}

extension UnsafeMutablePointer<dirent> {
  // Guard: the entry belongs to the directory that is being read, until the next one is read.
  // May touch it: the loop that reads the directory.
  fileprivate var name: [UInt8] {
    // The entry may be shorter than its type says: it ends with its name.
    guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
    let start = UnsafeRawPointer(self) + offset
    let count = strlen(start.assumingMemoryBound(to: CChar.self))
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }
}
