import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Says how far the crawl has come: in one line that changes, on a terminal; in a line now and then
/// elsewhere.
final class Terminal: Sendable {
  private struct State: Sendable {
    var shown = ContinuousClock.now
    var isLineOpen = false
  }

  private let isWatched: Bool
  private let state = Mutex(State())

  init(isWatched: Bool = isatty(STDERR_FILENO) == 1) { self.isWatched = isWatched }

  /// Shows progress, if it is time: ten times a second on a terminal, every two seconds elsewhere.
  func show(_ text: @autoclosure () -> String) {
    let isDue = state.withLock { state in
      let now = ContinuousClock.now
      guard now - state.shown > (isWatched ? .milliseconds(100) : .seconds(2)) else {
        return false
      }
      state.shown = now
      state.isLineOpen = isWatched
      return true
    }
    guard isDue else { return }
    if isWatched {
      write("\r\u{1B}[K\(fitting(text()))")
    } else {
      write("\(text())\n")
    }
  }

  /// Says something for good.
  func note(_ text: String) {
    let isLineOpen = state.withLock { state in
      defer { state.isLineOpen = false }
      return state.isLineOpen
    }
    write("\(isLineOpen ? "\r\u{1B}[K" : "")recrawl: \(text)\n")
  }

  /// Cut to the width of the terminal, and without what would move the cursor.
  private func fitting(_ text: String) -> String {
    var size = winsize()
    let width = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? Int(size.ws_col) : 80
    return String(
      text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : Character($0) }
        .prefix(max(20, width - 1)))
  }

  private func write(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { bytes in
        #if canImport(Glibc)
          Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        #else
          Darwin.write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        #endif
      }
      if count < 0, errno != EINTR { return }
      rest = rest.dropFirst(max(count, 0))
    }
  }
}
