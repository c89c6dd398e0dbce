import Foundation
import TailraceLists
import TailraceSupport

/// A list of a server, as a source: what a `ListEndpoint` serves, on the other side of the wire.
///
/// ```swift
/// let remote = RemoteList<Token>(transport, path: "/runs/7", element: .json)
/// let tokens = LazyList(reading: remote)
/// for try await token in tokens { print(token.text) }
/// // Hello
/// // world
/// ```
///
/// Elements are read in pages as far as they are there, and then as Server-Sent Events. When the
/// connection is lost, the network changes, the process was suspended or the server is started again, it
/// reads on from its place: each element once, in order. If events do not come through, it uses long polls,
/// and tries events again after some minutes.
///
/// Any number of readers share the elements and one live connection. While no reader waits, no connection is open. The
/// views of one `LazyList` share their elements, too, so make one list of it.
///
/// It speaks the read path of *durable streams*, 1.0, in JSON mode, with any server; our own tell it more,
/// so that a list which was begun again at the same address is never taken for the old one.
///
/// - Isolation: any number of readers at a time. Nothing is sent before a reader requests an element.
/// - Failure: ``RemoteListError``, and `ListStoreError.trimmed(first:)`. A server that does not answer,
///   or with a status that passes (408, 425, 429, 5xx), is asked again, after longer and longer pauses,
///   until `patience` is over. All readers of one `RemoteList` pause together.
/// - Cancellation: a reader that waits throws `CancellationError`. The list on the server continues.
public struct RemoteList<Element: Sendable>: ListSource {
  let core: RemoteCore<Element>

  /// Creates a source. It requests nothing.
  ///
  /// - Parameters:
  ///   - transport: sends a request. It adds what the server wants to have, such as `Authorization`.
  ///   - path: the path of the list, with a query if it has one.
  ///   - element: the elements' coding; one element is a JSON value.
  ///   - place: where this process reads on; positions are those of the list in any case.
  ///   - patience: how long a server that fails is asked again; `nil`: as long as somebody waits.
  ///   - silence: a connection of which nothing is heard for so long is lost.
  ///   - lingering: how long the connection stays when nobody waits.
  ///   - byteLimit: at most how many bytes a page or an event may have; twice as many are kept of elements
  ///     that nobody has read yet.
  ///   - clock: measures times.
  public init(
    _ transport: @escaping RemoteTransport, path: String, element: ByteCoding<Element>,
    from place: RemotePlace = .beginning, patience: Duration? = nil,
    silence: Duration = .seconds(45), lingering: Duration = .seconds(5),
    byteLimit: Int = 16 << 20, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(
      RemoteServer(
        transport: transport, path: path, element: element, silence: silence,
        byteLimit: byteLimit, clock: clock, now: timeFromNow(on: clock),
        chance: { .random(in: 0...1) }), place, patience, lingering)
  }

  init(
    _ server: RemoteServer<Element>, _ place: RemotePlace, _ patience: Duration?,
    _ lingering: Duration
  ) {
    core = RemoteCore(server, from: place, patience: patience, lingering: lingering)
  }

  /// Reads some elements, from a position on. Asks the server, if they are not here.
  public nonisolated(nonsending) func read(
    from position: Int, upTo count: Int
  ) async throws -> ListPage<Element> {
    try await core.read(from: position, upTo: count)
  }

  /// Waits until there may be more than `position` elements, or until the list has ended.
  public nonisolated(nonsending) func waitForMore(than position: Int) async throws {
    try await core.waitForMore(than: position)
  }

  /// Asks the server for identity, first element, count and end.
  ///
  /// A server that is none of ours tells no identity, and its elements are read to count them.
  public nonisolated(nonsending) func extent() async throws -> ListExtent {
    if let extent = try await core.extent() { return extent }
    var extent = ListExtent(
      identity: nil, count: core.count, isEnded: false)
    while true {
      let page = try await read(from: extent.count, upTo: 1000)
      extent.count += page.elements.count
      extent.isEnded = page.isEnd
      if page.elements.isEmpty || page.isEnd { return extent }
    }
  }

  /// The place before the element at a position, to be kept.
  ///
  /// - Parameter position: of an element that was read, or the position after the last one.
  public func place(at position: Int) -> RemotePlace {
    core.place(at: position)
  }
}
