extension Error {
  /// `CancellationError` as this failure type; `nil` if it cannot be one.
  @inlinable @inline(__always)
  static var cancellation: Self? {
    // Specialised code answers the comparison when it is compiled; the cast is a call ("Collecting").
    Self.self == Never.self ? nil : CancellationError() as? Self
  }

  /// A failure found in cells, as the failure type of their list.
  ///
  /// The closures of a list throw no other type. But an element that needs itself, and a step that
  /// has cancelled its own task, fail in every list: if the list cannot throw that, it traps.
  @inlinable
  static func known(_ failure: any Error) -> Self {
    guard let known = failure as? Self else { Self.trap(on: failure) }
    return known
  }

  @usableFromInline
  static func trap(on failure: any Error) -> Never {
    switch failure {
    case let cycle as CyclicEvaluationError: fatalError(cycle.description)
    case is CancellationError:
      fatalError("a step of a LazyList that cannot fail has cancelled its own task")
    default: fatalError("a LazyList that fails with \(Self.self) was given \(failure)")
    }
  }
}
