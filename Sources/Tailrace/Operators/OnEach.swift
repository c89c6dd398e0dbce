extension LazyList {
  /// Returns this list, with a closure that is called with each element.
  ///
  /// ```swift
  /// let pages = loaded.onEach { page in log("page \(page.number)") }
  /// ```
  ///
  /// It sees each element once, when that is computed in the list that is returned, and not when it is
  /// read again.
  ///
  /// - Laziness: stepwise.
  ///
  /// Replaces `-doNext:`.
  @inlinable @inline(__always)
  public consuming func onEach(
    _ action: @escaping @Sendable (Element) -> Void
  ) -> LazyList {
    let source = Owned(Cursor(self))
    return LazyList(
      upstream: source,
      producer: { (demand, sink) in
        source.state.drive(demand) { element in
          action(element)
          return sink(element)
        }
      })
  }

  /// Returns this list, with a throwing closure that is called with each element. Its error is the
  /// element's fate.
  @inlinable @_disfavoredOverload @inline(__always)
  public consuming func onEach(
    _ action: @escaping @Sendable (Element) throws -> Void
  ) -> LazyList<Element, any Error> {
    widened().transform((), by: Verdict.passing) { try action($1) }
  }

  /// Returns this list, with an asynchronous closure that is called with each element.
  @inlinable @inline(__always)
  public consuming func onEach(
    _ action: @escaping @Sendable (Element) async -> Void
  ) -> LazyList {
    transformInTask((), by: Verdict.passing) { await action($1) }
  }

  /// Returns this list, with an asynchronous throwing closure that is called with each element. Its
  /// error is the element's fate.
  @inlinable @inline(__always)
  public consuming func onEach(
    _ action: @escaping @Sendable (Element) async throws -> Void
  ) -> LazyList<Element, any Error> {
    widened().transformInTask((), by: Verdict.passing) { try await action($1) }
  }
}

extension Verdict {
  /// The rule of `onEach`.
  @inlinable
  static func passing<State>(_: inout State, _ element: Output, _: Void) -> Verdict {
    .emit(element)
  }
}
