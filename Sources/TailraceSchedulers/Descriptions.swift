extension QueueScheduler: CustomStringConvertible {
  /// The type and the name, such as `QueueScheduler(parsing)`.
  public final var description: String { "QueueScheduler(\(name))" }
}

extension ImmediateScheduler: CustomStringConvertible {
  /// The type: there is only one instance.
  public var description: String { "ImmediateScheduler" }
}

extension ScheduledWork: CustomStringConvertible {
  /// The type and how the work is getting on: `waiting`, `cancelled` or `over`.
  ///
  /// Work whose turn is running is `waiting` until it is over.
  public var description: String {
    let phase = isCancelled ? "cancelled" : isOver ? "over" : "waiting"
    return "ScheduledWork(\(phase))"
  }
}
