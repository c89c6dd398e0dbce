import Foundation

/// Decides what a response of events does next: a value with one method for each event.
struct ListEventsState: Sendable {
  enum Action {
    case send(EncodedPage)
    /// A comment, so that nobody takes the connection for a dead one.
    case sendComment
    /// The last control event again: some clients do not count comments.
    case sendControl(EncodedPage)
    case read(from: ListOffset)
    case wait(than: ListOffset)
    case end
  }

  private enum Phase {
    /// A page is to be sent.
    case has(EncodedPage)
    /// All pages read were sent, up to an empty one. `isUpToDate` if nothing more was stored then.
    case sent(upTo: EncodedPage)
    /// Nothing has come for a while.
    case silent(at: EncodedPage)
    /// The list has ended, or there is another one.
    case ended
  }

  private var phase: Phase
  private var hasBegun = false
  /// Pauses since the last event.
  private var pauses = 0
  /// In milliseconds: after how long a client that has lost its connection connects again.
  private let retry: Int

  init(_ first: EncodedPage, retry: Int) {
    phase = .has(first)
    self.retry = retry
  }

  /// The field before the first event.
  var opening: Data {
    mutating get {
      defer { hasBegun = true }
      return hasBegun ? Data() : Data("retry: \(retry)\n\n".utf8)
    }
  }

  /// The next action. A page that was read is sent even if time is over: the client has waited for
  /// it.
  mutating func next(isOverdue: Bool) -> Action {
    switch phase {
    case .has(let page):
      phase = page.isEnd ? .ended : .sent(upTo: page)
      pauses = 0
      return .send(page)
    case .sent where isOverdue, .silent where isOverdue: return .end
    case .sent(let page):
      return page.isUpToDate ? .wait(than: page.nextOffset) : .read(from: page.nextOffset)
    case .silent(let page):
      phase = .sent(upTo: page)
      pauses += 1
      return pauses.isMultiple(of: 2) ? .sendControl(page) : .sendComment
    case .ended: return .end
    }
  }

  /// A page was read. An empty one that is not the end is nothing to send.
  mutating func didRead(_ page: EncodedPage) {
    phase = page.count > 0 || page.isEnd ? .has(page) : .sent(upTo: page)
  }

  /// Nothing has come while it was waited for.
  mutating func didPause() {
    if case .sent(let page) = phase { phase = .silent(at: page) }
  }

  /// The list is gone: the client connects again, and is told.
  mutating func didChange() { phase = .ended }
}
