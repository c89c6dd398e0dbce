/// A text as a table keeps it.
protocol FingerprintSlot: Sendable {
  /// A slot for a fingerprint; 0 makes a free one.
  init(fingerprint: UInt64)
  /// 0 if the slot is free.
  var fingerprint: UInt64 { get }
}

/// A hash table of fingerprints, which need no other hash.
///
/// Each names a slot, and is in it, or in the next that was free. The slot is a part of the whole table, not
/// a remainder: so a table can have any size, and all keep their order when it grows, so that memory is
/// gone through from one end to the other.
struct FingerprintTable<Slot: FingerprintSlot>: Sendable {
  private(set) var count = 0
  private var slots = Array(repeating: Slot(fingerprint: 0), count: 16)

  /// Where a fingerprint is, or else the free slot that it would be put in.
  @inline(__always)
  private func find(_ fingerprint: UInt64) -> (index: Int, isThere: Bool) {
    slots.withUnsafeBufferPointer { slots in
      var index = Int(fingerprint.multipliedFullWidth(by: UInt64(slots.count)).high)
      // There is always a free one.
      while true {
        let here = slots[index].fingerprint
        if here == fingerprint { return (index, true) }
        if here == 0 { return (index, false) }
        index += 1
        if index == slots.count { index = 0 }
      }
    }
  }

  /// Changes what is kept of a fingerprint. Returns what the closure does, or `nil` if it is not there.
  @inline(__always)
  mutating func update<Value>(
    _ fingerprint: UInt64, _ change: (inout Slot) -> Value
  ) -> Value? {
    let (index, isThere) = find(fingerprint)
    return isThere ? change(&slots[index]) : nil
  }

  /// False if the fingerprint is there.
  @inline(__always)
  mutating func insert(_ slot: Slot) -> Bool {
    let (index, isThere) = find(slot.fingerprint)
    if isThere { return false }
    slots[index] = slot
    count += 1
    // Where three of four are taken, the next free one is some slots away.
    if count > slots.count / 2 { grow() }
    return true
  }

  @inline(never)
  private mutating func grow() {
    let former = slots
    slots = Array(repeating: Slot(fingerprint: 0), count: slots.count / 2 * 3)
    for slot in former where slot.fingerprint != 0 { slots[find(slot.fingerprint).index] = slot }
  }
}
