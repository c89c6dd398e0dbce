/// How much a demand wants. `Segment.end(after:_:)` makes a position of it.
@usableFromInline
package enum Amount: Sendable {
  /// The next element.
  case one
  /// Every element: sources may compute a segment at a time.
  case all
}

/// The properties of a demand, for the producers that it runs.
///
/// One word: every stage passes one on for every element, in a register.
@usableFromInline
package struct Demand: Sendable {
  /// The depth, and in the lowest bits the amount, `stops`, `isGathered`, `mayBeDropped`, and `hasWaited`.
  @usableFromInline var bits: Int

  @inlinable static var wantsAll: Int { 1 }
  @inlinable static var stopping: Int { 2 }
  @inlinable static var gathered: Int { 4 }
  @inlinable static var droppable: Int { 8 }
  @inlinable static var waiting: Int { 16 }
  /// One step of depth.
  @inlinable static var level: Int { 32 }

  @inlinable
  init(_ amount: Amount = .one) {
    bits = fullDepth &* Self.level
    self.amount = amount
  }

  /// The demand for one element of a step that has suspended, and whose driver has left.
  @inlinable static var withoutDriver: Demand {
    var demand = Demand()
    demand.mayBeDropped = true
    return demand
  }

  /// How many more producers may call one another before the stack is unwound.
  @inlinable var depth: Int {
    get { bits >> 5 }
    set { bits = newValue &* Self.level | bits & (Self.level - 1) }
  }

  @inlinable var amount: Amount {
    get { bits & Self.wantsAll == 0 ? .one : .all }
    set { bits = newValue == .all ? bits | Self.wantsAll : bits & ~(Self.wantsAll | Self.gathered) }
  }

  /// The reader begins no asynchronous step if its task is cancelled.
  @inlinable var stops: Bool {
    get { bits & Self.stopping != 0 }
    set { bits = newValue ? bits | Self.stopping : bits & ~Self.stopping }
  }

  /// All elements are wanted, and the engine keeps them: no closure of a reader runs for them, so a list's
  /// task may pass them on itself.
  @inlinable var isGathered: Bool { bits & Self.gathered != 0 }

  /// The demand with which the engine gathers the elements, if all are wanted.
  @inlinable var gathering: Demand {
    var gathering = self
    gathering.bits |= (bits & Self.wantsAll) &* Self.gathered
    return gathering
  }

  /// Whether a cell that is missing may be dropped: nobody comes to wait for it, because there are other
  /// elements to read first. A list that cancels its steps when nobody waits begins none for such a demand.
  @inlinable package var mayBeDropped: Bool {
    get { bits & Self.droppable != 0 }
    set { bits = newValue ? bits | Self.droppable : bits & ~Self.droppable }
  }

  /// The reader has waited for this very cell, and looks again: it is told of an attempt that has failed
  /// meanwhile. Each cursor on the way passes it on only if it has waited at its own cell (``WaitingNote``).
  @inlinable package var hasWaited: Bool {
    get { bits & Self.waiting != 0 }
    set { bits = newValue ? bits | Self.waiting : bits & ~Self.waiting }
  }

  /// The demand that fills cells, if all elements are wanted: those that come before a missing cell are read
  /// before it is waited for.
  @inlinable var forCells: Demand {
    var filling = self
    filling.bits |= (bits & Self.wantsAll) &* (Self.gathered | Self.droppable)
    return filling
  }

  /// The demand to pass on, one call deeper.
  @inlinable var deeper: Demand {
    var deeper = self
    deeper.bits &-= Self.level
    return deeper
  }

  /// The demand for one element with which an asynchronous step pulls, in a task of its own. A driven
  /// task takes as much stack as eight calls.
  @inlinable var forStep: Demand {
    var step = self
    step.bits = (bits &- 8 &* Self.level) & ~(Self.wantsAll | Self.stopping | Self.gathered)
    return step
  }

  /// The same demand for one element: a stage gives it to its sources.
  @inlinable package var forOne: Demand {
    var one = self
    one.amount = .one
    return one
  }
}

/// The number of producers that may call one another before the stack is unwound and the rest is
/// evaluated from its top.
@usableFromInline
let fullDepth = 64
