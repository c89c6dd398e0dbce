import FileReading
import Tailrace
import TailraceInspection

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A recording of a scan, and the file that it goes to.
struct Trace: Sendable {
  private let path: String
  private let console: Console
  private let recording = Recording.start(limit: 1_000_000)

  init(_ path: String, _ console: Console) {
    self.path = path
    self.console = console
  }

  /// Ends the recording, and writes it. False, and a note, if that is not possible.
  func write() -> Bool {
    recording.stop()
    if recording.droppedCount > 0 {
      console.note("the trace leaves out the last \(recording.droppedCount) events")
    }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { return isNoted(.last) }
    let failure = Console.write(recording.chromeTrace(), to: descriptor)
    // Some file systems write when the file is closed.
    let isClosed = close(descriptor) == 0
    if let failure { return isNoted(failure) }
    return isClosed || isNoted(.last)
  }

  private func isNoted(_ failure: SystemError) -> Bool {
    console.note("\(path): \(failure)")
    return false
  }
}
