import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("A reference that is set once", .hangLimit, .inTurn)
struct LazyReferenceTests {
  // Guard: written before it is stored. May touch it: readers that have loaded it.
  private final class Box: @unchecked Sendable {
    var number: Int
    let member: Population.Member

    init(_ number: Int, _ population: Population) {
      self.number = number
      member = population.member(number)
    }
  }

  private final class Holder: Sendable {
    let reference = LazyReference<Box>()
  }

  @Test("the first object stays, and is let go of with the reference")
  func first() {
    let population = Population()
    do {
      let holder = Holder()
      #expect(holder.reference.load() == nil)
      let stored = holder.reference.storeIfNil(Box(1, population))
      #expect(holder.reference.storeIfNil(Box(2, population)) === stored && stored.number == 1)
      #expect(holder.reference.load() === stored && population.alive == 1)
    }
    #expect(population.alive == 0)
  }

  /// Under the thread sanitizer this fails with the standard library's reference, too.
  @Test(
    "a load, and each of two stores that meet, sees what was written before the object was stored")
  func meeting() async {
    let population = Population()
    for round in 0..<2_000 {
      let holder = Holder()
      async let reader = {
        while true {
          for _ in 0..<100 { if let box = holder.reference.load() { return box.number } }
          await Task.yield()
        }
      }()
      async let first = holder.reference.storeIfNil(Box(round, population)).number
      async let second = holder.reference.storeIfNil(Box(round, population)).number
      #expect(await [reader, first, second] == [round, round, round])
      #expect(holder.reference.load()?.number == round)
    }
    await population.waitUntilEmpty()
  }
}
