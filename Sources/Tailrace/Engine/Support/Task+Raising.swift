extension Task where Success == Void, Failure == Never {
  /// Raises the priority, if the platform can.
  @inlinable
  func raise(to priority: TaskPriority) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      escalatePriority(to: priority)
    }
  }
}
