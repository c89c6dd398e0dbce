/// What can be seen of a stage from outside, while it does not run: what it pulls from.
struct StageView {
  /// Stages whose elements nobody else can see, and which are pulled from directly.
  var stages: [any Staged] = []
  /// Lists, each from where the stage stands in it.
  var lists: [(list: any LookedList, isFused: Bool)] = []
  /// Somebody pulls right now, beside the list.
  var isBusy = false
}

/// A part of a stage's state that pulls from lists.
///
/// Guard: as the stage's own. It is `mutating` to see who else holds a list; nothing is changed.
protocol Lookable {
  mutating func look(_ view: inout StageView)
}

/// An object that a stage pulls from.
protocol Upstream: AnyObject {
  func look(_ view: inout StageView)
}

/// Looks at a value where it is, if there is anything to see.
func look<Value>(at value: inout Value, _ view: inout StageView) {
  guard let type = Value.self as? any Lookable.Type else { return }
  func look<Seen: Lookable>(as _: Seen.Type) {
    withUnsafeMutablePointer(to: &value) { pointer in
      // The same type, by another name.
      UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: Seen.self).pointee.look(&view)
    }
  }
  look(as: type)
}

extension Owned: Upstream {
  func look(_ view: inout StageView) { Tailrace.look(at: &state, &view) }
}

extension Pulling: Lookable {
  mutating func look(_ view: inout StageView) {
    source.look(&view)
    Tailrace.look(at: &state, &view)
  }
}

extension Optional: Lookable where Wrapped: Lookable {
  mutating func look(_ view: inout StageView) { self?.look(&view) }
}

extension Row: Lookable {
  mutating func look(_ view: inout StageView) { Tailrace.look(at: &peers, &view) }
}

extension Peers: Lookable {
  mutating func look(_ view: inout StageView) {
    Tailrace.look(at: &first, &view)
    Tailrace.look(at: &others, &view)
  }
}

extension Peer: Lookable {
  mutating func look(_ view: inout StageView) { source.look(&view) }
}

extension LazyList.Definition: Lookable {
  mutating func look(_ view: inout StageView) { source?.look(&view) }
}

/// The lists of a zip of many, or of a list of lists.
final class Upstreams: Upstream {
  private var all: [any Upstream]

  init(_ first: any Upstream) { all = [first] }

  func add(_ upstream: any Upstream) { all.append(upstream) }

  func look(_ view: inout StageView) { for upstream in all { upstream.look(&view) } }
}

/// The list of lists, and the one of them that is read.
@usableFromInline
final class JoinedUpstream<Outer, Inner>: Upstream {
  private let outer: Owned<Outer>
  private let inner: Owned<Inner>

  @usableFromInline
  init(_ outer: Owned<Outer>, _ inner: Owned<Inner>) { (self.outer, self.inner) = (outer, inner) }

  func look(_ view: inout StageView) {
    outer.look(&view)
    inner.look(&view)
  }
}

extension Cursor: Lookable {
  mutating func look(_ view: inout StageView) {
    if let producer { return view.stages.append(producer) }
    guard var segment = segment.take() else { return }
    let isFused = takesOver && Segment.isTakenOver(&segment, at: index, names: 0)
    view.lists.append((LazyList<Element, any Error>(segment: segment, offset: index), isFused))
    self.segment = segment
  }
}

extension Segment {
  /// Whether a cursor that holds the segment takes the producer over when it pulls: nobody else can see
  /// what that would give.
  fileprivate static func isTakenOver(_ segment: inout Segment, at index: Int, names: Int) -> Bool {
    guard isKnownUniquelyReferenced(&segment) else { return false }
    let mark = segment.published.load(ordering: .acquiring)
    if !mark.isClosed, let owner = segment.owner { return index == mark.count && owner.task == nil }
    // A name is a segment without cells, and nobody but the cursor sees this one.
    guard segment.label != nil, mark.count == 0, names < 8 else { return false }
    var link = segment.unlinked()
    guard case .more(var next, let offset) = link else {
      segment.link = link
      return false
    }
    link = .end
    defer { segment.link = .more(next, offset) }
    return isTakenOver(&next, at: offset + index, names: names + 1)
  }
}
