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

  /// Makes an empty file under a new name in the folder of a path.
  func make(beside path: [CChar]) throws(SystemError) -> (file: any DiskFile, path: [CChar])

  /// Renames a file, atomically, to a name that is free. `EEXIST` if the name is taken.
  func name(_ path: [CChar], as other: [CChar]) throws(SystemError)

  /// Gives a file one name more. `EEXIST` if the name is taken. Not every file system can.
  func link(_ path: [CChar], to other: [CChar]) throws(SystemError)

  /// Renames a file, atomically. A file that had that name loses it.
  func rename(_ path: [CChar], to other: [CChar]) throws(SystemError)

  /// Removes a name, if possible.
  func remove(_ path: [CChar])

  /// Returns when the names in the folder of a path are on the disk.
  func synchronizeFolder(of path: [CChar]) throws(SystemError)

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
  /// The file's length, for less than the status costs.
  func size() throws(SystemError) -> Int
  /// Takes the lock of the file. False if another holder has it.
  func lock() throws(SystemError) -> Bool
  /// Ends the lock, also for a child process that has the file.
  func unlock()
  /// Takes the owner, if it may, and the rights of another file.
  func takeRights(of other: any DiskFile) throws(SystemError)
}

extension DiskFile {
  package func size() throws(SystemError) -> Int { try status().size }
  package func takeRights(of other: any DiskFile) throws(SystemError) {}

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

extension Disk {
  /// Makes a file under a new name beside a path, with contents that are on the disk. Returns the name.
  ///
  /// - Parameters:
  ///   - former: a file whose owner and rights it has.
  ///   - fill: writes the contents. If it throws, there is no file.
  func make(
    beside path: [CChar], with former: (any DiskFile)? = nil, _ fill: (any DiskFile) throws -> Void
  ) throws -> [CChar] {
    let (file, name) = try make(beside: path)
    do {
      try fill(file)
      if let former { try file.takeRights(of: former) }
      try file.synchronize()
    } catch {
      remove(name)
      throw error
    }
    return name
  }

  /// Makes a file with some contents; does nothing if it exists. No reader ever sees a part of it, and
  /// of two creators one is first. Its name may not be on the disk yet.
  func create(_ path: [CChar], contents: [UInt8]) throws {
    let name = try make(beside: path) { try $0.put(contents, at: 0) }
    do throws(SystemError) { try self.name(name, as: path) } catch {
      remove(name)
      if error.code != EEXIST { throw error }
    }
  }

  /// Puts a new file into a file's place, atomically and on the disk, and keeps the former one.
  ///
  /// - Parameters:
  ///   - former: the present file. The new one has its owner and its rights.
  ///   - fill: writes the contents. If it throws, nothing has changed.
  /// - Returns: the path of the former one.
  func replace(
    _ path: [CChar], _ former: any DiskFile, _ fill: (any DiskFile) throws -> Void
  ) throws -> [CChar] {
    let name = try make(beside: path, with: former, fill)
    let aside = path.beside(.damaged)
    do {
      if try links(path, to: aside) {
        do {
          try synchronizeFolder(of: path)
          try rename(name, to: path)
        } catch {
          remove(aside)
          throw error
        }
      } else {
        try self.name(path, as: aside)
        do throws(SystemError) { try rename(name, to: path) } catch {
          try self.name(aside, as: path)
          throw error
        }
      }
    } catch {
      remove(name)
      throw error
    }
    try synchronizeFolder(of: path)
    return aside
  }
}

extension Disk {
  /// Gives a file one name more: it has two before it loses one, so there is a file at the path at any
  /// moment. False where a file has only one.
  private func links(_ path: [CChar], to other: [CChar]) throws(SystemError) -> Bool {
    do throws(SystemError) {
      try link(path, to: other)
      return true
    } catch {
      if [EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS, EACCES, EMLINK].contains(error.code) { return false }
      throw error
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

  /// The name of another file in the same folder. It is not longer than a name may be.
  func beside(_ kind: BesideKind) -> [CChar] {
    let suffix = String(UInt32.random(in: 0...(.max)), radix: 36)
    let start = lastIndex(of: CChar(UInt8(ascii: "/"))).map { $0 + 1 } ?? 0
    return self[..<start] + self[start...].dropLast().prefix(230)
      + Array(".\(kind.start)\(suffix)".utf8CString)
  }
}

/// What a file beside another one is.
enum BesideKind: String {
  /// It is being made, and has no name of its own yet.
  case new
  /// What was repaired.
  case damaged
  /// What a loss of power has changed.
  case lost

  /// How its extension begins.
  var start: String { "\(rawValue)-" }
}
