import TailraceLists
import TailraceSupport

// Operators that return a signal, so that a chain can end in `deliver(on:)` and `subscribe`. They
// take plain closures; for others, `AsyncSequence` has operators of the same names.

extension Signal {
  /// Returns each element transformed by a closure.
  ///
  /// ```swift
  /// presses.map { "pressed \($0)" }.deliver(on: QueueScheduler.main)
  ///   .subscribe { event in show(event) }
  /// ```
  /// ![Each element times ten, at the same instant.](marbles-signal-map)
  ///
  /// - Isolation: the closure runs in the reading task, once for each subscription.
  ///
  /// Replaces `-map:`.
  @_alwaysEmitIntoClient
  public func map<Output: Sendable>(
    _ transform: @escaping @Sendable (Element) -> Output
  ) -> Signal<Output, Failure> {
    judging { { (transform($0), isLast: false) } }
  }

  /// Returns the elements that satisfy a predicate.
  ///
  /// ```swift
  /// await ticks.filter { $0 > 1 }.array()   // [2, 3]
  /// ```
  /// ![All but the second element.](marbles-signal-filter)
  ///
  /// Replaces `-filter:`.
  @_alwaysEmitIntoClient
  public func filter(_ isIncluded: @escaping @Sendable (Element) -> Bool) -> Signal {
    judging { { (isIncluded($0) ? $0 : nil, isLast: false) } }
  }

  /// Returns each element transformed by a closure, without the `nil` results.
  ///
  /// ```swift
  /// await words.compactMap { Int($0) }.array()   // [1, 3]
  /// ```
  /// ![An element that becomes nil is left out.](marbles-signal-compactMap)
  @_alwaysEmitIntoClient
  public func compactMap<Output: Sendable>(
    _ transform: @escaping @Sendable (Element) -> Output?
  ) -> Signal<Output, Failure> {
    judging { { (transform($0), isLast: false) } }
  }

  /// Returns the first elements; the last of them ends the subscription.
  ///
  /// ```swift
  /// await presses.prefix(3).array()   // [1, 2, 3]; returns with the third press
  /// ```
  /// ![The end comes with the second element.](marbles-signal-prefix)
  ///
  /// - Parameters:
  ///   - count: how many elements; 0 or more. With 0 there is no subscription.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///
  /// Replaces `-take:`.
  @_alwaysEmitIntoClient
  public func prefix(_ count: Int, file: StaticString = #fileID, line: UInt = #line) -> Signal {
    require(count >= 0, "prefix(_:) takes 0 or more, not \(count)", file: file, line: line)
    guard count > 0 else {
      let nothing = Signal { (subscriber: Subscriber) -> Void in }
      return Signal(on: scheduler, opening: nothing.open)
    }
    return judging {
      let rest = Owned(count)
      return { element in
        rest.state -= 1
        return (element, isLast: rest.state == 0)
      }
    }
  }

  /// The signal of the elements that a rule makes. It makes none of some elements, and says which is
  /// the last.
  ///
  /// - Parameter makeJudge: makes the rule of one subscription.
  @_alwaysEmitIntoClient
  func judging<Output: Sendable>(
    _ makeJudge: @escaping @Sendable () -> @Sendable (Element) -> (element: Output?, isLast: Bool)
  ) -> Signal<Output, Failure> {
    Signal<Output, Failure>(
      on: scheduler,
      opening: { [open] in
        let judge = makeJudge()
        return .derived(
          DerivedReader(open()) { event in
            switch event {
            case .next(let element):
              let (output, isLast) = judge(element)
              return (output.map { .next($0) }, isLast)
            case .failure(let failure): return (.failure(failure), isLast: true)
            case .completed: return (.completed, isLast: true)
            }
          })
      })
  }
}
