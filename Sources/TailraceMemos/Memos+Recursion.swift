import TailraceLists

// Memos whose closure asks for other keys.

extension Memos {
  /// Returns memos whose closure asks them for other keys.
  ///
  /// ```swift
  /// let paths = Memos<[Int], Int, Never>.recursive { paths, cell in
  ///   if cell[0] == 0 || cell[1] == 0 { return 1 }
  ///   return await paths.value(for: [cell[0] - 1, cell[1]])
  ///     + paths.value(for: [cell[0], cell[1] - 1])
  /// }
  /// await paths.value(for: [16, 16])   // 601080390; after 289 computations
  /// ```
  ///
  /// The closure receives the memos, so it captures nothing, and there is no reference cycle. A key
  /// that needs itself, through any other keys, in one task or several, is a
  /// ``CyclicEvaluationError`` that names the keys; memos that cannot fail trap with the same text.
  /// Requests that do not wait, such as ``peek(_:)``, are no part of a cycle.
  ///
  /// When the last copy of the memos is released, computations without waiting tasks are cancelled,
  /// if `Failure` is `any Error`. Otherwise they continue to their end. The memos that the closure
  /// receives are no such copy: they are valid during the call.
  ///
  /// - Parameters:
  ///   - capacity: how much is kept; everything by default.
  ///   - lifetime: how long a value or a failure is served after its computation; forever by default.
  ///   - refreshingAfter: the age from which a request starts a new computation.
  ///   - retryingFailures: whether the next request computes a failed key again; it does by
  ///     default.
  ///   - clock: the clock that measures ages.
  ///   - reporting: is called for each event, in the task where it happens, and not under a lock.
  ///   - compute: runs once for each key and lifetime.
  /// - Complexity: keys may need one another as deep as memory allows: each waiting key costs some
  ///   kilobytes on the heap, and none on the stack.
  @_alwaysEmitIntoClient
  public static func recursive(
    capacity: Capacity = .unbounded, lifetime: RecursiveLifetime = .forever,
    refreshingAfter: Duration? = nil, retryingFailures: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    _ compute: @escaping @Sendable (_ memos: Memos, _ key: Key) async throws(Failure) -> Value
  ) -> Memos {
    Memos(
      capacity, lifetime.lifetime, refreshingAfter, nil, retryingFailures, clock,
      reporting, .recursiveInTask(compute)
    ).owned()
  }

  /// Returns memos whose closure reads other keys without waiting.
  @_alwaysEmitIntoClient
  public static func recursive(
    capacity: Capacity = .unbounded, lifetime: RecursiveLifetime = .forever,
    refreshingAfter: Duration? = nil, retryingFailures: Bool = true,
    clock: any Clock<Duration> = ContinuousClock(),
    reporting: (@Sendable (MemoEvent<Key>) -> Void)? = nil,
    _ compute: @escaping @Sendable (_ memos: Memos, _ key: Key) throws(Failure) -> Value
  ) -> Memos {
    Memos(
      capacity, lifetime.lifetime, refreshingAfter, nil, retryingFailures, clock,
      reporting, .recursive(compute)
    ).owned()
  }

  /// The same memos, with an owner that is released with the last copy.
  @usableFromInline
  func owned() -> Memos {
    Memos(store: store, owner: MemoOwner { [store] in store.abandon() })
  }
}
