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
    let member: InstanceCounter.Member

    init(_ number: Int, _ instances: InstanceCounter) {
      self.number = number
      member = instances.member(number)
    }
  }

  private final class Holder: Sendable {
    let reference = LazyReference<Box>()
  }

  @Test("the first object stays, and is let go of with the reference")
  func first() {
    let instances = InstanceCounter()
    do {
      let holder = Holder()
      #expect(holder.reference.load() == nil)
      let stored = holder.reference.storeIfNil(Box(1, instances))
      #expect(holder.reference.storeIfNil(Box(2, instances)) === stored && stored.number == 1)
      #expect(holder.reference.load() === stored && instances.alive == 1)
    }
    #expect(instances.alive == 0)
  }

  /// Under the thread sanitizer this fails with the standard library's reference, too.
  @Test(
    "a load, and each of two stores that meet, sees what was written before the object was stored")
  func meeting() async {
    let instances = InstanceCounter()
    for round in 0..<2_000 {
      let holder = Holder()
      async let reader = {
        while true {
          for _ in 0..<100 { if let box = holder.reference.load() { return box.number } }
          await Task.yield()
        }
      }()
      async let first = holder.reference.storeIfNil(Box(round, instances)).number
      async let second = holder.reference.storeIfNil(Box(round, instances)).number
      #expect(await [reader, first, second] == [round, round, round])
      #expect(holder.reference.load()?.number == round)
    }
    await instances.waitUntilEmpty()
  }
}
