import Foundation
import TailraceLists
import TailraceSupport

/// The shell of an endpoint's shared tail: lets responses wait, and reads for them.
final class TailReader<Source: ListSource>: Sendable {
  enum Outcome: Sendable {
    case more
    /// This list is gone.
    case changed
    case timedOut
    case failed(any Error)
    case cancelled
  }

  private struct Contents: Sendable {
    var tail: SharedTail
    /// The last page that was made for a response that had waited.
    var lastPage: EncodedPage?
    var lastEvents: (cursor: String, bytes: Data)?
  }

  private typealias Reader = AwaitedTask<Contents, Outcome>

  let source: Source
  let encode: @Sendable (Source.Element) throws -> Data
  private let pageBytes: Int
  private let reader: Reader

  /// At most how many elements are read at once: the rest of a page that is full of bytes is read in vain.
  static var readLimit: Int { 128 }

  var clock: any Clock<Duration> { reader.clock }
  var now: @Sendable () -> Duration { reader.now }

  init(
    _ source: Source, pageLimit: Int, pageBytes: Int, clock: any Clock<Duration>,
    encode: @escaping @Sendable (Source.Element) throws -> Data
  ) {
    self.source = source
    self.encode = encode
    self.pageBytes = pageBytes
    let tail = SharedTail(limit: min(pageLimit, 1024), byteLimit: max(pageBytes, 1 << 20))
    reader = Reader(
      Contents(tail: tail), lingers: false, clock: clock, now: timeFromNow(on: clock),
      timedOut: .timedOut, cancelled: .cancelled)
  }

  // MARK: Responses

  /// The elements from a position on, up to another one, if all that fit in a page are here.
  func page(
    _ identity: String?, from position: Int, upTo end: Int, _ limit: Int
  ) -> EncodedPage? {
    guard position < end else { return nil }
    let page = reader.update { contents, _ in
      contents.tail.page(identity, from: position, upTo: end, limit, pageBytes)
    }
    guard let page else { return nil }
    let isFull = page.next == end || page.count == limit || page.json.count > pageBytes
    return isFull ? page : nil
  }

  /// The elements behind a position at which a response has waited, if they are here.
  func page(_ identity: String?, from position: Int, _ limit: Int) -> EncodedPage? {
    reader.update { contents, _ in
      // All that have waited want the same.
      if let last = contents.lastPage, last.start == position, last.identity == identity,
        last.count <= limit, last.next == contents.tail.end, last.isEnd == contents.tail.isEnded
      {
        return last
      }
      let page = contents.tail.page(identity, from: position, limit, pageBytes)
      if let page { (contents.lastPage, contents.lastEvents) = (page, nil) }
      return page
    }
  }

  /// A page as events.
  func events(_ page: EncodedPage, cursor: String) -> Data {
    func isLast(_ contents: Contents) -> Bool {
      guard let last = contents.lastPage else { return false }
      return last.identity == page.identity && last.start == page.start && last.next == page.next
        && last.isEnd == page.isEnd && last.isUpToDate == page.isUpToDate
    }
    let known = reader.update { contents, _ in
      isLast(contents) && contents.lastEvents?.cursor == cursor ? contents.lastEvents?.bytes : nil
    }
    if let known { return known }
    let bytes = page.events(cursor: cursor)
    reader.update { contents, _ in
      if isLast(contents) { contents.lastEvents = (cursor, bytes) }
    }
    return bytes
  }

  /// Keeps elements that were read for one response.
  func offer(_ elements: [Data], isEnd: Bool, _ identity: String?, at position: Int) {
    reader.update { contents, awaited in
      let news = contents.tail.offer(
        elements, isEnd: isEnd, identity, at: position, isAwaited: awaited.isRunning)
      Self.tell(news, contents, &awaited)
    }
  }

  /// Waits until there are more than `position` elements, the list has ended, or it is gone.
  nonisolated(nonsending) func wait(
    _ identity: String?, than position: Int, until deadline: Duration
  ) async -> Outcome {
    await reader.wait { contents, awaited in
      let wait = contents.tail.wait(identity, than: position)
      guard wait != .ready else { return .over(.more) }
      // With those that waited elsewhere, their reader ends.
      if wait == .moves { awaited.wake(.more) { _ in true } }
      return .waits(number: awaited.enter(position, deadline: deadline))
    } work: { [self] run in
      await read(run)
    }
  }

  /// Tells those that have waited for some news.
  private static func tell(
    _ news: SharedTail.News, _ contents: Contents, _ awaited: inout Reader.Awaited
  ) {
    switch news {
    case .none: break
    case .more:
      let (end, isEnded) = (contents.tail.end, contents.tail.isEnded)
      awaited.wake(.more) { position in position < end || isEnded }
    case .changed: awaited.wake(.changed) { _ in true }
    }
  }

  // MARK: The reader

  private func read(_ run: Int) async {
    while true {
      let step = reader.update { contents, awaited in
        awaited.isPresent(run) ? contents.tail.next : nil
      }
      do {
        switch step {
        case nil: return
        case .wait(let position)?:
          try await source.waitForMore(than: position)
          reader.update { contents, awaited in
            if awaited.isPresent(run) { contents.tail.didWait() }
          }
        case .read(let position)?:
          let page = try await source.read(from: position, upTo: Self.readLimit)
          let elements = try page.elements.map(encode)
          // After the read: an identity never comes back.
          let identity = try await source.extent().identity
          reader.update { contents, awaited in
            guard awaited.isPresent(run) else { return }
            let news = contents.tail.didRead(elements, isEnd: page.isEnd, identity, at: position)
            Self.tell(news, contents, &awaited)
          }
        }
      } catch {
        reader.update { contents, awaited in
          guard awaited.isOver(run) else { return }
          contents.tail.failed()
          awaited.wake(.failed(error)) { _ in true }
        }
        return
      }
    }
  }
}
