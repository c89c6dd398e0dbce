import FileReading

/// A result of a walk.
enum Finding: Sendable {
  case file(Source)
  /// It could not be looked at.
  case failure(Path, SystemError)
  /// It is left out.
  case skipped(Path, because: String)
}

/// The files at some paths, and in the directories there, in the order of their names.
///
/// It looks at a path, and lists a directory, when it gets there and not before.
struct Walk {
  private struct Entry {
    let path: Path
    /// As opposed to found in a directory.
    let isArgument: Bool
  }

  /// The entries to visit, the next last.
  private var pending: [Entry]
  private var visited: Set<FileStatus.Identity> = []

  init(_ paths: [String]) {
    pending = paths.reversed().map { Entry(path: Path($0), isArgument: true) }
  }

  /// The next file, or what could not be read or is left out; `nil` at the end.
  ///
  /// Throws `CancellationError` in a cancelled task: a tree can be large and have few files.
  mutating func next() throws -> Finding? {
    while let entry = pending.popLast() {
      try Task.checkCancellation()
      do throws(SystemError) {
        if let finding = try visit(entry) { return finding }
      } catch {
        return .failure(entry.path, error)
      }
    }
    return nil
  }

  /// Describes an entry; `nil` for a directory that is walked next.
  private mutating func visit(_ entry: Entry) throws(SystemError) -> Finding? {
    if entry.isArgument, entry.path == Path("-") {
      let status = try FileStatus.ofStandardInput()
      return .file(
        Source(path: .standardInput, isStandardInput: true, canBlock: !status.isRegular))
    }
    let status = try FileStatus(of: entry.path)
    if status.isDirectory { return try enter(entry, status) }
    guard status.isRegular || entry.isArgument else {
      return .skipped(entry.path, because: "not a regular file")
    }
    return .file(Source(path: entry.path, isStandardInput: false, canBlock: !status.isRegular))
  }

  private mutating func enter(
    _ directory: Entry, _ status: FileStatus
  ) throws(SystemError) -> Finding? {
    let name = directory.path.lastComponent
    if !directory.isArgument, name == ".git" || name == ".build" { return nil }
    // A symbolic link can lead back to a directory that is being walked.
    guard visited.insert(status.identity).inserted else {
      return .skipped(directory.path, because: "a directory that was walked already")
    }
    let entries = try directory.path.entries()
    pending += entries.reversed().map { Entry(path: $0, isArgument: false) }
    return nil
  }
}

extension Path {
  /// The name that is shown for standard input.
  static let standardInput = Path("(standard input)")
}
