import FileReading
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Standard output for the result, and standard error for all that is said on the way.
final class Console: Sendable {
  /// Whether somebody watches standard error.
  let isWatched: Bool
  private let output: Int32
  private let error: Int32
  /// The progress that is shown at the bottom of the terminal.
  private let bar = Mutex("")

  init(output: Int32 = STDOUT_FILENO, error: Int32 = STDERR_FILENO) {
    self.output = output
    self.error = error
    isWatched = isatty(error) == 1
  }

  /// Writes a note above the progress.
  func note(_ text: String) {
    bar.withLock { bar in
      let prefix = bar.isEmpty ? "" : Self.clearLine
      _ = Self.write("\(prefix)textscan: \(text)\n\(bar)", to: error)
    }
  }

  /// Shows the progress; an empty text takes it away.
  func showProgress(_ text: String) {
    bar.withLock { bar in
      guard text != bar else { return }
      bar = text
      _ = Self.write(Self.clearLine + text, to: error)
    }
  }

  /// Writes the result. False, and a note, if that is not possible.
  func print(_ text: String) -> Bool {
    if let failure = Self.write(text + "\n", to: output) {
      note("standard output: \(failure)")
      return false
    }
    return true
  }

  private static let clearLine = "\r\u{1B}[K"

  static func write(_ text: String, to descriptor: Int32) -> SystemError? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        #if canImport(Glibc)
          Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
          Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
      }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return .last
      }
    }
    return nil
  }
}
