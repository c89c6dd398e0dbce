import Testing

@testable import TailraceTesting

@Suite("explore: a failing tape is made simpler, as a value", .inTurn)
struct TapeShrinkingTests {
  static func shrink(
    _ tape: [Int], tries: Int = 1_000, _ fails: ([Int]) -> Bool
  ) -> (best: [Int], tried: Int) {
    var shrinking = TapeShrinking(tape, tries: tries)
    var tried = 0
    while let candidate = shrinking.next() {
      tried += 1
      #expect(candidate != shrinking.best)
      shrinking.ran(failing: fails(candidate) ? candidate : nil)
    }
    return (shrinking.best, tried)
  }

  @Test("what always fails needs no preemption, and one try")
  func always() {
    let (best, tried) = Self.shrink([1, 0, 2, 3, 1]) { _ in true }
    #expect(best == [])
    #expect(tried == 1)
  }

  @Test("only what is needed is left", arguments: [[3], [0, 9], [2, 5, 11], [0, 1, 2, 3, 4]])
  func needed(_ needed: [Int]) {
    let tape = Array(repeating: 2, count: 12)
    let (best, _) = Self.shrink(tape) { tape in
      needed.allSatisfy { $0 < tape.count && tape[$0] != 0 }
    }
    #expect(best.indices.filter { best[$0] != 0 } == needed)
    #expect(best.max() == 1)
  }

  @Test("preemptions that need each other stay together")
  func either() {
    // Two at 4 and 5, or one alone at 8.
    let (best, _) = Self.shrink([0, 1, 0, 1, 1, 1, 0, 0, 1]) { tape in
      func has(_ point: Int) -> Bool { point < tape.count && tape[point] != 0 }
      return has(8) || (has(4) && has(5))
    }
    #expect([[0, 0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 0, 0, 1, 1]].contains(best))
  }

  @Test("a greater choice stays if it is needed")
  func lowering() {
    let (best, _) = Self.shrink([0, 5, 0, 4]) { tape in
      tape.count == 4 && tape[1] >= 3 && tape[3] != 0
    }
    #expect(best == [0, 3, 0, 1])
  }

  @Test("the choices that a run has made count, not those of its tape")
  func made() {
    var shrinking = TapeShrinking([1, 1, 1])
    _ = shrinking.next()
    // The run went another way, which is no simpler one.
    shrinking.ran(failing: [2, 2, 2, 2])
    #expect(shrinking.best == [1, 1, 1])
    _ = shrinking.next()
    shrinking.ran(failing: [0, 1, 0, 0])
    #expect(shrinking.best == [0, 1])
  }

  @Test("it ends, also if each run fails by chance", arguments: 0..<200 as Range<UInt64>)
  func chance(_ seed: UInt64) {
    var generator = SplitMix64(seed)
    let tape = (0..<40).map { _ in Int.random(in: 0...3, using: &generator) }
    let (best, tried) = Self.shrink(tape, tries: 500) { _ in
      Int.random(in: 0..<4, using: &generator) == 0
    }
    #expect(tried <= 500)
    #expect(best.count { $0 != 0 } <= tape.count { $0 != 0 })
  }
}
