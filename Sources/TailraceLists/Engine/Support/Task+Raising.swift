extension Task where Success == Void, Failure == Never {
  /// Raises the priority soon, if the platform can. The caller may be an escalation handler.
  ///
  /// - Important: a caller that may be a handler asks for each priority once: chains of waits may
  ///   become cycles for a moment.
  @usableFromInline
  func raise(to priority: TaskPriority) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    RaiseQueue.add(self, to: priority)
  }
}
