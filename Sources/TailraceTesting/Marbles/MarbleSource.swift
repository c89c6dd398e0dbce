import Tailrace

/// A line of marbles played in virtual time: as a signal, or as a list.
///
/// <!-- not run: the comments say what each of them is -->
/// ```swift
/// let scheduler = VirtualScheduler()
/// let source = scheduler.source("-1-2-|", of: Int.self)
/// source.signal               // sends 1 after one second and 2 after three, then ends
/// source.signal.stream()      // the same, as an AsyncStream
/// source.list                 // 1 takes a second to compute, and 2 takes two
/// ```
public struct MarbleSource<Element: Sendable, Failure: Error>: Sendable {
  typealias Event = Signal<Element, Failure>.Event

  let scheduler: VirtualScheduler
  let tick: Duration
  let ticks: [[Event]]

  init(
    _ marbles: Marbles, on scheduler: VirtualScheduler, every tick: Duration,
    element: (String) -> Element?, failure: Failure?, _ file: StaticString, _ line: UInt
  ) {
    guard tick > .zero else {
      fatalError("MarbleSource: a tick takes more than \(tick)", file: file, line: line)
    }
    self.scheduler = scheduler
    self.tick = tick
    ticks = marbles.ticks.map { tick in
      tick.map { marble in
        switch marble {
        case .completed: return .completed
        case .failure:
          guard let failure else {
            fatalError(
              "MarbleSource: \(marbles) fails; say with what, as in source(_:failure:)",
              file: file, line: line)
          }
          return .failure(failure)
        case .element(let name):
          guard let element = element(name) else {
            fatalError(
              "MarbleSource: '\(name)' in \(marbles) is not the name of a \(Element.self)",
              file: file, line: line)
          }
          return .next(element)
        }
      }
    }
  }

  // MARK: Signals

  /// A cold signal: each subscription gets the whole line, from its own start.
  ///
  /// - Laziness: deferred.
  /// - Isolation: it sends on the scheduler.
  public var signal: Signal<Element, Failure> {
    Signal { (subscriber: Signal<Element, Failure>.Subscriber) -> Void in play(to: subscriber) }
  }

  /// A hot signal, which plays the line from now on, to all subscriptions.
  ///
  /// Elements sent before the first subscription wait for it.
  public func makeHotSignal() -> Signal<Element, Failure> {
    let (signal, subscriber) = Signal<Element, Failure>.makeSignal()
    play(to: subscriber)
    return signal
  }

  private func play(to subscriber: Signal<Element, Failure>.Subscriber) {
    // Ticks without events count, too: time passes to the end of the line.
    let works = ticks.enumerated().map { index, events in
      scheduler.schedule(after: tick * index) {
        for event in events {
          switch event {
          case .next(let element): subscriber.send(element)
          case .failure(let failure): subscriber.fail(failure)
          case .completed: subscriber.complete()
          }
        }
      }
    }
    // Retains the subscriber: a line without an ending does not complete after its last tick.
    subscriber.onTermination { [subscriber] _ in
      for work in works { work.cancel() }
      withExtendedLifetime(subscriber) {}
    }
  }

  // MARK: Lists

  /// A list whose steps take time. The time from requesting an element to getting it is its
  /// distance from the element before it.
  ///
  /// A reader that takes no time sees the line unchanged; a slow one delays the steps that it has
  /// not requested. Use `signal.memoized()` for a list whose elements do not wait for a reader.
  /// After a line without an ending the reader waits forever.
  ///
  /// - Laziness: stepwise.
  /// - Isolation: the steps run where the first reader runs: on the scheduler, if its task prefers
  ///   it.
  public var list: LazyList<Element, Failure> { MarbleSteps(source: self).memoized() }
}

private struct MarbleSteps<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  let source: MarbleSource<Element, Failure>

  func makeAsyncIterator() -> Iterator { Iterator(source: source) }

  struct Iterator: AsyncIteratorProtocol {
    let source: MarbleSource<Element, Failure>
    /// The tick reached, and the number of its events given.
    private var position = (tick: 0, given: 0)

    init(source: MarbleSource<Element, Failure>) { self.source = source }

    mutating func next() async throws(Failure) -> Element? {
      var gap = 0
      while position.tick < source.ticks.count, source.ticks[position.tick].count == position.given
      {
        position = (position.tick + 1, 0)
        if position.tick < source.ticks.count { gap += 1 }
      }
      do {
        if gap > 0 { try await source.scheduler.sleep(for: source.tick * gap) }
      } catch {
        if let error = error as? Failure { throw error }
        return nil
      }
      guard position.tick < source.ticks.count else { return await never() }
      position.given += 1
      switch source.ticks[position.tick][position.given - 1] {
      case .next(let element): return element
      case .failure(let failure): throw failure
      case .completed: return nil
      }
    }

    /// Waits until the task is cancelled.
    private func never() async -> Element? {
      let (silence, subscriber) = Signal<Element, Never>.makeSignal()
      defer { withExtendedLifetime(subscriber) {} }
      return await silence.first { _ in true }
    }
  }
}
