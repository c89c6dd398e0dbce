import Foundation
import Synchronization
import Tailrace
import TailraceFoundation
import TailraceStored

/// A crawl whose list is in a file.
struct Crawl: Sendable {
  typealias Store = FileStore<Finding, Frontier>

  let options: Options
  let terminal: Terminal
  private let ran = Ran()

  /// Counts the steps of this process.
  private final class Ran: Sendable {
    let count = Atomic(0)
  }

  init(_ options: Options, _ terminal: Terminal) {
    self.options = options
    self.terminal = terminal
  }

  /// How many steps this process has run.
  var stepsRun: Int { ran.count.load(ordering: .relaxed) }

  var store: Store {
    Store(
      URL(filePath: options.file), element: .json, state: .json, durability: options.durability)
  }

  /// The findings: those that are stored, then those that are made now, or by somebody else.
  var findings: LazyList<Finding, any Error> {
    if options.follows { return LazyList(reading: store) }
    let (visit, ran) = (Visit(store: options.file), ran)
    return LazyList(storedIn: store, state: Frontier(options.directory)) {
      (frontier: inout Frontier, finding: Finding) in
      frontier.pass(finding)
    } next: { (frontier: Frontier) async throws -> Finding? in
      guard let path = frontier.next else { return nil }
      ran.count.add(1, ordering: .relaxed)
      return await visit(path)
    }
  }

  /// Runs, or follows, to the end.
  func run(_ each: (Finding) -> Void = { _ in }) async throws -> Totals {
    var totals = Totals()
    for try await finding in findings {
      if totals.findings == 0, !options.follows, finding.path != options.directory {
        throw OtherTree(file: options.file, directory: finding.path)
      }
      totals.add(finding)
      each(finding)
      terminal.show(
        "\(totals.findings) places, \(totals.files) files, \(megabytes(totals.bytes)): \(finding.path)"
      )
    }
    return totals
  }

  func summary(_ totals: Totals) -> String {
    """
    \(totals.files) files in \(totals.directories) directories, \(megabytes(totals.bytes)), \
    \(totals.failures) that could not be read
    digest of all findings \(totals.digest)
    \(stepsRun) steps ran, \(totals.findings - stepsRun) were there
    """
  }

  private func megabytes(_ bytes: Int) -> String {
    "\((Double(bytes) / 1e5).rounded() / 10) MB"
  }
}

/// The file has the crawl of another directory.
struct OtherTree: Error, CustomStringConvertible {
  let file: String
  let directory: String

  var description: String { "\(file) has the crawl of \(directory): name another file with --into" }
}
