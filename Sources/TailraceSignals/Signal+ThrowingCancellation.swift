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
  public var throwingCancellation: Signal<Element, any Error> {
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
