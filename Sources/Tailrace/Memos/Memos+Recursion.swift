// Memos whose closure asks for other keys.

extension Memos {
  /// Returns memos whose closure asks them for other keys.
  ///
  /// ```swift
  /// let paths = Memos<[Int], Int, Never>.recursive { paths, cell in
  ///   if cell[0] == 0 || cell[1] == 0 { return 1 }
  ///   return await paths.value(for: [cell[0] - 1, cell[1]]) + paths.value(for: [cell[0], cell[1] - 1])
  /// }
  /// await paths.value(for: [16, 16])   // 601080390; after 289 computations
  /// ```
  ///
  /// The closure is given the memos, so that it has nothing to capture, and there is no cycle of
  /// references. A key that needs itself, by way of whatever other keys, in one task or in several, is a
  /// ``CyclicEvaluationError`` that names the keys; where the memos cannot fail, it is a trap with the
  /// same words. What a closure asks for that does not wait, such as ``peek(_:)``, is no part of that.
  ///
  /// When the last copy of the memos is let go of, what is being computed and nobody waits for is
  /// cancelled, if `Failure` is `any Error`. Where a computation cannot be told so, it goes on to its end.
  /// The memos that the closure is given are no such copy: they are for the time of the call.
  ///
  /// - Parameters:
  ///   - capacity: how much is remembered; everything, if nothing else is said.
  ///   - lifetime: how long a value, or a failure, is served after it was computed; `nil` is for ever.
  ///   - refreshingAfter: the age from which on a demand has a value computed anew.
  ///   - retryingFailures: whether the next demand computes a key anew that has failed.
  ///   - clock: what ages are measured with.
  ///   - compute: runs once for each key and lifetime.
  /// - Complexity: keys may need one another as deep as memory allows: each that waits costs some
  ///   kilobytes on the heap, and none on the stack.
  @inlinable
  public static func recursive(
    capacity: Capacity = .unbounded, lifetime: Duration? = nil, refreshingAfter: Duration? = nil,
    retryingFailures: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
    _ compute: @escaping @Sendable (_ memos: Memos, _ key: Key) async throws(Failure) -> Value
  ) -> Memos {
    Memos(capacity, lifetime, refreshingAfter, retryingFailures, clock, .recursiveInTask(compute))
      .owned()
  }

  /// Returns memos whose closure looks at other keys, and waits for none.
  @inlinable
  public static func recursive(
    capacity: Capacity = .unbounded, lifetime: Duration? = nil, refreshingAfter: Duration? = nil,
    retryingFailures: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
    _ compute: @escaping @Sendable (_ memos: Memos, _ key: Key) throws(Failure) -> Value
  ) -> Memos {
    Memos(capacity, lifetime, refreshingAfter, retryingFailures, clock, .recursive(compute)).owned()
  }

  /// The same memos, which are let go of with the last copy.
  @usableFromInline
  func owned() -> Memos {
    Memos(store: store, owner: MemoOwner { [store] in store.abandon() })
  }
}
