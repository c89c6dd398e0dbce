// The only use of an entry of the runtime that is not public.

/// `TaskLocal.get()` copies a value. Children of a task read its values in place, and other tasks have
/// copies: only the address tells them apart (``WorkerToken``).
///
/// Assumed of the runtime, as it is in Swift 5.5 to 6.3: the entry takes the `TaskLocal` as its key, in
/// the C convention's first register, and returns where the running code's value lies, or null.
@_silgen_name("swift_task_localValueGet")
private func runtimeAddress(ofValueOf local: UnsafeRawPointer) -> UnsafeRawPointer?

extension TaskLocal {
  /// The address of the running code's value; `nil` if it has none.
  ///
  /// It is always `nil` with a runtime that does not do what is assumed. Then a step has no edges in the
  /// wait graph: a cycle through other tasks is not found, and its readers wait for ever.
  var addressOfValue: UnsafeRawPointer? { isAsAssumed ? uncheckedAddress : nil }

  fileprivate var uncheckedAddress: UnsafeRawPointer? {
    runtimeAddress(ofValueOf: UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()))
  }
}

/// Whether the runtime does what is assumed, as seen at the first use.
private let isAsAssumed = finds(
  TaskLocal<Probe?>(wrappedValue: nil), Probe(), Probe())

private final class Probe: Sendable {}

/// Whether the address of each value is found, and the value there.
private func finds(_ local: TaskLocal<Probe?>, _ outer: Probe, _ inner: Probe) -> Bool {
  func isThere(_ probe: Probe) -> Bool {
    local.uncheckedAddress?.load(as: UnsafeRawPointer?.self)
      == UnsafeRawPointer(Unmanaged.passUnretained(probe).toOpaque())
  }
  return local.uncheckedAddress == nil
    && local.withValue(outer) {
      isThere(outer) && local.withValue(inner) { isThere(inner) } && isThere(outer)
    }
}
