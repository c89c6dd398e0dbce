import TailraceLists

/// The visible sources of a stage that does not run.
struct StageView {
  /// Stages that are pulled directly, and whose elements are not visible elsewhere.
  var stages: [any Staged] = []
  /// Lists, each from the stage's place in it.
  var lists: [(list: any LookedList, isFused: Bool)] = []
  /// A pull is in progress, beside the list.
  var isBusy = false
}

/// A stage, as inspected. Guard: the stage's own.
protocol Staged: AnyObject {
  var stage: StageName? { get }
  /// The stage's source: an object that can be inspected while the stage does not run.
  var upstream: AnyObject? { get }
  /// Whether a step of it runs, or is suspended.
  var isComputing: Bool { get }
}

extension Producer: Staged {}

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
private func inspect<Value>(_ value: inout Value, _ view: inout StageView) {
  guard let type = Value.self as? any Lookable.Type else { return }
  func look<Seen: Lookable>(as _: Seen.Type) {
    withUnsafeMutablePointer(to: &value) { pointer in
      // The same type under another name.
      UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: Seen.self).pointee.look(&view)
    }
  }
  look(as: type)
}

extension Cursor: Lookable {
  mutating func look(_ view: inout StageView) {
    switch drawn {
    case .producer(let producer): view.stages.append(producer)
    case .list(let place, let isTakenOver):
      view.lists.append((LazyList<Element, any Error>(place), isTakenOver))
    case nil: break
    }
  }
}

extension Optional: Lookable where Wrapped: Lookable {
  mutating func look(_ view: inout StageView) { self?.look(&view) }
}

extension Owned: Upstream {
  func look(_ view: inout StageView) { inspect(&state, &view) }
}

// MARK: The states of stages

extension Pulling: Lookable {
  mutating func look(_ view: inout StageView) {
    source.look(&view)
    inspect(&state, &view)
  }
}

extension LazyList.Definition: Upstream {
  func look(_ view: inout StageView) { source?.look(&view) }
}

extension Row: Lookable {
  mutating func look(_ view: inout StageView) { inspect(&peers, &view) }
}

extension Peers: Lookable {
  mutating func look(_ view: inout StageView) {
    inspect(&first, &view)
    inspect(&others, &view)
  }
}

extension Peer: Lookable {
  mutating func look(_ view: inout StageView) { source.look(&view) }
}

extension Column: Upstream {
  func look(_ view: inout StageView) { peer.look(&view) }
}

extension Columns: Upstream {
  func look(_ view: inout StageView) {
    for column in all { (column as? any Upstream)?.look(&view) }
  }
}

extension JoinedSources: Upstream {
  func look(_ view: inout StageView) {
    outer.look(&view)
    inner.look(&view)
  }
}

extension Concatenation: Upstream {
  func look(_ view: inout StageView) {
    front?.look(&view)
    for place in places(atMost: Sketch.limit) {
      view.lists.append((LazyList<Element, any Error>(place), false))
    }
  }
}

extension LookaheadOwner: Upstream {
  func look(_ view: inout StageView) {
    if !lendSource({ $0.look(&view) }) { view.isBusy = true }
  }
}
