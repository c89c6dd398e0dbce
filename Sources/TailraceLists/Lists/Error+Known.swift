import TailraceSupport

extension Error {
  /// What a cancelled reader throws, as this failure type; `nil` if the type cannot say it.
  ///
  /// It may look up a conformance: to be asked once for a reader, or where one was cancelled.
  @inlinable @inline(__always)
  package static var cancellation: Self? {
    // Specialised code answers the comparison when it is compiled; the rest is a call ("Collecting").
    Self.self == Never.self ? nil : cancellationIfAny
  }

  @inlinable @inline(never)
  static var cancellationIfAny: Self? {
    if let error = CancellationError() as? Self { return error }
    return (Self.self as? any CancellableFailure.Type)?.cancelled as? Self
  }

  /// A failure found in cells, as the failure type of their list.
  ///
  /// The closures of a list throw no other type. But an element that needs itself, and a step that
  /// has cancelled its own task, fail in every list: if the list cannot throw that, it traps.
  @inlinable
  package static func known(_ failure: any Error) -> Self {
    if let known = failure as? Self { return known }
    if failure is CancellationError, let known = Self.cancellation { return known }
    Self.trap(on: failure)
  }

  @usableFromInline
  static func trap(on failure: any Error) -> Never {
    switch failure {
    case let cycle as CyclicEvaluationError: misuse(cycle.description)
    case is CancellationError:
      misuse(
        Self.self == Never.self
          ? "a step of a LazyList that cannot fail has cancelled its own task"
          : "a step of a LazyList that fails with \(Self.self) has cancelled its own task, and "
            + "\(Self.self) is not a CancellableFailure")
    default: misuse("a LazyList that fails with \(Self.self) was given \(failure)")
    }
  }
}
