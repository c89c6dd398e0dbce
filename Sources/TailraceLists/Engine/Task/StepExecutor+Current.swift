// The context of the running code.
extension StepExecutor {
  /// The list whose step the running code belongs to: its task, or a child of that.
  @usableFromInline
  static var current: StepExecutor? {
    WorkerToken.runningWorker as? StepExecutor
  }

  /// The executor on which tasks of the running code may go on after a suspension.
  @usableFromInline
  package static var preferredHome: (any TaskExecutor)? {
    guard let preferred = preferredExecutor else { return nil }
    if let step = preferred as? StepExecutor { return step.home }
    return preferred
  }

  /// Starts a task there.
  // A task told to prefer no executor remembers that, and asks for it at each switch.
  @usableFromInline
  static func atHome(_ run: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    guard let home = preferredHome else { return Task(operation: run) }
    return Task(executorPreference: home, operation: run)
  }

  static var preferredExecutor: (any TaskExecutor)? {
    guard #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else {
      return nil
    }
    return withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
  }
}
