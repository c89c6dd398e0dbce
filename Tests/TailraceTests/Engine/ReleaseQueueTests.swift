import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("ReleaseQueue: chains of objects are released in a loop", .hangLimit, .inTurn)
struct ReleaseQueueTests {
  /// An object whose end lets go of others, as a list's does.
  private final class Link: @unchecked Sendable {
    // Guard: written before it is shared, then by its own end. May touch it: these.
    var next: [Link]
    private let onEnd: () -> Void

    init(_ next: [Link] = [], onEnd: @escaping () -> Void = {}) {
      self.next = next
      self.onEnd = onEnd
    }

    deinit {
      onEnd()
      while let one = next.popLast() { ReleaseQueue.release(Leftover(one)) }
    }
  }

  @Test("an object is released at once")
  func once() {
    let ended = Counter()
    let leftover = Leftover(Link { ended.increment() })
    #expect(ended.value == 0)
    ReleaseQueue.release(consume leftover)
    #expect(ended.value == 1)
  }

  @Test("one that somebody else holds stays")
  func held() {
    let ended = Counter()
    let link = Link { ended.increment() }
    ReleaseQueue.release(Leftover(link))
    #expect(ended.value == 0)
    withExtendedLifetime(link) {}
  }

  @Test("objects that a released one holds are released after it, before the call returns")
  func nested() {
    let order = Probe<Int>()
    func link(_ number: Int, _ next: [Link] = []) -> Link {
      Link(next) { order.record(number) }
    }
    ReleaseQueue.release(Leftover(link(0, [link(1, [link(2)]), link(3)])))
    #expect(order.values.first == 0 && order.values.sorted() == [0, 1, 2, 3])
    #expect(order.values.firstIndex(of: 1)! < order.values.firstIndex(of: 2)!)
  }

  @Test("a chain of a million, on a small stack")
  func deep() async {
    #if DEBUG
      let depth = 100_000
    #else
      let depth = 1_000_000
    #endif
    let ended = Counter()
    await OneThread.run {
      var chain = Link { ended.increment() }
      for _ in 1..<depth { chain = Link([chain]) { ended.increment() } }
      let leftover = Leftover(consume chain)
      #expect(ended.value == 0)
      ReleaseQueue.release(consume leftover)
      #expect(ended.value == depth)
    }
  }

  @Test("a task that an end starts may release more, while the loop runs and after it is over")
  func outliving() async {
    let (gate, ended) = (Gate(), Counter())
    let tasks = Locked([Task<Void, Never>]())
    ReleaseQueue.release(
      Leftover(
        Link {
          let task = Task {
            ReleaseQueue.release(Leftover(Link { ended.increment() }))
            await gate.wait()
            ReleaseQueue.release(Leftover(Link([Link { ended.increment() }])))
          }
          tasks.withLock { $0.append(task) }
        }))
    gate.open()
    for task in tasks.withLock({ $0 }) { await task.value }
    #expect(ended.value == 2)
  }
}
