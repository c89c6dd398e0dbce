/// Counts as a use of the value: the optimiser cannot look into it.
@inline(never)
@_optimize(none)
public func blackHole<T>(_ value: T) {}
