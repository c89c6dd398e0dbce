extension LazyList {
  /// Returns the results of a closure for each element.
  ///
  /// ```swift
  /// let squares = [1, 2, 3].lazyList.map { $0 * $0 }
  /// await squares.array()   // [1, 4, 9]
  /// ```
  /// ![Each element times ten, at the same instant.](marbles-map)
  ///
  /// - Laziness: stepwise.
  /// - Isolation: a plain closure runs in the task that first requests its element; an asynchronous one in a
  ///   task of the list.
  /// - Failure: an error of the closure replaces its element and ends the list.
  ///
  /// Replaces `-map:`.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func map<T: Sendable>(
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) -> T
  ) -> LazyList<T, Failure> {
    let source = Owned(Cursor(self))
    return LazyList<T, Failure>(
      upstream: source,
      producer: { (demand, sink) in
        source.state.push(demand) { sink(transform($0)) }
      })
  }

  /// Returns the results of a throwing closure for each element.
  @_alwaysEmitIntoClient @_disfavoredOverload @inline(__always)
  public consuming func map<T: Sendable>(
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) throws -> T
  ) -> LazyList<T, any Error> {
    widened().transform(()) { .element(try transform($1)) }
  }

  /// Returns the results of an asynchronous closure for each element, one at a time.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func map<T: Sendable>(
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) async -> T
  ) -> LazyList<T, Failure> {
    mapInTask(transform)
  }

  /// Returns the results of an asynchronous throwing closure for each element, one at a time.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func map<T: Sendable>(
    @_CheckedAlone<T> _ transform: @escaping @Sendable (Element) async throws -> T
  ) -> LazyList<T, any Error> {
    widened().mapInTask(transform)
  }

  /// The results of an asynchronous closure with the list's failure type.
  @_alwaysEmitIntoClient @inline(__always)
  consuming func mapInTask<T: Sendable>(
    _ transform: @escaping @Sendable (Element) async throws(Failure) -> T
  ) -> LazyList<T, Failure> {
    let source = Owned(Cursor(self))
    return LazyList<T, Failure>(
      upstream: source, stage: "map",
      inTask: { steps in
        while steps.begin() {
          let step: Step<T>
          do throws(Failure) {
            step =
              if let element = steps.pull(&source.state) {
                .element(try await transform(element))
              } else {
                .nothing(source.state.takeAbsence())
              }
          } catch {
            step = .nothing(.failed(error))
          }
          if steps.finish(consume step) { await steps.executor.park() }
        }
      })
  }
}
