import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceSignals

@Suite("The buffer of unread elements, as a value", .inTurn)
struct BufferTests {
  /// A part of a reader's result: an element, or the number of elements missing at this place.
  enum Entry: Equatable, ExpressibleByIntegerLiteral {
    case element(Int)
    case missing(Int)

    init(integerLiteral element: Int) { self = .element(element) }
  }

  /// Takes one element, and what is missing in front of it.
  static func take(_ buffer: inout Buffer<Int>, _ missing: inout Int) -> [Entry] {
    var batch: [Int] = []
    let dropped = buffer.take(into: &batch)
    defer { missing = dropped ?? buffer.dropped }
    let gap = (dropped ?? buffer.dropped) - missing
    return (gap > 0 ? [.missing(gap)] : []) + batch.map { .element($0) }
  }

  @Test(
    "each gap stands where the elements would have stood",
    arguments: [
      (Signal<Int, Never>.BufferingPolicy.bufferingOldest(2), [1, 2, .missing(2), 5, .missing(1)]),
      (.bufferingNewest(2), [.missing(2), 3, .missing(1), 5, 6]),
      (.bufferingOldest(0), [.missing(4), .missing(2)]),
      (.bufferingNewest(0), [.missing(4), .missing(2)]),
      (.bufferingOldest(3), [1, 2, 3, .missing(1), 5, .missing(1)]),
      (.unbounded, [1, 2, 3, 4, 5, 6]),
    ] as [(Signal<Int, Never>.BufferingPolicy, [Entry])])
  func gaps(_ policy: Signal<Int, Never>.BufferingPolicy, _ expected: [Entry]) {
    var buffer = Buffer<Int>(policy)
    var missing = 0
    for number in 1...4 { _ = buffer.append(number) }
    var seen = Self.take(&buffer, &missing)
    for number in 5...6 { _ = buffer.append(number) }
    for _ in 1...6 { seen += Self.take(&buffer, &missing) }
    #expect(seen == expected)
  }

  @Test("elements that were lost before they came leave a gap, and the gap goes with the past")
  func lost() {
    var past = Buffer<Int>(newest: 3)
    _ = past.append(1)
    past.lose(2)
    past.lose(1)
    for number in 2...4 { _ = past.append(number) }
    past.lose(5)
    var late = Buffer<Int>(Signal<Int, Never>.BufferingPolicy.unbounded)
    late.recall(past)
    late.lose(1)
    _ = late.append(6)
    var missing = 0
    var seen: [Entry] = []
    for _ in 1...5 { seen += Self.take(&late, &missing) }
    #expect(seen == [2, 3, 4, .missing(6), 6])
    var early = Buffer<Int>(Signal<Int, Never>.BufferingPolicy.unbounded)
    early.lose(2)
    _ = early.append(1)
    missing = 0
    #expect(Self.take(&early, &missing) == [.missing(2), 1])
  }

  @Test("random: nothing is lost without being counted, at its place")
  func random() {
    let count = RandomCases.count("TAILRACE_BACKLOGS", debug: 300, optimised: 100_000)
    for number in 0..<UInt64(count) {
      let seed = RandomCases.firstSeed &+ number
      var random = SeededGenerator(seed: seed)
      let bound = Int.random(in: 0...4, using: &random)
      let policy: Signal<Int, Never>.BufferingPolicy =
        [.unbounded, .bufferingOldest(bound), .bufferingNewest(bound)].randomElement(
          using: &random)!
      var buffer = Buffer<Int>(policy)
      /// The numbers of elements that were sent, and that were read or are known to be missing.
      var (sent, seen) = (0, 0)
      var dropped = 0
      /// The elements in the buffer, according to a naive model.
      var model: [Int] = []
      func take() {
        var batch: [Int] = []
        let known = buffer.take(into: &batch)
        seen += (known ?? buffer.dropped) - dropped
        dropped = known ?? buffer.dropped
        for element in batch {
          #expect(element == seen && element == model.first, "seed \(seed)")
          seen += 1
          if !model.isEmpty { model.removeFirst() }
        }
      }
      for _ in 0..<Int.random(in: 1...30, using: &random) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<5:
          if case .dropped(let element) = buffer.append(sent) {
            if element != sent { model.append(sent) }
            model.removeAll { $0 == element }
          } else {
            model.append(sent)
          }
          sent += 1
        case 5:
          let count = Int.random(in: 1...3, using: &random)
          buffer.lose(count)
          sent += count
        default: take()
        }
        #expect(buffer.count == model.count, "seed \(seed)")
      }
      while buffer.count > 0 { take() }
      take()
      #expect(seen == sent, "seed \(seed)")
      #expect(buffer.gaps.isEmpty, "seed \(seed)")
    }
  }
}
