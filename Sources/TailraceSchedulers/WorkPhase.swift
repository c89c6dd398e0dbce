internal import Synchronization

/// The phase of a piece of scheduled work, as a value: one word that is exchanged whole.
///
/// ```
///            begin               end (done)
///   waiting ───────▶ running ─────────────────▶ over
///      │  ▲             │                        ▲
///      │  └─────────────┘ end (to be continued)  │
///      │ cancel                                  │
///      └─────────────────────────────────────────┘
/// ```
///
/// The thread that changes the word owns the closure from then on: the thread that begins the work
/// may call it, the thread that moves it from `waiting` to `over` releases it. A cancellation of
/// running work leaves a mark, and the running thread does not continue it.
struct WorkPhase: RawRepresentable, AtomicRepresentable, Equatable {
  var rawValue: UInt8

  static let waiting = WorkPhase(rawValue: 0)
  static let queued = WorkPhase(rawValue: queuedBit)
  private static let runningBit: UInt8 = 1
  private static let overBit: UInt8 = 2
  private static let cancelledBit: UInt8 = 4
  private static let observedBit: UInt8 = 8
  private static let queuedBit: UInt8 = 16

  var isRunning: Bool { rawValue & Self.runningBit != 0 }
  var isOver: Bool { rawValue & Self.overBit != 0 }
  var isCancelled: Bool { rawValue & Self.cancelledBit != 0 }
  /// Whether the end is observed.
  var isObserved: Bool { rawValue & Self.observedBit != 0 }

  enum Queueing { case queued, isOver, isQueued }

  /// Enters a queue. The work can be in one at a time.
  mutating func queue() -> Queueing {
    if isOver { return .isOver }
    if rawValue & Self.queuedBit != 0 { return .isQueued }
    rawValue |= Self.queuedBit
    return .queued
  }

  /// Begins a turn. False if there is nothing to run: the work is over or already running.
  mutating func begin() -> Bool {
    guard !isOver, !isRunning else { return false }
    rawValue = rawValue & ~Self.queuedBit | Self.runningBit
    return true
  }

  /// Ends a turn. True if it was the last one.
  mutating func end(continues: Bool) -> Bool {
    rawValue &= ~Self.runningBit
    if continues && !isCancelled { return false }
    rawValue |= Self.overBit
    return true
  }

  /// True if this ends the work; the caller then releases its closure.
  mutating func cancel() -> Bool {
    guard !isOver else { return false }
    rawValue |= Self.cancelledBit
    guard !isRunning else { return false }
    rawValue |= Self.overBit
    return true
  }

  /// Nothing can continue the work any more. True if this ends it.
  mutating func abandon() -> Bool {
    guard !isOver, !isRunning else { return false }
    rawValue |= Self.overBit
    return true
  }

  /// Adds an observer of the end. False if already over.
  mutating func observe() -> Bool {
    guard !isOver else { return false }
    rawValue |= Self.observedBit
    return true
  }
}
