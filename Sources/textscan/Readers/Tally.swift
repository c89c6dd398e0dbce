/// Counts how often texts occur, and remembers the most frequent ones.
///
/// A text is told by a fingerprint of 64 bits, so that a million texts of any length take some
/// twenty megabytes. The chance that any two of them are mistaken for each other is one in forty
/// million; it grows with the square of their number.
struct Tally: Sendable {
  struct Leader: Sendable {
    fileprivate let fingerprint: UInt64
    fileprivate(set) var count: Int
    let excerpt: Excerpt
  }

  private struct Seen: FingerprintSlot { let fingerprint: UInt64 }

  private struct Repeated: FingerprintSlot {
    let fingerprint: UInt64
    var count = 2

    init(fingerprint: UInt64) { self.fingerprint = fingerprint }
  }

  private let limit: Int
  private let fingerprints = Fingerprints()
  /// Texts that occurred at least once.
  private var seen = FingerprintTable<Seen>()
  /// Those that occurred more than once, and how often.
  private var repeated = FingerprintTable<Repeated>()
  /// At most `limit` texts, in no order. A text gets here by its count while it is at hand.
  private var candidates: [Leader] = []
  /// A text that occurred more often is a candidate.
  private var threshold: Int

  /// Remembers as many texts as `limit` says, of those that occur at least `minimum` times.
  init(limit: Int, from minimum: Int) {
    self.limit = limit
    threshold = minimum - 1
  }

  /// How many texts occurred more than once.
  var repeatedCount: Int { repeated.count }

  /// The most frequent texts, in that order. Of equals, those that got there first are kept.
  var leaders: [Leader] {
    candidates.sorted { ($1.count, $0.excerpt.text) < ($0.count, $1.excerpt.text) }
  }

  mutating func add(_ text: UnsafeBufferPointer<UInt8>) {
    let fingerprint = fingerprints.fingerprint(of: text)
    let count = count(fingerprint)
    if count > threshold { promote(fingerprint, count, text) }
  }

  private mutating func count(_ fingerprint: UInt64) -> Int {
    let count = repeated.update(fingerprint) { text in
      text.count += 1
      return text.count
    }
    if let count { return count }
    if seen.insert(Seen(fingerprint: fingerprint)) { return 1 }
    _ = repeated.insert(Repeated(fingerprint: fingerprint))
    return 2
  }

  private mutating func promote(
    _ fingerprint: UInt64, _ count: Int, _ text: UnsafeBufferPointer<UInt8>
  ) {
    if let index = candidates.firstIndex(where: { $0.fingerprint == fingerprint }) {
      candidates[index].count = count
    } else {
      let leader = Leader(fingerprint: fingerprint, count: count, excerpt: Excerpt(text))
      if candidates.count < limit {
        candidates.append(leader)
      } else if let least = candidates.lastIndex(where: { $0.count == threshold }) {
        candidates[least] = leader
      }
    }
    if candidates.count == limit { threshold = candidates.lazy.map(\.count).min() ?? 0 }
  }
}
