/// The visible upstreams of a stage that does not run.
struct StageView {
  /// Stages that are pulled directly, and whose elements are not visible elsewhere.
  var stages: [any Staged] = []
  /// Lists, each from the stage's place in it.
  var lists: [(list: any LookedList, isFused: Bool)] = []
  /// A pull is in progress, beside the list.
  var isBusy = false
}

/// A part of a stage's state that pulls from lists.
///
/// Guard: as the stage's own. It is `mutating` to see other references to a list; nothing is
/// changed.
protocol Lookable {
  mutating func look(_ view: inout StageView)
}

/// An object that a stage pulls from.
protocol Upstream: AnyObject {
  func look(_ view: inout StageView)
}

/// Inspects a value in place, if it has anything to show.
func look<Value>(at value: inout Value, _ view: inout StageView) {
  guard let type = Value.self as? any Lookable.Type else { return }
  func look<Seen: Lookable>(as _: Seen.Type) {
    withUnsafeMutablePointer(to: &value) { pointer in
      // The same type under another name.
      UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: Seen.self).pointee.look(&view)
    }
  }
  look(as: type)
}

extension Owned: Upstream {
  func look(_ view: inout StageView) { TailraceLists.look(at: &state, &view) }
}

extension Pulling: Lookable {
  mutating func look(_ view: inout StageView) {
    source.look(&view)
    TailraceLists.look(at: &state, &view)
  }
}

extension Optional: Lookable where Wrapped: Lookable {
  mutating func look(_ view: inout StageView) { self?.look(&view) }
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

/// The list of lists, and the inner list being read.
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
  /// Whether a cursor that holds the segment takes over the producer when it pulls: its elements
  /// are not visible elsewhere.
  fileprivate static func isTakenOver(_ segment: inout Segment, at index: Int, names: Int) -> Bool {
    guard isKnownUniquelyReferenced(&segment) else { return false }
    let mark = segment.mark
    if !mark.isClosed, segment.owner != nil { return index == mark.count }
    // A name is a segment without cells, visible only to the cursor.
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

extension Concatenation: Upstream {
  func look(_ view: inout StageView) {
    front?.look(&view)
    guard let rest else { return }
    var pile = [rest]
    while let pieces = pile.popLast(), view.lists.count < Sketch.limit {
      switch pieces.shape {
      case .leaf(let leaf): view.lists.append((leaf.list, false))
      case .pair(let left, let right): pile += [right, left]
      }
    }
  }
}
