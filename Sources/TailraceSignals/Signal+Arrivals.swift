import TailraceLists
import TailraceSupport

extension Signal {
  /// An element of ``Signal/arrivals``: one that was sent, or the number of elements missing
  /// here.
  public enum Arrival: Sendable {
    /// The next element that was kept.
    case element(Element)
    /// The policy dropped this many elements here, because the reader was too slow.
    case dropped(Int)
  }

  /// The elements, and between them the number of dropped ones.
  ///
  /// ```swift
  /// let (levels, meter) = Signal<Int, Never>.makeSignal(bufferingPolicy: .bufferingNewest(2))
  /// for level in 1...5 { meter.send(level) }
  /// meter.complete()
  /// await levels.arrivals.array()   // [.dropped(3), .element(4), .element(5)]
  /// ```
  ///
  /// The number takes the place of the dropped elements.
  public var arrivals: Signal<Arrival, Failure> {
    Signal<Arrival, Failure>(
      on: scheduler,
      opening: { [open] in
        let reader = ArrivalsReader(open())
        return .derived(
          DerivedReader(
            reader.reading, pop: { reader.pop(fetching: $0) },
            event: { await reader.event(leavingWhenCancelled: $0) }))
      })
  }
}

extension Signal.Arrival: Equatable where Element: Equatable {}
extension Signal.Arrival: Hashable where Element: Hashable {}

/// Reads a subscription, and returns the number of missing elements before the element behind them,
/// which it holds meanwhile.
///
/// Copies of an iterator take turns: one of them reads, the others wait in a line. If they all slept
/// in the subscription, an element that one of them holds would wake nobody.
// Guard: the isolation of an iterator, which its copies share.
// May touch it: the task that reads.
private final class ArrivalsReader<Element: Sendable, Failure: Error>: @unchecked Sendable {
  typealias Arrival = Signal<Element, Failure>.Arrival

  let reading: Reading<Element, Failure>
  /// How many dropped elements have been returned as missing.
  private var toldCount = 0
  private var held: Element?
  /// Whether a reader waits for the subscription.
  private var isReading = false
  private let lock = AsyncLock(for: "arrivals of a signal")

  init(_ reading: Reading<Element, Failure>) { self.reading = reading }

  func pop(fetching: Bool) -> Arrival? {
    guard !isReading else { return nil }
    if let element = held.take() { return .element(element) }
    return reading.pop(fetching: fetching).map { arrival($0) }
  }

  nonisolated(nonsending) func event(
    leavingWhenCancelled: Bool
  ) async -> Signal<Arrival, Failure>.Event? {
    guard await lock.lock(cancellable: leavingWhenCancelled) else {
      // It ends the subscription, and so the turns of those before.
      reading.cancel()
      return nil
    }
    isReading = true
    defer {
      isReading = false
      lock.unlock()
    }
    let leaves = leavingWhenCancelled && Task.isCancelled
    if !leaves, let element = held.take() { return .next(.element(element)) }
    switch await reading.event(leavingWhenCancelled: leavingWhenCancelled) {
    case .next(let element): return .next(arrival(element))
    case .failure(let failure): return missing().map { .next(.dropped($0)) } ?? .failure(failure)
    case .completed: return missing().map { .next(.dropped($0)) } ?? .completed
    case nil:
      held = nil
      return nil
    }
  }

  private func arrival(_ element: Element) -> Arrival {
    guard let missing = missing() else { return .element(element) }
    held = element
    return .dropped(missing)
  }

  /// How many elements are missing before the event read last; `nil` if none, or if already told.
  private func missing() -> Int? {
    let droppedCount = reading.droppedCount
    defer { toldCount = droppedCount }
    return droppedCount > toldCount ? droppedCount - toldCount : nil
  }
}
