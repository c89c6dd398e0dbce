import TailraceLists
import TailraceSupport

/// What is known of a server's list, and some of its elements: a value with one method for each event.
///
/// Offsets of our own endpoints consist of the list's identity and a position; a header field says that
/// they do. Offsets of other servers have no structure: a few of those that a response has named are kept,
/// and other positions are found by reading on from the nearest one before.
struct RemoteContents<Element: Sendable>: Sendable {
  enum Server: Hashable {
    case unknown
    case ours(identity: String?)
    case other
  }

  /// Elements that follow each other, and how many bytes each of them had.
  struct Segment {
    var start: Int
    var elements: [Element] = []
    var sizes: [Int] = []
    var bytes = 0
    var end: Int { start + elements.count }

    init(start: Int) { self.start = start }

    mutating func append(_ answer: Answer, skipping count: Int) {
      elements += answer.elements.dropFirst(count)
      let new = answer.sizes.dropFirst(count)
      sizes += new
      bytes += new.reduce(0, +)
    }
  }

  private struct Name {
    var position: Int
    var offset: String
  }

  private(set) var server = Server.unknown
  /// How many elements there are at least.
  private(set) var count = 0
  private(set) var isEnded = false
  /// Behind whose last element the live connection reads on.
  private(set) var tail = Segment(start: 0)
  /// What was read last without waiting.
  private(set) var page = Segment(start: 0)
  /// The known offsets of another server, by position, ascending.
  private var names: [Name] = [Name(position: 0, offset: ListOffset.beginning)]
  /// The server has just said that there is nothing behind `count`: by how many that is still believed
  /// without being asked for.
  private(set) var believers = 0
  /// This list is gone.
  private(set) var otherList: RemoteListError.Reason?
  /// Elements that are not kept any more: released outside of the lock, since that may run code of theirs.
  private var discarded: [[Element]] = []

  /// At most twice as many elements are kept for readers that come later.
  static var capacity: Int { 4096 }
  /// At most twice as many bytes of elements are kept.
  let byteCapacity: Int
  /// At most how many offsets of another server are kept.
  static var nameLimit: Int { 256 }

  /// Whether more than a page is here that nobody has read yet, as far as is known.
  var isFull: Bool { tail.elements.count >= Self.capacity || tail.bytes >= byteCapacity }

  init(_ place: RemotePlace, byteCapacity: Int = 16 << 20) {
    self.byteCapacity = byteCapacity
    guard place.position > 0 else { return }
    count = place.position
    if place.isOurs {
      server = .ours(identity: ListOffset(place.offset)?.identity)
    } else {
      server = .other
      names.append(Name(position: place.named, offset: place.offset))
    }
    tail = Segment(start: count)
  }

  /// Elements are read on from a place that was kept.
  mutating func resume(at place: RemotePlace) throws(RemoteAnswerError) {
    if server == .unknown, count == 0 { self = RemoteContents(place, byteCapacity: byteCapacity) }
    // Before its first element a list may have had no identity yet.
    guard place.isOurs, place.position > 0 else { return }
    let identity = ListOffset(place.offset)?.identity
    switch server {
    case .unknown: break
    case .ours(let known) where known == identity: break
    case .ours(let known): throw .final(.remote(.otherList(found: known)))
    // An answer says itself that it is of ours; a place does not, so the server must have named an offset.
    case .other where names.count > 1 && hasNamedOnly(identity): server = .ours(identity: identity)
    case .other: throw .final(.remote(.otherList(found: nil)))
    }
  }

  // MARK: Reading

  /// The elements from a position on that are here; `nil` if the server must be asked.
  ///
  /// - Parameter isReading: what the server has comes without being asked for.
  mutating func look(
    from position: Int, upTo limit: Int, isReading: Bool
  ) throws(RemoteAnswerError) -> ListPage<Element>? {
    if let otherList { throw .final(.remote(otherList)) }
    for segment in [tail, page] where segment.start <= position && position < segment.end {
      let elements = segment.elements.dropFirst(position - segment.start).prefix(limit)
      let isEnd = isEnded && position + elements.count == count
      return ListPage(Array(elements), isEnd: isEnd)
    }
    guard position >= count else { return nil }
    if isEnded { return ListPage([], isEnd: true) }
    if believers > 0 {
      believers -= 1
      return ListPage([])
    }
    return isReading && tail.end == count ? ListPage([]) : nil
  }

