import Synchronization
import Tailrace

/// A bar on a terminal.
struct Progress: Sendable {
  /// How far the scan has come, at one moment.
  private struct Moment: Sendable {
    let bytesRead: Int
    let lines: Int

    init(_ ledger: Ledger) {
      bytesRead = ledger.bytesRead.load(ordering: .relaxed)
      lines = ledger.linesProduced.load(ordering: .relaxed)
    }
  }

  private let ledger: Ledger
  private let paths: [String]

  init(_ ledger: Ledger, _ paths: [String]) {
    self.ledger = ledger
    self.paths = paths
  }

  /// Shows the bar while a closure runs.
  func isShown<Value>(while body: () async throws -> sending Value) async throws -> sending Value {
    guard ledger.console.isWatched else { return try await body() }
    let total = total
    let show = moments(on: QueueScheduler.background(name: "textscan.progress"))
      .subscribe { event in
        if case .next(let moment) = event { ledger.console.showProgress(text(moment, of: total)) }
      }
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    show.cancel()
    await show.value
    ledger.console.showProgress("")
    return try result.get()
  }

  /// How far the scan has come, ten times a second. Of moments that nobody has shown yet, the last
  /// one counts.
  private func moments(on scheduler: QueueScheduler) -> Signal<Moment, Never> {
    Signal(bufferingPolicy: .bufferingNewest(1)) { subscriber in
      let ticks = scheduler.schedule(every: .milliseconds(100)) {
        subscriber.send(Moment(ledger))
      }
      subscriber.onTermination { _ in ticks.cancel() }
    }.deliver(on: scheduler)
  }

  /// The size of the input; `nil` if it is known only when everything has been read.
  private var total: Int? {
    paths.reduce(into: Int?.some(0)) { total, path in
      let status = try? FileStatus(of: Path(path))
      if let status, status.isRegular { total? += status.size } else { total = nil }
    }
  }

  private func text(_ moment: Moment, of total: Int?) -> String {
    let megabytes = (Double(moment.bytesRead) / 1e6).rounded(to: 1)
    let lines = moment.lines.grouped
    guard let total, total > 0 else { return "\(megabytes) MB, \(lines) lines" }
    let width = 30
    let fraction = min(1, Double(moment.bytesRead) / Double(total))
    let filled = Int(fraction * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled)
    return "[\(bar)] \(Int(fraction * 100)) %, \(lines) lines"
  }
}
