import TailraceLists

/// A slot for each key, as a value. Slots are in an array, so a reference to one is a number.
///
/// Invariants: `index` leads to the slot with that key; a slot without a key is in `free`.
@usableFromInline
struct SlotMap<Key: Hashable & Sendable, Content: Sendable>: Sendable {
  /// The key is `nil` if the slot is free. The number is that of the latest computation.
  @usableFromInline typealias Slot = (key: Key?, content: Content, number: UInt32)

  @usableFromInline var slots: ContiguousArray<Slot> = []
  @usableFromInline private(set) var index = SlotIndex()
  @usableFromInline private(set) var free: ContiguousArray<UInt32> = []

  @_alwaysEmitIntoClient
  init() {}

  @_alwaysEmitIntoClient @inline(__always)
  func place(of key: Key) -> Int? { place(of: key, hash: key.hashValue) }

  /// The same for a key whose hash is known.
  @_alwaysEmitIntoClient @inline(__always)
  func place(of key: Key, hash: Int) -> Int? {
    index.place(hash) { place in
      // Only free slots have no key, and the index leads to none of these.
      if let known = slots[place].key { known == key } else { false }
    }
  }

  /// A hash of the key at a place, whose last bits are mixed even if those of the key's own hash are not.
  @_alwaysEmitIntoClient
  func hash(at place: Int) -> Int { slots[place].key.hashValue }

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
    index.add(key.hashValue, place)
    return place
  }

  /// Frees a slot. Returns its content.
  @_alwaysEmitIntoClient
  mutating func remove(_ place: Int, leaving content: Content) -> Slot {
    let former = slots[place]
    if let key = former.key { index.remove(key.hashValue, place) }
    slots[place] = (nil, content, 0)
    free.append(UInt32(place))
    return former
  }
}

/// The places of hashes, as a value. A dictionary's keys would be in memory a second time, and each look
/// would touch one line of the cache more.
///
/// Each bucket has half of a hash, and a place behind it. A hash is in its own bucket, or in one of the next
/// ones, without an empty one in between. Half of the buckets are empty.
@usableFromInline
struct SlotIndex: Sendable {
  /// The half of a hash, and 1 more than the place; 0 for none.
  @usableFromInline var buckets: ContiguousArray<UInt64> = []
  @usableFromInline var count = 0

  @_alwaysEmitIntoClient
  init() {}

  /// Mixed: a type may have a `hashValue` of its own, with few bits.
  @_alwaysEmitIntoClient @inline(__always)
  static func half(_ hash: Int) -> UInt64 {
    (UInt64(truncatingIfNeeded: hash) &* 0x9E37_79B9_7F4A_7C15) >> 32
  }

  @_alwaysEmitIntoClient @inline(__always)
  func place(_ hash: Int, _ isWanted: (Int) -> Bool) -> Int? {
    if count == 0 { return nil }
    let (half, mask) = (Self.half(hash), buckets.count - 1)
    var bucket = Int(half) & mask
    while buckets[bucket] != 0 {
      let place = Int(buckets[bucket] & 0xFFFF_FFFF) - 1
      if buckets[bucket] >> 32 == half, isWanted(place) { return place }
      bucket = (bucket + 1) & mask
    }
    return nil
  }

  @usableFromInline
  mutating func add(_ hash: Int, _ place: Int) {
    if 2 * (count + 1) > buckets.count {
      let former = buckets
      buckets = ContiguousArray(repeating: 0, count: max(8, 2 * former.count))
      for bucket in former where bucket != 0 { insert(bucket) }
    }
    insert(Self.half(hash) << 32 | UInt64(place + 1))
    count += 1
  }

  private mutating func insert(_ entry: UInt64) {
    let mask = buckets.count - 1
    var bucket = Int(entry >> 32) & mask
    while buckets[bucket] != 0 { bucket = (bucket + 1) & mask }
    buckets[bucket] = entry
  }

  @usableFromInline
  mutating func remove(_ hash: Int, _ place: Int) {
    let (entry, mask) = (Self.half(hash) << 32 | UInt64(place + 1), buckets.count - 1)
    var hole = Int(entry >> 32) & mask
    while buckets[hole] != entry { hole = (hole + 1) & mask }
    // Those behind it move up, unless their own bucket is behind it.
    var next = (hole + 1) & mask
    while buckets[next] != 0 {
      let own = Int(buckets[next] >> 32) & mask
      if (next - own) & mask >= (next - hole) & mask {
        buckets[hole] = buckets[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    buckets[hole] = 0
    count -= 1
  }
}
