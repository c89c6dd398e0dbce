import TailraceLists

/// A slot for each key, as a value. Slots are in an array, so a reference to one is a number.
///
/// Invariants: `index` leads to the slot with that key; a slot without a key is in `free`.
@usableFromInline
struct SlotMap<Key: Hashable & Sendable, Content: Sendable>: Sendable {
  /// The key is `nil` if the slot is free. The number is that of the latest computation.
  @usableFromInline typealias Slot = (key: Key?, content: Content, number: UInt32)

  @usableFromInline var slots: ContiguousArray<Slot> = []
  @usableFromInline private(set) var index: [Key: UInt32] = [:]
  @usableFromInline private(set) var free: ContiguousArray<UInt32> = []

  @_alwaysEmitIntoClient
  init() {}

  @_alwaysEmitIntoClient @inline(__always)
  func place(of key: Key) -> Int? { index[key].map { Int($0) } }

  @_alwaysEmitIntoClient
  subscript(place: Int) -> Content {
    get { slots[place].content }
    set { slots[place].content = newValue }
  }

  /// Some slots, from one on; `nil` behind the last one.
  @_alwaysEmitIntoClient
  func places(from place: Int, atMost count: Int) -> Range<Int>? {
    place < slots.count ? place..<min(place + count, slots.count) : nil
  }

  /// The keys of these.
  @_alwaysEmitIntoClient
  func keys(from place: Int, atMost count: Int) -> [Key]? {
    places(from: place, atMost: count)?.compactMap { slots[$0].key }
  }

  /// Gives a key a slot. `nil` for a key that does not equal itself: it could not be found again.
  @_alwaysEmitIntoClient
  mutating func add(_ key: Key, _ content: Content) -> Int? {
    guard key == key else { return nil }
    let place = free.popLast().map { Int($0) } ?? slots.count
    if place == slots.count {
      slots.append((key, content, 0))
    } else {
      slots[place] = (key, content, 0)
    }
    index[key] = UInt32(place)
    return place
  }

  /// Frees a slot. Returns its content.
  @_alwaysEmitIntoClient
  mutating func remove(_ place: Int, leaving content: Content) -> Slot {
    let former = slots[place]
    if let key = former.key { index[key] = nil }
    slots[place] = (nil, content, 0)
    free.append(UInt32(place))
    return former
  }
}
