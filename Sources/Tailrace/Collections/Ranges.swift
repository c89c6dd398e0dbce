extension Range where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from the lower to the one before the upper, as a list.
  @inlinable
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}

extension ClosedRange where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from the lower to the upper, as a list.
  @inlinable
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}

extension PartialRangeFrom where Bound: Strideable & Sendable, Bound.Stride: SignedInteger {
  /// The bounds from the lower on, as an infinite list.
  @inlinable
  public var lazyList: LazyList<Bound, Never> { LazyList(self) }
}
