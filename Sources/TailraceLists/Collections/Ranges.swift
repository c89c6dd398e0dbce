extension Range where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from lower to upper, without upper, as a list.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}

extension ClosedRange where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from lower to upper, as a list.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}

extension PartialRangeFrom where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from lower on, as an infinite list.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}
