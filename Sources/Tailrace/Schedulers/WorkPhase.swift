internal import Synchronization

/// Where a piece of scheduled work is in its life, as a value: one word that is exchanged whole.
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
/// Whoever moves the word on owns the closure from then on: the thread that begins it may call it,
/// the thread that moves it from `waiting` to `over` releases it. A cancellation that finds the
/// work running leaves a mark, and whoever runs it does not continue it.
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
  /// Somebody wants to hear of the end.
  var isObserved: Bool { rawValue & Self.observedBit != 0 }

  enum Queueing { case queued, isOver, isQueued }

  /// The work takes a place in a line. It can have one at a time.
  mutating func queue() -> Queueing {
    if isOver { return .isOver }
    if rawValue & Self.queuedBit != 0 { return .isQueued }
    rawValue |= Self.queuedBit
    return .queued
  }

  /// It is the work's turn. False if there is nothing to run: it is over, or runs already.
  mutating func begin() -> Bool {
    guard !isOver, !isRunning else { return false }
    rawValue = rawValue & ~Self.queuedBit | Self.runningBit
    return true
  }

  /// The turn is over. True if that was the last one.
  mutating func end(continues: Bool) -> Bool {
    rawValue &= ~Self.runningBit
    if continues && !isCancelled { return false }
    rawValue |= Self.overBit
    return true
  }

  /// True if the work is over by that, and its closure is the caller's to release.
  mutating func cancel() -> Bool {
    guard !isOver else { return false }
    rawValue |= Self.cancelledBit
    guard !isRunning else { return false }
    rawValue |= Self.overBit
    return true
  }

  /// Nobody can continue the work any more. True if it is over by that.
  mutating func abandon() -> Bool {
    guard !isOver, !isRunning else { return false }
    rawValue |= Self.overBit
    return true
  }

  /// Somebody wants to hear of the end. False if it is over already.
  mutating func observe() -> Bool {
    guard !isOver else { return false }
    rawValue |= Self.observedBit
    return true
  }
}
