import Foundation

/// The end of an endpoint's list, shared by all responses that wait there: a value with one method for
/// each event.
///
/// The last elements are kept as they were encoded. While somebody waits behind them, one task, the
/// *reader*, waits at the source, and reads and encodes what comes: once for all. ``WhileAwaited`` decides
/// when it runs.
///
/// | event | what follows |
/// |---|---|
/// | somebody waits further on, or in another list | those that wait are told; the tail begins there, with another reader |
/// | elements come | those that wait are told |
/// | the list has become another one | those that wait are told |
struct SharedTail: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    case read(from: Int)
    case wait(than: Int)
  }

  /// The list's identity; `nil` if it has none, or does not exist yet.
  private(set) var identity: String?
  /// The position of the first element that is kept.
  private(set) var start = 0
  private var elements: [Data] = []
  private var bytes = 0
  private(set) var isEnded = false
  /// The source may have more than is here.
  private var isReading = false

  /// At most so many elements, and so many bytes, are kept.
  private let limit: Int
  private let byteLimit: Int

  init(limit: Int, byteLimit: Int) {
    self.limit = limit
    self.byteLimit = byteLimit
  }

  var end: Int { start + elements.count }

  // MARK: Those that wait

  enum Wait: Hashable, Sendable {
    /// There is more already, or the list has ended.
    case ready
    case waits
    /// The elements in between are stored: those that waited have something to read, and a reader begins
    /// here.
    case moves
  }

  /// Somebody waits for more than `position` elements of a list.
  mutating func wait(_ identity: String?, than position: Int) -> Wait {
    let isThis = identity == self.identity
    if isThis, position < end || isEnded { return .ready }
    guard !isThis || position > end else { return .waits }
    begin(identity, at: position)
    return .moves
  }

  private mutating func begin(_ identity: String?, at position: Int) {
    self.identity = identity
    (start, elements, bytes, isEnded, isReading) = (position, [], 0, false, false)
  }

  // MARK: Asked and told by the present reader

  var next: Step { isReading ? .read(from: end) : .wait(than: end) }

  /// The source may have more.
  mutating func didWait() { isReading = true }

  enum News: Hashable, Sendable {
    case none
    /// Those that wait behind fewer elements are told.
    case more
    /// All are told: this list is gone.
    case changed
  }

  /// Elements were read at a position, when the list had this identity.
  mutating func didRead(
    _ new: [Data], isEnd: Bool, _ found: String?, at position: Int
  ) -> News {
    isReading = false
    if found != identity {
      // A list that was waited for exists now.
      guard identity == nil, position == 0, end == 0 else {
        begin(found, at: 0)
        return .changed
      }
      identity = found
    }
    return add(new, isEnd: isEnd, at: position)
  }

  /// The source has failed: the next reader begins again.
  mutating func failed() { isReading = false }

  // MARK: Elements

  /// Elements that were read for one response: kept if they continue those that are here, or if nobody
  /// waits.
  mutating func offer(
    _ new: [Data], isEnd: Bool, _ identity: String?, at position: Int, isAwaited: Bool
  ) -> News {
    if !isAwaited, identity != self.identity || position > end || position < start {
      begin(identity, at: position)
    }
    guard identity == self.identity, position >= start, position <= end else { return .none }
    return add(new, isEnd: isEnd, at: position)
  }

  private mutating func add(_ new: [Data], isEnd: Bool, at position: Int) -> News {
    let known = end - position
    guard known >= 0, known < new.count || isEnd && !isEnded && known == new.count else {
      return .none
    }
    for element in new.dropFirst(known) {
      elements.append(element)
      bytes += element.count
    }
    isEnded = isEnd
    // Half of them at once, so that the rest is not moved for each element.
    if elements.count > 2 * limit || bytes > 2 * byteLimit {
      var surplus = 0
      while elements.count - surplus > limit || bytes > byteLimit, surplus < elements.count - 1 {
        bytes -= elements[surplus].count
        surplus += 1
      }
      elements.removeFirst(surplus)
      start += surplus
    }
    return .more
  }

  /// The elements from a position on, if they are here.
  func page(
    _ identity: String?, from position: Int, upTo end: Int? = nil, _ limit: Int, _ byteLimit: Int
  ) -> EncodedPage? {
    let last = min(end ?? self.end, self.end)
    guard identity == self.identity, position >= start,
      position < last || isEnded && position == last
    else { return nil }
    var page = EncodedPage(identity, from: position)
    while page.count < limit, page.next < last, page.count == 0 || page.json.count < byteLimit {
      page.append(elements[page.next - start])
    }
    let isLast = page.next == self.end
    page.close(isUpToDate: isLast, isEnd: isLast && isEnded)
    return page
  }
}
