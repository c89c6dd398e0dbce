import Synchronization
import Tailrace

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
    let travelers = try await Progress(ledger, options.paths).isShown { try await walk() }
    var report = Report(reading: reading(travelers))
    for traveler in travelers { traveler.reader.add(to: &report) }
    return report
  }

  private func reading(_ travelers: [Traveler]) -> Report.Reading {
    Report.Reading(
      files: ledger.files.load(ordering: .relaxed),
      skipped: ledger.skipped.load(ordering: .relaxed),
      failures: ledger.failures.load(ordering: .relaxed),
      bytesRead: ledger.bytesRead.load(ordering: .relaxed),
      lines: travelers.map(\.lines).max() ?? 0,
      linesProduced: ledger.linesProduced.load(ordering: .relaxed),
      linesUsed: travelers.map(\.lines).reduce(0, +),
      readers: travelers.count,
      seconds: start.duration(to: .now) / .seconds(1),
      memoryAtStart: memoryAtStart,
      peakMemory: peakMemory())
  }

  /// Lets the readers walk the lines at the same time.
  private func walk() async throws -> [Traveler] {
    let convoy = Convoy(members: options.readers.count, distance: 1_048_576)
    // Nobody here holds the head of the list, so that it is let go of as the readers move on.
    let handovers = try await drawn(
      Self.lines(options.paths, ledger, filesAtOnce: options.filesAtOnce)
    ).handedOver(times: options.readers.count)
    return try await withThrowingTaskGroup(of: Traveler.self) { group in
      for (member, name) in options.readers.enumerated() {
        let handover = handovers[member]
        let traveler = Traveler(name.makeReader(options), member, convoy)
        group.addTask(name: name.rawValue) {
          var traveler = traveler
          try await traveler.walk(handover.take())
          return traveler
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

extension LazyList {
  /// The list in boxes, for tasks that read it from the head on. Nothing else keeps it.
  fileprivate consuming func handedOver(times: Int) -> [Handover<LazyList>] {
    (0..<times).map { [self] _ in Handover(self) }
  }
}

/// A value on its way to the one task that takes it.
///
/// A closure keeps what it captures until it is released, and who keeps a list by its head keeps
/// every line. The closure of a task captures this box instead, and empties it.
final class Handover<Value: Sendable>: Sendable {
  private let value: Mutex<Value?>

  init(_ value: consuming Value) { self.value = Mutex(value) }

  func take() -> Value {
    guard let value = value.withLock({ $0.take() }) else {
      preconditionFailure("a handover was taken twice")
    }
    return value
  }
}