  /// Whether there may be more than so many elements.
  func mayHaveMore(than position: Int) -> Bool { count > position || isEnded || otherList != nil }

  // MARK: Requests

  /// Where a request begins that is to bring the element at a position, if there is one.
  ///
  /// - Returns: `nil` if the list must be asked for its identity first.
  func start(for position: Int) -> (offset: String, position: Int)? {
    let position = min(position, max(count, tail.end))
    switch server {
    case .unknown: return position == 0 ? (ListOffset.beginning, 0) : nil
    case .ours(let identity): return (ListOffset(identity, position).name, position)
    case .other:
      guard let name = names.last(where: { $0.position <= position }) else {
        return (ListOffset.beginning, 0)
      }
      return (name.offset, name.position)
    }
  }

  /// Where the live connection begins, or reads on.
  mutating func liveStart() -> (offset: String, position: Int)? {
    // What was read without waiting is further.
    if tail.end < count { restart(at: count) }
    // Another server's name may be of an earlier place: what is read twice is left out.
    return start(for: tail.end)
  }

  /// The place before an element, to be kept.
  func place(at position: Int) -> RemotePlace {
    switch server {
    case .ours(let identity):
      RemotePlace(
        position: position, offset: ListOffset(identity, position).name, named: position,
        isOurs: true)
    case .other, .unknown:
      if let name = names.last(where: { $0.position <= position }) {
        RemotePlace(
          position: position, offset: name.offset, named: name.position, isOurs: false)
      } else {
        .beginning
      }
    }
  }

  // MARK: Answers

  /// Elements, and the offset behind them.
  struct Answer {
    var elements: [Element]
    /// How many bytes each element has.
    var sizes: [Int]
    var next: String
    var isUpToDate: Bool
    var isClosed: Bool
    /// Whether it comes from an endpoint of ours.
    var isOurs: Bool
    var isLive: Bool
    /// What the server wants to hear with the next live request.
    var cursor: String?
    /// How long the server wants a client to pause that has lost its connection.
    var pause: Duration?
  }

  /// Takes the answer to a request that began at a position.
  mutating func take(_ answer: Answer, from position: Int) throws(RemoteAnswerError) {
    let end = position + answer.elements.count
    if answer.elements.isEmpty, !answer.isLive, !answer.isUpToDate, !answer.isClosed {
      throw .corrupt("the server has no element there, and says that it has")
    }
    // Also if it says that the list has ended there.
    if answer.elements.isEmpty, position < count, !answer.isLive || answer.isClosed {
      throw .lacking(from: position)
    }
    if answer.isOurs {
      guard let offset = ListOffset(answer.next) else {
        throw .corrupt("\(answer.next) is no offset")
      }
      // An endpoint refuses an offset of another list: if it did not, bytes were damaged on their way, and
      // the next request, which names the identity again, brings the elements or the refusal.
      if case .ours(let known?) = server, offset.identity != known {
        throw .corrupt("offset \(answer.next) is of another list than the one that was asked for")
      }
      try recognize(offset.identity)
      let start = offset.position - answer.elements.count
      if start > position, position == 0, count == 0 { throw trimmed(before: start) }
      guard offset.position == end else {
        throw .corrupt("offset \(offset.position) follows \(end) elements")
      }
    } else {
      if server == .unknown { server = .other }
      guard server == .other else { throw .corrupt("the server has become another one") }
      try note(answer.next, at: end, hasElements: !answer.elements.isEmpty)
    }
    keep(answer, from: position)
    if end > count { count = end }
    if answer.isClosed, end == count { isEnded = true }
    believers = answer.isUpToDate && end == count ? 1 : 0
  }

  /// Those that were told of the last answer may believe once, each, that nothing is behind it.
  mutating func told(_ readers: Int) {
    if believers > 0 { believers = max(believers, readers) }
  }

  /// How far the list is known.
  struct Reach: Hashable {
    var count: Int
    var isEnded: Bool
  }

