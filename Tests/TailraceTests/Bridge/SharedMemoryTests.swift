import Tailrace
import TailraceTesting
import Testing

extension MemoryTests {
  #if DEBUG
    static let sharedCount = 100_000
  #else
    static let sharedCount = 10_000_000
  #endif

  #if os(Linux)
    @Test("ten million elements through a shared signal with three readers grow by less than 5 MB")
    func sharedSignal() async {
      await #expect(processExitsWith: .success) {
        let before = residentBytes()
        let count = MemoryTests.sharedCount
        let sums = await MemoryTests.readByThree(.bufferingOldest(1000))
        precondition(sums == Array(repeating: count * (count - 1) / 2, count: 3), "\(sums)")
        precondition(peakBytes() - before < 5_000_000, "\(peakBytes() - before)")
      }
    }

    @Test("so do they where a source does not wait, and readers that are too slow miss some")
    func sharedSignalThatDrops() async {
      await #expect(processExitsWith: .success) {
        let before = residentBytes()
        let sums = await MemoryTests.readByThree(.bufferingNewest(1000))
        precondition(sums.allSatisfy { $0 >= MemoryTests.sharedCount - 1 }, "the last one is there")
        precondition(peakBytes() - before < 5_000_000, "\(peakBytes() - before)")
      }
    }
  #endif

  @Test(
    "an ended shared signal releases its source; a deserted one keeps it", arguments: [false, true])
  func sourceOfSharedSignal(fails: Bool) async {
    let instances = InstanceCounter()
    let ends = Counter()
    let shared = { [member = instances.member()] in
      Signal<Int, any Error> { subscriber in
        subscriber.send(member.number)
        guard ends.value > 0 else { return subscriber.keep() }
        if fails { subscriber.fail(Mishap(position: 0)) } else { subscriber.complete() }
      }.shared(replaying: 1)
    }()
    var iterator: Signal<Int, any Error>.Iterator? = shared.makeAsyncIterator()
    #expect(try! await iterator?.next() == 0)
    iterator = nil
    #expect(instances.alive == 1, "the next reader runs it again")
    ends.increment()
    _ = try? await shared.array()
    #expect(instances.alive == 0)
    var late = shared.makeAsyncIterator()
    #expect(try! await late.next() == 0, "the past stays")
  }

  /// The sums of three readers that are there before the source begins to send.
  static func readByThree(_ policy: Signal<Int, Never>.BufferingPolicy) async -> [Int] {
    let gate = Gate()
    let signal = Signal<Int, Never> { subscriber async in
      await gate.wait()
      for number in 0..<sharedCount { await subscriber.send(whenReady: number) }
    }.shared(replaying: 100, bufferingPolicy: policy)
    let readers = (0..<3).map { _ in
      // A closure that is called by one task.
      let sum = Counter()
      let task = signal.subscribe { event in
        if case .next(let number) = event { sum.increment(by: number) }
      }
      return (sum, task)
    }
    gate.open()
    for (_, task) in readers { await task.value }
    return readers.map(\.0.value)
  }
}
