import Synchronization

/// A bar on a terminal, until its task is cancelled.
struct Progress: Sendable {
  private let ledger: Ledger
  private let paths: [String]

  init(_ ledger: Ledger, _ paths: [String]) {
    self.ledger = ledger
    self.paths = paths
  }

  func show() async {
    guard ledger.console.isWatched else { return }
    let total = total
    // Sleeping ends by being cancelled.
    while (try? await Task.sleep(for: .milliseconds(100))) != nil {
      ledger.console.showProgress(text(of: total))
    }
    ledger.console.showProgress("")
  }

  /// The size of the input; `nil` if it is known only when everything has been read.
  private var total: Int? {
    paths.reduce(into: Int?.some(0)) { total, path in
      let status = try? FileStatus(of: Path(path))
      if let status, status.isRegular { total? += status.size } else { total = nil }
    }
  }

  private func text(of total: Int?) -> String {
    let read = ledger.bytesRead.load(ordering: .relaxed)
    let megabytes = (Double(read) / 1e6).rounded(to: 1)
    let lines = ledger.linesProduced.load(ordering: .relaxed).grouped
    guard let total, total > 0 else { return "\(megabytes) MB, \(lines) lines" }
    let width = 30
    let fraction = min(1, Double(read) / Double(total))
    let filled = Int(fraction * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    return "[\(bar)] \(Int(fraction * 100)) %, \(lines) lines"
  }
}
