/// Whatever is given to it has been used: the optimiser cannot look into it.
@inline(never)
@_optimize(none)
public func blackHole<T>(_ value: T) {}
