import Measuring
import Foundation
import Tailrace

/// How many of the questions find their value, where there is room for a tenth of the popular keys.
let hitRates: [Quantity] = [false, true].flatMap { hasScans in
  let name = hasScans ? "hits, Zipf with scans" : "hits, Zipf"
  return [
    Quantity(name, who: "Memos", unit: "%") { count in
      let memos = Memos(capacity: .count(Trace.room)) { (key: Int) in key }
      for key in Trace(count, hasScans: hasScans) { _ = await memos.value(for: key) }
      return 100 * Double(memos.statistics.hits) / Double(count)
    },
    Quantity(name, who: "least recently used", unit: "%") { count in
      var cache = LeastRecentlyUsed(room: Trace.room)
      for key in Trace(count, hasScans: hasScans) { cache.ask(key) }
      return 100 * Double(cache.hits) / Double(count)
    },
  ]
}

/// Keys in the order in which they are asked for: the popular ones by Zipf's law, and in between, if
/// wanted, runs of keys that are asked for once, as by a walk through everything.
private struct Trace: Sequence, IteratorProtocol {
  static let keys = 10_000
  static let room = 1_000
  /// After so many popular keys come so many that are new.
  static let (popular, scanned) = (5_000, 2_500)

  private var state: UInt64 = 1
  private var left: Int
  private var turn = 0
  private var fresh = Trace.keys
  private let hasScans: Bool

  init(_ count: Int, hasScans: Bool) { (left, self.hasScans) = (count, hasScans) }

  mutating func next() -> Int? {
    guard left > 0 else { return nil }
    left -= 1
    turn += 1
    if hasScans, turn % (Self.popular + Self.scanned) >= Self.popular {
      fresh += 1
      return fresh
    }
    return Self.key(at: random())
  }

  /// The popularity of the keys, added up: the n-th has one proportional to 1 / n^0.9.
  private static let sums: [Double] = {
    var sum = 0.0
    let sums = (1...keys).map { rank in
      sum += pow(Double(rank), -0.9)
      return sum
    }
    return sums.map { $0 / sum }
  }()

  private static func key(at share: Double) -> Int {
    var range = 0..<keys - 1
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      if sums[middle] < share {
        range = middle + 1..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    return range.lowerBound
  }

  /// SplitMix64: the same trace for everybody.
  private mutating func random() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((mixed ^ (mixed >> 31)) >> 11) / 9_007_199_254_740_992
  }
}

/// Keys in the order of their last use: those that are marked as gone are passed over.
private struct LeastRecentlyUsed {
  let room: Int
  private(set) var hits = 0
  private var lastUses: [Int: Int] = [:]
  private var uses: [Int] = []
  private var oldest = 0

  init(room: Int) { self.room = room }

  mutating func ask(_ key: Int) {
    if lastUses[key] != nil { hits += 1 }
    lastUses[key] = uses.count
    uses.append(key)
    while lastUses.count > room {
      if lastUses[uses[oldest]] == oldest { lastUses[uses[oldest]] = nil }
      oldest += 1
    }
  }
}
