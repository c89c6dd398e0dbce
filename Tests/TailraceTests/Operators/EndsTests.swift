import Tailrace
import TailraceTesting
import Testing

@Suite("suffix and dropLast", .inTurn)
struct EndsTests {
  typealias List = LazyList<Int, Never>

  @Test("suffix and dropLast of nothing demand nothing; a part of an array stays one")
  func ends() async {
    let pulls = Probe<Int>()
    let list = List(1...5).onEach { pulls.record($0) }
    #expect(await list.suffix(0).isEmpty())
    #expect(pulls.count == 0)
    #expect(await list.dropLast(0).head() == 1)
    #expect(pulls.count == 1)
    #expect([1, 2, 3].lazyList.suffix(2).evaluatedPrefix == [2, 3])
    #expect([1, 2, 3].lazyList.dropLast().evaluatedPrefix == [1, 2])
    #expect(await list.suffix(.max).array() == [1, 2, 3, 4, 5])
    #expect(await list.dropLast(.max).isEmpty())
  }

  @Test("suffix keeps as much as it gives, dropLast as much as it drops")
  func space() async {
    let instances = InstanceCounter()
    #expect(
      await SpaceTests.members(instances).suffix(3).map(\.number).array() == [997, 998, 999])
    #expect(instances.alive == 0)
    #expect(instances.greatest <= 5)
    let other = InstanceCounter()
    #expect(await SpaceTests.members(other).dropLast(3).count() == 997)
    #expect(other.alive == 0)
    #expect(other.greatest <= 5)
  }

  @Test("dropLast of an endless list drops nothing; a search for its suffix is cancelled")
  func endless() async {
    #expect(await List(1...).dropLast(3).element(at: 4) == 5)
    await expectCancelled { _ = try await $0.suffix(1).throwingCancellation.head() }
  }
}
