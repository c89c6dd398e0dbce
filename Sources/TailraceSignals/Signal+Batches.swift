import TailraceLists
import TailraceSupport

extension Signal {
  /// Returns the elements that were sent and not read yet, as arrays of at least one element and
  /// at most a given number.
  ///
  /// ```swift
  /// for await events in feed.batches(upTo: 100) { client.write(events) }   // one write for a burst
  /// ```
  /// ![Two elements that are sent at once come as one array.](marbles-signal-batches)
  ///
  /// It never waits for a batch to fill: an element that comes alone is its own batch. A fast
  /// reader gets elements one by one, and a slower one gets larger batches. Behind a filter, a long
  /// run of rejected elements also ends a batch.
  ///
  /// Elements that each have their own turn (``deliver(on:)``) come alone: deliver the batches
  /// instead.
  ///
  /// - Parameters:
  ///   - count: the most elements in a batch. 1 or more.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Failure: comes after the elements before it, like the end.
  ///
  /// Replaces `-bufferWithTime:onScheduler:` where no waiting time is needed.
  @_alwaysEmitIntoClient
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
