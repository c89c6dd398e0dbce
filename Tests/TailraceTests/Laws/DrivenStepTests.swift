import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@Suite("A step runs on the stack of its demand until it suspends", .inTurn)
struct DrivenStepTests {
  private actor Adder {
    var sum = 0

    func add(_ element: Int) -> UInt {
      sum += element
      return RunningThread.number()
    }
  }

  @Test("one that does not suspend stays on its reader's thread")
  func stays() async {
    let list = LazyList(0..<20).map { (_: Int) async -> UInt in RunningThread.number() }
    var iterator = list.makeAsyncIterator()
    for _ in 0..<20 {
      let thread = RunningThread.number()
      #expect(await iterator.next() == thread)
    }
  }

  @Test("so does an idle actor that it asks")
  func asks() async {
    let adder = Adder()
    let list = LazyList(0..<20).map { (element: Int) async -> UInt in await adder.add(element) }
    var iterator = list.makeAsyncIterator()
    for _ in 0..<20 {
      let thread = RunningThread.number()
      #expect(await iterator.next() == thread)
    }
    #expect(await adder.sum == 190)
  }

  @Test("whoever reads the end finds that nothing of the steps is retained any more")
  func released() async {
    let instances = InstanceCounter()
    for _ in 0..<Size.usual(500, full: 5_000) {
      // So many that their release takes longer than a reader takes to be told.
      let list = LazyList(state: (0..<200).map(instances.member)) { members async -> Int? in
        await Task.detached {}.value
        return members.count == 200 ? nil : 1
      }
      for await _ in list {}
      #expect(instances.alive == 0)
      withExtendedLifetime(list) {}
    }
  }

  @Test("its children do not end before it, wherever they run", arguments: [false, true])
  func children(_ suspend: Bool) async {
    let list = LazyList(0..<100).map { (element: Int) async -> Int in
      async let twice = { () async -> Int in
        if suspend { await Task.yield() }
        return element * 2
      }()
      return await twice + 1
    }
    #expect(await list.array() == (0..<100).map { $0 * 2 + 1 })
  }
}
