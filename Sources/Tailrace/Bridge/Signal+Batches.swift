extension Signal {
  /// Returns all that has been sent and not been read yet, as an array: at least one element, and at most
  /// a number of them.
  ///
  /// ```swift
  /// for await events in feed.batches(upTo: 100) { client.write(events) }   // one write for a burst
  /// ```
  /// ![Two elements that are sent at once come as one array.](marbles-signal-batches)
  ///
  /// It never waits for a batch to fill: an element that comes alone is a batch of its own. So a reader that
  /// keeps up gets elements one by one, and one that is slower gets larger batches.
  ///
  /// What has a turn of its own (``deliver(on:)``) comes alone: deliver the batches instead.
  ///
  /// - Parameters:
  ///   - count: how many elements a batch has at most. 1 or more.
  ///   - file: the caller's, for the words of a trap.
  ///   - line: the caller's, too.
  /// - Failure: comes after the elements before it, as the end does.
  ///
  /// Replaces `-bufferWithTime:onScheduler:` where no time is to be waited for.
  @inlinable
  public func batches(
    upTo count: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> Signal<[Element], Failure> {
    require(
      count > 0, "batches(upTo:) takes 1 element or more, not \(count)", file: file, line: line)
    return Signal<[Element], Failure>(
      on: scheduler,
      opening: { [open] in
        let reading = open()
        @Sendable func batch(_ first: Element) -> [Element] {
          var batch = [first]
          while batch.count < count, let element = reading.pop(fetching: true) {
            batch.append(element)
          }
          return batch
        }
        return .derived(
          DerivedReader(
            reading,
            pop: { reading.pop(fetching: $0).map(batch) },
            event: { leavingWhenCancelled in
              switch await reading.event(leavingWhenCancelled: leavingWhenCancelled) {
              case .next(let element): .next(batch(element))
              case .failure(let failure): .failure(failure)
              case .completed: .completed
              case nil: nil
              }
            }))
      })
  }
}