  var reach: Reach { Reach(count: count, isEnded: isEnded) }

  /// The list's extent, as an endpoint of ours has told it.
  ///
  /// - Parameter asked: what was known when it was asked for. Other answers may have told more since.
  mutating func take(_ extent: ListExtent, asked: Reach) throws(RemoteAnswerError) {
    try recognize(extent.identity)
    if extent.count < asked.count { throw .lacking(from: extent.count) }
    guard extent.count >= count else { return }
    believers = 1
    count = extent.count
    // An end can be taken back.
    isEnded = extent.isEnded || isEnded && !asked.isEnded
  }

  /// The server is another one than ours, and has said nothing of its list.
  mutating func isOther() {
    if server == .unknown { server = .other }
  }

  /// An endpoint of ours says that an offset is of no element, and where its list begins.
  mutating func gone(_ first: ListOffset, from position: Int) -> RemoteAnswerError {
    do throws(RemoteAnswerError) {
      try recognize(first.identity)
    } catch {
      return error
    }
    return first.position > position
      ? trimmed(before: first.position) : .lacking(from: position)
  }

  /// The server has discarded elements: readers may go on behind them.
  private mutating func trimmed(before first: Int) -> RemoteAnswerError {
    count = max(count, first)
    if tail.end < first { restart(at: first) }
    return .final(.list(.trimmed(first: first)))
  }

  private mutating func recognize(_ identity: String?) throws(RemoteAnswerError) {
    switch server {
    case .ours(let known) where known == identity: return
    // A list that did not exist yet, and of which nothing was read.
    case .ours(identity: nil) where count == 0: break
    case .unknown: break
    case .other where hasNamedOnly(identity): break
    case .ours, .other:
      otherList = .otherList(found: identity)
      throw .final(.remote(.otherList(found: identity)))
    }
    server = .ours(identity: identity)
  }

  /// Whether all offsets that the server has named are of a list with this identity: then it is an endpoint
  /// of ours, and the field that says so was lost on its way, as a cache or a proxy may do.
  private func hasNamedOnly(_ identity: String?) -> Bool {
    names.allSatisfy { name in
      name.offset == ListOffset.beginning
        || ListOffset(name.offset) == ListOffset(identity, name.position)
    }
  }

  private mutating func note(
    _ name: String, at position: Int, hasElements: Bool
  ) throws(RemoteAnswerError) {
    if let known = names.last, position > known.position, known.offset != ListOffset.beginning,
      hasElements, name <= known.offset
    {
      throw .corrupt("offset \(name) does not follow \(known.offset)")
    }
    guard let last = names.last, position > last.position else { return }
    names.append(Name(position: position, offset: name))
    if names.count > Self.nameLimit {
      // Half as many, evenly.
      names = names.enumerated().filter {
        $0.offset.isMultiple(of: 2) || $0.offset == names.count - 1
      }
      .map(\.element)
    }
  }

  private mutating func keep(_ answer: Answer, from position: Int) {
    let end = position + answer.elements.count
    if position <= tail.end, end > tail.end, answer.isLive || tail.end == position {
      tail.append(answer, skipping: tail.end - position)
      guard tail.elements.count > 2 * Self.capacity || tail.bytes > 2 * byteCapacity else { return }
      discarded.append(tail.elements)
      var surplus = 0
      // What was just read is wanted next.
      while surplus < tail.elements.count - answer.elements.count,
        tail.elements.count - surplus > Self.capacity || tail.bytes > byteCapacity
      {
        tail.bytes -= tail.sizes[surplus]
        surplus += 1
      }
      tail.start += surplus
      tail.elements.removeFirst(surplus)
      tail.sizes.removeFirst(surplus)
    } else if !answer.isLive {
      discarded.append(page.elements)
      page = Segment(start: position)
      page.append(answer, skipping: 0)
    }
  }

  /// The live connection reads on from a position.
  private mutating func restart(at position: Int) {
    discarded.append(tail.elements)
    tail = Segment(start: position)
  }

  /// Takes the elements that are not kept any more.
  mutating func takeDiscarded() -> [[Element]] {
    defer { discarded = [] }
    return discarded
  }
}
