import TailraceLists
import TailraceSchedulers

extension Signal {
  /// Returns the same events, each in its own turn of a scheduler.
  ///
  /// ```swift
  /// downloads.deliver(on: QueueScheduler.main).subscribe { event in
  ///   show(event)   // on the main queue
  /// }
  /// ```
  ///
  /// Work queued on the scheduler between two events runs between them.
  ///
  /// - Isolation: the handler of ``subscribe(_:)`` runs on the scheduler, unless it is isolated to
  ///   an actor. The body of a `for await` loop runs in the loop's isolation, after a turn of the
  ///   scheduler.
  ///
  /// Replaces `-deliverOn:`.
  public func deliver(on scheduler: any Scheduler) -> Signal {
    Signal(
      on: scheduler,
      opening: { [open] in
        let reading = open()
        return .derived(
          DerivedReader(
            reading,
            event: { leavingWhenCancelled in
              let event = await reading.event(leavingWhenCancelled: leavingWhenCancelled)
              guard event != nil else { return nil }
              await scheduler.turn()
              // Cancelled in the meantime: the reader gets nothing more.
              guard leavingWhenCancelled, Task.isCancelled else { return event }
              reading.cancel()
              return nil
            }))
      })
  }
}

extension Scheduler {
  /// Waits until the scheduler has done its earlier work, or until the task is cancelled.
  @usableFromInline
  nonisolated(nonsending) func turn() async {
    let work: ScheduledWork = schedule {}
    await work.endOrCancellation()
  }
}
