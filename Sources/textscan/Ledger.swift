import FileReading
import Synchronization

/// Counts the work, where it is done.
final class Ledger: Sendable {
  /// How many times a line was made out of what had been read.
  let linesProduced = Atomic(0)
  /// How many bytes the system gave.
  let bytesRead = Atomic(0)
  /// How many files were begun.
  let files = Atomic(0)
  /// How many were left out.
  let skipped = Atomic(0)
  /// How many could not be read, or not to their end.
  let failures = Atomic(0)

  let console: Console

  init(_ console: Console) { self.console = console }

  /// Notes that something could not be read.
  func fail(_ path: Path, _ error: SystemError) {
    failures.add(1, ordering: .relaxed)
    console.note("\(path): \(error)")
  }

  /// Notes that something was left out.
  func skip(_ path: Path, because reason: String) {
    skipped.add(1, ordering: .relaxed)
    console.note("\(path): \(reason), skipped")
  }
}
