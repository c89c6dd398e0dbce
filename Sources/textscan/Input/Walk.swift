import FileReading

/// The files at some paths, and in the directories there, in the order of their names.
///
/// It looks at a path, and lists a directory, when it gets there and not before.
struct Walk {
  private struct Entry {
    let path: Path
    /// As opposed to found in a directory.
    let isArgument: Bool
  }

  private let ledger: Ledger
  /// What is still to be looked at, the next last.
  private var pending: [Entry]
  private var visited: Set<FileStatus.Identity> = []

  init(_ paths: [String], _ ledger: Ledger) {
    self.ledger = ledger
    pending = paths.reversed().map { Entry(path: Path($0), isArgument: true) }
  }

  /// The next file, `nil` at the end. What cannot be read, and what is left out, is noted.
  ///
  /// Throws `CancellationError` in a cancelled task: a tree can be large and have few files.
  mutating func next() throws -> Source? {
    while let entry = pending.popLast() {
      try Task.checkCancellation()
      do throws(SystemError) {
        if let source = try visit(entry) { return source }
      } catch {
        ledger.fail(entry.path, error)
      }
    }
    return nil
  }

  /// The file itself; `nil` for a directory, and for what is left out.
  private mutating func visit(_ entry: Entry) throws(SystemError) -> Source? {
    if entry.isArgument, entry.path == Path("-") {
      let status = try FileStatus.ofStandardInput()
      return Source(path: .standardInput, isStandardInput: true, canBlock: !status.isRegular)
    }
    let status = try FileStatus(of: entry.path)
    if status.isDirectory {
      try enter(entry, status)
      return nil
    }
    guard status.isRegular || entry.isArgument else {
      ledger.skip(entry.path, because: "not a regular file")
      return nil
    }
    return Source(path: entry.path, isStandardInput: false, canBlock: !status.isRegular)
  }

  private mutating func enter(_ directory: Entry, _ status: FileStatus) throws(SystemError) {
    let name = directory.path.lastComponent
    if !directory.isArgument, name == ".git" || name == ".build" { return }
    // A symbolic link can lead back to a directory that is being walked.
    guard visited.insert(status.identity).inserted else {
      return ledger.skip(directory.path, because: "a directory that was walked already")
    }
    let entries = try directory.path.entries()
    pending += entries.reversed().map { Entry(path: $0, isArgument: false) }
  }
}

extension Path {
  /// What is shown for standard input.
  static let standardInput = Path("(standard input)")
}
