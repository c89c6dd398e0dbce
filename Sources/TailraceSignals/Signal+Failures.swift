import TailraceLists

extension Signal {
  /// This signal, for folds that end when their task is cancelled.
  ///
  /// ```swift
  /// let first = try await presses.throwingCancellation.first { $0 > 1 }
  /// ```
  ///
  /// - Failure: the signal's own, if it has one.
  /// - Cancellation: throws `CancellationError`. See <doc:Cancellation>.
  public var throwingCancellation: Signal<Element, any Error> { widened() }

  /// The same events, for a signal that may fail with any error.
  func widened() -> Signal<Element, any Error> {
    Signal<Element, any Error>(
      on: scheduler,
      opening: { [open] in
        .derived(
          DerivedReader(open()) { event in
            switch event {
            case .next(let element): (.next(element), isLast: false)
            case .failure(let failure): (.failure(failure), isLast: true)
            case .completed: (.completed, isLast: true)
            }
          })
      })
  }
}

extension Signal where Failure == Never {
  /// Returns this signal as one that may fail, to merge it with signals that do.
  ///
  /// ```swift
  /// let events = downloads.merging(presses.setFailureType(to: (any Error).self))
  /// ```
  ///
  /// - Failure: none.
  public func setFailureType<E: Error>(to type: E.Type = E.self) -> Signal<Element, E> {
    Signal<Element, E>(
      on: scheduler,
      opening: { [open] in
        .derived(
          DerivedReader(open()) { event in
            switch event {
            case .next(let element): (.next(element), isLast: false)
            case .completed: (.completed, isLast: true)
            }
          })
      })
  }
}

extension Signal {
  /// Returns this signal as one that may fail with any error, to merge it with signals that do.
  ///
  /// - Failure: the signal's own.
  @_disfavoredOverload
  public func setFailureType(
    to type: (any Error).Type = (any Error).self
  ) -> Signal<Element, any Error> {
    widened()
  }

  /// Returns the elements of this signal and of one that fails in another way, each as soon as it is
  /// sent.
  ///
  /// ```swift
  /// let events = downloads.merging(presses)   // presses cannot fail
  /// ```
  ///
  /// Several are merged by `setFailureType()` of each: `a.merging(b.setFailureType(),
  /// c.setFailureType())`.
  ///
  /// - Failure: any error; the first failure ends the signal.
  @_disfavoredOverload
  public func merging<E: Error>(_ other: Signal<Element, E>) -> Signal<Element, any Error> {
    widened().merging(other.widened())
  }

  /// Returns the elements of this signal and of one that cannot fail, each as soon as it is sent.
  ///
  /// - Failure: this signal's.
  @_disfavoredOverload
  public func merging(_ other: Signal<Element, Never>) -> Signal {
    merging(other.setFailureType(to: Failure.self))
  }
}

extension Signal: CustomStringConvertible {
  /// The type, and the scheduler on which its events come, if there is one. It subscribes to nothing.
  public var description: String {
    "Signal<\(Element.self), \(Failure.self)>" + (scheduler.map { "(on \($0))" } ?? "")
  }
}

extension Signal.Subscriber: CustomStringConvertible {
  /// The type, and whether sending has an effect.
  public var description: String {
    "Signal<\(Element.self), \(Failure.self)>.Subscriber(\(isTerminated ? "over" : "open"))"
  }
}
