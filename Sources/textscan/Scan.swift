import Synchronization
import Tailrace
import TailraceInspection

/// One run: a list of lines, and the readers that walk it.
struct Scan: Sendable {
  private let options: Options
  private let ledger: Ledger
  private let console: Console
  private let start = ContinuousClock.now
  private let memoryAtStart = peakMemory()

  init(_ options: Options, _ console: Console) {
    self.options = options
    self.console = console
    ledger = Ledger(console)
  }

  /// Reads everything. Throws `CancellationError` if its task is cancelled before the end.
  func report() async throws -> Report {
    let results = try await Progress(ledger, options.paths).isShown { try await walk() }
    var report = Report(reading: reading(results))
    for result in results { result.reader.add(to: &report) }
    return report
  }

  private func reading(_ results: [Finished]) -> Report.Reading {
    Report.Reading(
      files: ledger.files.load(ordering: .relaxed),
      skipped: ledger.skipped.load(ordering: .relaxed),
      failures: ledger.failures.load(ordering: .relaxed),
      bytesRead: ledger.bytesRead.load(ordering: .relaxed),
      lines: results.map(\.lines).max() ?? 0,
      linesProduced: ledger.linesProduced.load(ordering: .relaxed),
      linesUsed: results.map(\.lines).reduce(0, +),
      readers: results.count,
      seconds: start.duration(to: .now) / .seconds(1),
      memoryAtStart: memoryAtStart,
      peakMemory: peakMemory())
  }

  /// A reader that has read as many lines as it wanted.
  private struct Finished: Sendable {
    let reader: any LineReader
    let lines: Int
  }

  /// Lets the readers walk the lines at the same time, none further ahead of the slowest than a megabyte.
  private func walk() async throws -> [Finished] {
    // Nobody here holds the head of the list, so that it is let go of as the readers move on.
    let readers = try await drawn(
      Self.lines(options.paths, ledger, filesAtOnce: options.filesAtOnce)
    ).lockstep(readers: options.readers.count, maxLead: 1_048_576) { line in line.weight }
    return try await withThrowingTaskGroup(of: Finished.self) { group in
      for (name, lines) in zip(options.readers, readers) {
        group.addTask(name: name.rawValue) { [options] in
          var reader = name.makeReader(options)
          let count = try await reader.read(lines)
          return Finished(reader: reader, lines: count)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  /// The same list, after its diagram has been printed if somebody wants to see that.
  private func drawn(
    _ lines: consuming LazyList<Line, any Error>
  ) async throws -> LazyList<Line, any Error> {
    guard options.printsDiagram else { return lines }
    _ = try await (copy lines).head()
    _ = console.print(lines.diagram())
    return lines
  }

  /// The lines of all files: directories are walked, files opened and pieces read as lines are
  /// demanded, and the beginnings of the next files while somebody is busy with those lines.
  ///
  /// It fails only if a task that evaluates it is cancelled. The list remembers that for all its
  /// readers, which is right here: they are cancelled together.
  static func lines(
    _ paths: [String], _ ledger: Ledger, filesAtOnce: Int = 4
  ) -> LazyList<Line, any Error> {
    LazyList(state: Walk(paths)) { walk in try walk.next() }.named("files")
      .concurrentMap(limit: filesAtOnce) { finding in await Beginning(finding) }
      .flatMap { beginning in beginning.pieces(ledger) }
      .flatMap { piece in piece.lines(ledger) }
      .named("lines")
  }
}

extension Options {
  /// How many files may be open: several if all of them will be read, whatever is in them.
  fileprivate var filesAtOnce: Int { readers == [.find] ? 1 : 4 }
}

extension ReaderName {
  fileprivate func makeReader(_ options: Options) -> any LineReader {
    switch self {
    case .lines: LineCounts()
    case .longest: LongestLine()
    case .words: FrequentWords()
    case .duplicates: DuplicateLines()
    case .find: TextSearch(options.pattern)
    }
  }
}
