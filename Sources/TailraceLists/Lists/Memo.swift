/// A value that is computed once, at the first request, for any number of tasks.
///
/// ```swift
/// let settings = Memo { try await load() }
/// async let theme = settings.value().theme
/// async let language = settings.value().language   // one load for both
/// ```
///
/// It behaves as a list of one element: a failure is kept, a cancelled task only stops
/// waiting, and a value that needs itself is a ``CyclicEvaluationError``.
public struct Memo<Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline let list: LazyList<Value, Failure>

  @_alwaysEmitIntoClient
  init(list: LazyList<Value, Failure>) { self.list = list }

  /// Creates a memo of a known value.
  public init(_ value: Value) { self.init(list: .just(value)) }

  /// Returns the value. The first task that asks computes it; the others wait.
  ///
  /// ```swift
  /// let answer = Memo { 6 * 7 }
  /// await answer.value()   // 42
  /// ```
  ///
  /// - Failure: the closure's error, the same for every caller.
  /// - Cancellation: throws `CancellationError` if `Failure` is `any Error`, `Failure.cancelled` if
  ///   it is a ``CancellableFailure``; otherwise waits for the value, as `Task.value` does. The
  ///   computation continues while the memo exists.
  @_alwaysEmitIntoClient
  nonisolated(nonsending) public func value() async throws(Failure) -> Value {
    if let value = list.evaluatedHead { return value }
    return try await computed()
  }

  // Outside of `value`, so that a question for a value that is there is inlined, and retains nothing
  // ("Memo").
  @_alwaysEmitIntoClient @inline(never)
  nonisolated(nonsending) func computed() async throws(Failure) -> Value {
    var reader = list.reader()
    guard let value = try await reader.next() else {
      preconditionFailure("a Memo's closure gave no value")
    }
    return value
  }

  /// The value if it has been computed. It computes nothing.
  ///
  /// ```swift
  /// let answer = Memo { 6 * 7 }
  /// answer.peek           // nil
  /// await answer.value()  // 42
  /// answer.peek           // 42
  /// ```
  public var peek: Value? {
    if let value = list.evaluatedHead { return value }
    return list.segment?.takeDone() == true ? list.evaluatedHead : nil
  }
}

extension Memo {
  /// Creates a memo of a value that a closure computes.
  ///
  /// ```swift
  /// let settings = Memo(retryingFailures: true) { try await load() }
  /// ```
  ///
  /// - Failure: the closure's, given to all waiting tasks, and kept. With `retryingFailures`
  ///   the next request computes again. A value is always kept.
  @_alwaysEmitIntoClient
  public init(
    retryingFailures: Bool = false, _ compute: @escaping @Sendable () throws(Failure) -> Value
  ) {
    self.init(
      list: LazyList(
        stage: "Memo",
        producer: { (_, sink) in
          do throws(Failure) { _ = sink(try compute()) } catch {
            return .nothing(.fate(error, retryingFailures))
          }
          return .nothing(.end)
        }))
  }

  /// Creates a memo of a value that an asynchronous closure computes in a task of the memo. With
  /// `cancelsUnobservedSteps` the computation is cancelled when nobody waits for it any more, and the next
  /// request begins again.
  ///
  /// ```swift
  /// let settings = Memo(cancelsUnobservedSteps: true) { try await load() }
  /// ```
  ///
  /// - Failure: the closure's, given to all waiting tasks, and kept. With `retryingFailures`
  ///   the next request computes again.
  /// - Cancellation: the computation continues while the memo exists. With `cancelsUnobservedSteps` it is
  ///   cancelled when the last task that waits is cancelled, and its result is dropped.
  @_alwaysEmitIntoClient @inline(__always)
  public init(
    retryingFailures: Bool = false, cancelsUnobservedSteps: Bool = false,
    _ compute: @escaping @Sendable () async throws(Failure) -> Value
  ) {
    if cancelsUnobservedSteps {
      self.init(cancelling: retryingFailures, compute)
    } else {
      self.init(finishing: retryingFailures, compute)
    }
  }

  @_alwaysEmitIntoClient
  init(
    finishing retryingFailures: Bool,
    _ compute: @escaping @Sendable () async throws(Failure) -> Value
  ) {
    self.init(
      list: LazyList(
        stage: "Memo",
        inTask: { steps in
          await steps.take {
            do throws(Failure) { return .last(try await compute()) } catch {
              return .nothing(.fate(error, retryingFailures))
            }
          }
        }))
  }

  @_alwaysEmitIntoClient
  init(
    cancelling retryingFailures: Bool,
    _ compute: @escaping @Sendable () async throws(Failure) -> Value
  ) {
    self.init(
      list: LazyList(
        state: false, retryingFailures: retryingFailures, cancelsUnobservedSteps: true
      ) { (isComputed) async throws(Failure) in
        if isComputed { return nil }
        let value = try await compute()
        isComputed = true
        return value
      })
  }
}

extension Memo: CustomStringConvertible {
  /// The value, or `…` before there is one. It computes nothing.
  public var description: String { "Memo(\(peek.map { String(reflecting: $0) } ?? "…"))" }
}
