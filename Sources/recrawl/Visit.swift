import FileReading

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Looks at places of the tree, one at a time: the step that is expensive.
struct Visit: Sendable {
  /// Identifies a file, under any of its names.
  struct Identity: Sendable, Equatable {
    let device: UInt64
    let number: UInt64
  }

  /// The path of the file that the crawl is stored in, which changes while it is crawled.
  let store: String

  /// Describes the file at a path. Links are not followed.
  func callAsFunction(_ path: String) async -> Finding {
    // All of it on the queue for calls that may block.
    let kind = await elsewhere { () throws(SystemError) in try look(at: path) }
    switch kind {
    case .success(let kind): return Finding(path: path, kind: kind)
    case .failure(let error): return Finding(path: path, kind: .failed(error.description))
    }
  }

  private func look(at path: String) throws(SystemError) -> Finding.Kind {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .last }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return .directory(entries: try entries(of: path))
    case S_IFLNK: return .skipped(because: "a link")
    case S_IFREG:
      return isStore(status) ? .skipped(because: "this list") : try file(path)
    default: return .skipped(because: "not a file")
    }
  }

  private func isStore(_ status: stat) -> Bool {
    var own = stat()
    return stat(store, &own) == 0 && own.st_dev == status.st_dev && own.st_ino == status.st_ino
  }

  private func file(_ path: String) throws(SystemError) -> Finding.Kind {
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard number >= 0 else { throw .last }
    defer { close(number) }
    var (sum, size) = (SHA256(), 0)
    while true {
      var failure: SystemError?
      let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, initializedCount in
        let count = read(number, buffer.baseAddress, buffer.count)
        if count < 0 { failure = errno == EINTR ? SystemError(code: 0) : .last }
        initializedCount = max(count, 0)
      }
      if let failure {
        if failure.code == 0 { continue }
        throw failure
      }
      if bytes.isEmpty { return .file(size: size, digest: sum.digest()) }
      sum.update(bytes)
      size += bytes.count
    }
  }

  private func entries(of path: String) throws(SystemError) -> [String] {
    guard let directory = opendir(path) else { throw .last }
    defer { closedir(directory) }
    var names: [String] = []
    errno = 0
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
      errno = 0
    }
    guard errno == 0 else { throw .last }
    return names.sorted()
  }
}
