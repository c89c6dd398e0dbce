import Foundation

/// Decides what a response of events does next: a value with one method for each event.
struct ListEventsState: Sendable {
  enum Action {
    case send(EncodedPage)
    case read(from: Int)
    case wait(than: Int)
    case end
  }

  private enum Phase {
    /// A page is to be sent.
    case has(EncodedPage)
    /// All pages read were sent. `isUpToDate` if nothing more was stored then.
    case sent(upTo: Int, isUpToDate: Bool)
    /// The list has ended.
    case ended
  }

  private var phase: Phase
  private var hasBegun = false

  init(_ first: EncodedPage) { phase = .has(first) }

  /// The field before the first event: a client that loses its connection connects again soon.
  var opening: Data {
    mutating get {
      defer { hasBegun = true }
      return hasBegun ? Data() : Data("retry: 500\n\n".utf8)
    }
  }

  /// The next action. A page that was read is sent even if time is over: the client has waited for
  /// it.
  mutating func next(isOverdue: Bool) -> Action {
    switch phase {
    case .has(let page):
      phase = page.isEnd ? .ended : .sent(upTo: page.next, isUpToDate: page.isUpToDate)
      return .send(page)
    case .sent where isOverdue: return .end
    case .sent(let position, let isUpToDate):
      return isUpToDate ? .wait(than: position) : .read(from: position)
    case .ended: return .end
    }
  }

  /// A page was read. An empty one that is not the end is nothing to send.
  mutating func didRead(_ page: EncodedPage) {
    if page.count > 0 || page.isEnd {
      phase = .has(page)
    } else {
      phase = .sent(upTo: page.next, isUpToDate: true)
    }
  }
}
