import Tailrace
import TailraceTesting
import Testing

@Suite("Readers in step", .hangLimit, .inTurn)
struct LockstepTests {
  /// Reads to the end.
  static func all<Element, Failure>(
    _ reader: LockstepReader<Element, Failure>
  ) async throws(Failure) -> [Element] {
    var elements: [Element] = []
    for try await element in reader { elements.append(element) }
    return elements
  }

  /// Reads all readers side by side, to their ends.
  static func allSideBySide<Element, Failure>(
    _ readers: [LockstepReader<Element, Failure>]
  ) async throws -> [[Element]] {
    try await withThrowingTaskGroup(of: (Int, [Element]).self) { group in
      for (number, reader) in readers.enumerated() {
        group.addTask { (number, try await all(reader)) }
      }
      var results = Array(repeating: [Element](), count: readers.count)
      for try await (number, elements) in group { results[number] = elements }
      return results
    }
  }

  // MARK: All elements, each once

  @Test(
    "each reader gets all elements, and each is computed once",
    arguments: SourceKind.allCases, [(1, 1), (2, 1), (3, 4), (8, 1_000)])
  func everything(_ kind: SourceKind, _ size: (readers: Int, distance: Int)) async throws {
    let pulls = Probe<Int>()
    let readers = kind.make(upTo: 300, pulls)
      .lockstep(readers: size.readers, maxLead: size.distance)
    #expect(readers.count == size.readers)
    #expect(pulls.count == 0, "nothing runs before it is demanded")
    let elements = try await Self.allSideBySide(readers)
    #expect(elements == Array(repeating: Array(1...300), count: size.readers))
    #expect(Set(pulls.values).count == pulls.count)
  }

  @Test("an empty list, and one that is evaluated already")
  func short() async throws {
    #expect(
      try await Self.allSideBySide(LazyList<Int, Never>.empty.lockstep(readers: 3, maxLead: 1))
        == [[], [], []])
    let list = LazyList(0..<50).map { $0 }
    let elements = await list.array()
    #expect(
      try await Self.allSideBySide(list.lockstep(readers: 2, maxLead: 3)) == [elements, elements])
    #expect(
      try await Self.allSideBySide(list.dropFirst(48).lockstep(readers: 1, maxLead: 1)) == [
        [48, 49]
      ])
  }

  @Test("the cost of each element is asked for once")
  func costs() async throws {
    let costs = Probe<Int>()
    let readers = LazyList(0..<200).lockstep(readers: 3, maxLead: 10) { costs.pass($0) }
    #expect(costs.count == 0)
    #expect(try await Self.allSideBySide(readers) == Array(repeating: Array(0..<200), count: 3))
    #expect(costs.values == Array(0..<200))
  }

  @Test("a reader that is alone waits for nobody, and its elements have no cost")
  func alone() async throws {
    let costs = Probe<Int>()
    let readers = LazyList(0..<200).lockstep(readers: 1, maxLead: 10) { costs.pass($0) }
    #expect(await readers[0].reduce(into: []) { $0.append($1) } == Array(0..<200))
    #expect(costs.count == 0)
  }

  @Test("costs of any size: the largest let everybody pass, one after the other")
  func extremes() async throws {
    let readers = LazyList(0..<20).lockstep(readers: 3, maxLead: 1_000) { $0 % 2 == 0 ? .max : 0 }
    #expect(try await Self.allSideBySide(readers) == Array(repeating: Array(0..<20), count: 3))
    let endless = LazyList(0..<20).lockstep(readers: 2, maxLead: .max)
    #expect(await Self.all(endless[0]) == Array(0..<20))
    #expect(await Self.all(endless[1]) == Array(0..<20))
  }

  // MARK: The distance

  /// Readers that take one element whenever they are told to, on a scheduler whose work a test runs: after
  /// each event all that can go on has gone on.
  final class Course: Sendable {
    let scheduler = VirtualScheduler()
    let taken: [Probe<Int>]
    private let gates: [Gate]
    private let tasks: [Task<Void, Never>]
    private let ends: Probe<Int>

    init<Failure>(_ readers: [LockstepReader<Int, Failure>]) {
      let (scheduler, ends) = (scheduler, Probe<Int>())
      let taken = readers.map { _ in Probe<Int>() }
      let gates = readers.map { _ in Gate() }
      self.ends = ends
      self.taken = taken
      self.gates = gates
      tasks = readers.indices.map { number in
        let reader = readers[number]
        return Task(executorPreference: scheduler) {
          await gates[number].wait()
          var iterator = reader.makeAsyncIterator()
          do {
            while let element = try await iterator.next() {
              taken[number].record(element)
              await gates[number].wait()
            }
          } catch {}
          ends.record(number)
        }
      }
      scheduler.run()
    }

    /// Each reader's count of elements.
    var counts: [Int] { taken.map(\.count) }
    /// The readers whose loops are over.
    var over: Set<Int> { Set(ends.values) }

    func take(_ reader: Int, times: Int = 1) {
      for _ in 0..<times {
        gates[reader].pass()
        scheduler.run()
      }
    }

    func cancel(_ reader: Int) {
      tasks[reader].cancel()
      scheduler.run()
    }

    /// Lets all that still read go on to their ends.
    func finish() {
      for gate in gates { gate.open() }
      scheduler.run()
      #expect(over.count == tasks.count)
    }

    /// Cancels all that still read.
    func stop() {
      for task in tasks { task.cancel() }
      finish()
    }
  }

  @Test("nobody gets further ahead of the slowest than the distance, and nobody waits before that")
  func distance() {
    let pulls = Probe<Int>()
    let course = Course(LazyList(1...).map { pulls.pass($0) }.lockstep(readers: 3, maxLead: 5))
    course.take(0, times: 9)
    #expect(course.counts == [5, 0, 0])
    #expect(pulls.count == 5, "nothing is computed that would be too far ahead")
    course.take(1)
    #expect(course.counts == [5, 1, 0], "a reader that has not begun keeps the others")
    course.take(2)
    #expect(course.counts == [6, 1, 1], "the first has waited for one of them")
    course.take(2)
    course.take(1)
    #expect(course.counts == [7, 2, 2])
    course.take(1, times: 5)
    #expect(course.counts == [7, 7, 2])
    course.take(2, times: 2)
    #expect(course.counts == [9, 7, 4], "and has waited for four")
    #expect(course.taken[0].values == Array(1...9))
    course.stop()
  }

  @Test("by cost: a reader waits when what it has taken costs so much more")
  func costDistance() {
    let course = Course(LazyList([3, 3, 3, 50, 1, 1]).lockstep(readers: 2, maxLead: 7) { $0 })
    course.take(0, times: 4)
    #expect(course.counts == [3, 0], "the third begins within the distance")
    course.take(1)
    #expect(course.counts == [4, 1], "and so does one that costs more than the distance")
    course.take(1, times: 2)
    #expect(course.counts == [4, 3])
    course.take(0)
    #expect(course.counts == [4, 3])
    course.take(1)
    #expect(course.counts == [5, 4])
    course.finish()
  }

  @Test("one that fails, at its position, lets the others go on, and each of them fails there")
  func failing() {
    struct Mishap: Error {}
    let list = LazyList(1...).map { number throws(Mishap) in
      if number == 8 { throw Mishap() }
      return number
    }
    let course = Course(list.lockstep(readers: 2, maxLead: 5))
    course.take(0, times: 5)
    course.take(1, times: 3)
    course.take(0, times: 3)
    #expect(course.over == [0])
    #expect(course.counts == [7, 3])
    course.finish()
    #expect(course.over == [0, 1])
    #expect(course.taken[1].values == Array(1...7))
  }

  @Test("one that is cancelled while it waits for others ends, and they go on")
  func cancelled() {
    let course = Course(LazyList(1...).lockstep(readers: 3, maxLead: 2))
    course.take(0, times: 3)
    course.take(1)
    #expect(course.counts == [2, 1, 0])
    course.cancel(0)
    #expect(course.over == [0])
    course.take(2, times: 2)
    course.take(1, times: 4)
    #expect(course.counts == [2, 4, 2])
    // The slowest is cancelled; where it asks for what is there it may have it, and then it ends.
    course.cancel(2)
    course.take(2, times: 4)
    #expect(course.over == [0, 2])
    course.take(1, times: 20)
    #expect(course.counts[1] > 20)
    course.stop()
  }

  @Test("a reader that is let go of, and an iterator, lets the others go on")
  func dropped() async {
    var readers = LazyList(1...10).lockstep(readers: 3, maxLead: 1)
    let last = readers.removeLast()
    do {
      var iterator = readers.removeLast().makeAsyncIterator()
      #expect(await iterator.next() == 1)
    }
    // The other one has not begun.
    readers.removeAll()
    #expect(await Self.all(last) == Array(1...10))
  }

  @Test("a loop that is left lets the others go on, also while its reader is held")
  func left() async {
    let readers = LazyList(1...10).lockstep(readers: 2, maxLead: 2)
    for await element in readers[0] where element == 2 { break }
    #expect(await Self.all(readers[1]) == Array(1...10))
    withExtendedLifetime(readers) {}
  }

  @Test(
    "random schedules: readers that end, are cancelled, are let go of, begin late, against a model")
  func random() {
    for round in 0..<RandomCases.count("TAILRACE_IN_STEP_CASES", debug: 30, optimised: 300) {
      let seed = RandomCases.firstSeed &+ UInt64(round)
      var generator = SeededGenerator(seed: seed)
      let count = Int.random(in: 1...5, using: &generator)
      let distance = Int.random(in: 1...6, using: &generator)
      let length = Int.random(in: 0...40, using: &generator)
      let isAsync = Bool.random(using: &generator)
      let list = isAsync ? LazyList(0..<length).mapAsync { $0 } : LazyList(0..<length)
      let course = Course(list.lockstep(readers: count, maxLead: distance))
      // How often each was told to go on, and where it is.
      var wanted = Array(repeating: 0, count: count)
      var positions = wanted
      var gone: Set<Int> = []
      for _ in 0..<150 {
        let reader = Int.random(in: 0..<count, using: &generator)
        if Int.random(in: 0..<40, using: &generator) == 0 {
          // It is waiting to be told, or for the others; or it is told first.
          if wanted[reader] == positions[reader], !gone.contains(reader) { continue }
          course.cancel(reader)
          gone.insert(reader)
        } else {
          course.take(reader)
          if !gone.contains(reader) { wanted[reader] += 1 }
        }
        var isStill = false
        while !isStill {
          isStill = true
          let slowest = positions.indices.filter { !gone.contains($0) }.map { positions[$0] }.min()
          for reader in 0..<count where !gone.contains(reader) {
            guard positions[reader] < wanted[reader], let slowest,
              positions[reader] - slowest < distance
            else { continue }
            isStill = false
            if positions[reader] == length { gone.insert(reader) } else { positions[reader] += 1 }
            break
          }
        }
        #expect(course.counts == positions, "TAILRACE_SEED=\(seed)")
        #expect(course.over == gone, "TAILRACE_SEED=\(seed)")
      }
      course.finish()
      #expect(course.over == Set(0..<count), "TAILRACE_SEED=\(seed)")
    }
  }

  // MARK: Ends of a reader

  @Test("after its end, a failure or a cancellation an iterator gives nothing more")
  func over() async throws {
    var ended = LazyList([1]).lockstep(readers: 1, maxLead: 1)[0].makeAsyncIterator()
    #expect(await ended.next() == 1)
    for _ in 0..<3 { #expect(await ended.next() == nil) }

    struct Mishap: Error {}
    var failed = LazyList<Int, Mishap>.failing(Mishap()).lockstep(readers: 1, maxLead: 1)[0]
      .makeAsyncIterator()
    await #expect(throws: Mishap.self) { try await failed.next() }
    #expect(try await failed.next() == nil)
  }

  @Test("cancelled where it would wait, it throws CancellationError if it can, and ends otherwise")
  func cancellation() async throws {
    let mute = LazyList(1...).lockstep(readers: 2, maxLead: 1)
    let first = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var iterator = mute[0].makeAsyncIterator()
      // An element within the distance that is not evaluated would have to be waited for.
      return [await iterator.next(), await iterator.next()]
    }
    #expect(await first.value == [nil, nil])

    let list = LazyList(1...).map { (number: Int) throws -> Int in number }
    _ = try await list.head()
    let loud = list.lockstep(readers: 2, maxLead: 1)
    let second = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var iterator = loud[0].makeAsyncIterator()
      let element = try await iterator.next()
      await #expect(throws: CancellationError.self) { try await iterator.next() }
      #expect(try await iterator.next() == nil)
      return element
    }
    #expect(try await second.value == 1, "it is evaluated")
    // Nobody is kept by it.
    var iterator = loud[1].makeAsyncIterator()
    for number in 1...5 { #expect(try await iterator.next() == number) }
  }

  @Test("a failure that is retried is told to those who wait, and does not end them")
  func retried() async throws {
    struct Mishap: Error {}
    let (gate, attempts) = (Gate(), Counter())
    let list = LazyList(state: 0, retryingFailures: true) { number async throws -> Int? in
      number += 1
      guard number == 3 else { return number <= 5 ? number : nil }
      await gate.wait()
      if attempts.increment() == 1 { throw Mishap() }
      return number
    }
    let readers = list.lockstep(readers: 2, maxLead: 4)
    let tasks = readers.map { reader in
      Task {
        var elements: [Int] = []
        var failures = 0
        var iterator = reader.makeAsyncIterator()
        while true {
          do {
            guard let element = try await iterator.next() else { return (elements, failures) }
            elements.append(element)
          } catch is Mishap {
            failures += 1
          }
        }
      }
    }
    await gate.waitForArrivals(1)
    gate.open()
    var failures = 0
    for task in tasks {
      let (elements, count) = try await task.value
      #expect(elements == [1, 2, 3, 4, 5])
      failures += count
    }
    #expect(1...2 ~= failures, "those who waited for the attempt that failed")
  }

  @Test("a reader that failed for now keeps the others until it is let go of")
  func retriedLater() {
    struct Mishap: Error {}
    let calls = Counter()
    let list = LazyList(1...).map(retryingFailures: true) { (number: Int) throws -> Int in
      if number == 3, calls.increment() == 1 { throw Mishap() }
      return number
    }
    let course = Course(list.lockstep(readers: 2, maxLead: 2))
    // The loop ends with the failure, and with it the iterator.
    course.take(0, times: 2)
    course.take(1, times: 2)
    course.take(0)
    #expect(course.over == [0])
    course.take(1, times: 6)
    #expect(course.counts == [2, 8])
    course.stop()
  }

  // MARK: Cycles

  @Test("one task that reads several in turns, as a zip does", arguments: [1, 2, 5])
  func turns(_ distance: Int) async {
    let readers = LazyList(0..<100).lockstep(readers: 3, maxLead: distance)
    var iterators = readers.map { $0.makeAsyncIterator() }
    for number in 0..<100 {
      for index in 0..<3 { #expect(await iterators[index].next() == number) }
    }
    for index in 0..<3 { #expect(await iterators[index].next() == nil) }
  }

  @Test("one task that takes as many of one as the distance, then of the other, by cost too")
  func runs() async {
    let readers = LazyList(0..<60).lockstep(readers: 2, maxLead: 15) { _ in 3 }
    var (first, second) = (readers[0].makeAsyncIterator(), readers[1].makeAsyncIterator())
    for start in stride(from: 0, to: 60, by: 5) {
      for number in start..<start + 5 { #expect(await first.next() == number) }
      for number in start..<start + 5 { #expect(await second.next() == number) }
    }
    #expect(await first.next() == nil)
    #expect(await second.next() == nil)
  }

  /// An iterator that tasks pass to one another: one has it at a time.
  private final class Passed: @unchecked Sendable {
    var iterator: LockstepReader<Int, Never>.Iterator
    init(_ reader: LockstepReader<Int, Never>) { iterator = reader.makeAsyncIterator() }
    func next() async -> Int? { await iterator.next() }
  }

  /// Which task has read the first element of the slower reader.
  enum FirstTask: CaseIterable { case thatReadsTheOther, thatHasEnded }

  @Test(
    "the distance holds whichever task has read the slower one: it may have handed that over",
    arguments: FirstTask.allCases, [false, true])
  func handedOver(_ first: FirstTask, _ isMeasured: Bool) async {
    let list = LazyList(0...)
    let readers =
      isMeasured
      ? list.lockstep(readers: 2, maxLead: 4) { _ in 1 } : list.lockstep(readers: 2, maxLead: 4)
    let (slow, fast) = (Passed(readers[0]), Passed(readers[1]))
    let (scheduler, taken) = (VirtualScheduler(), Counter())
    if first == .thatHasEnded {
      scheduler.schedule { _ = await slow.next() }
      scheduler.run()
    }
    let reading = scheduler.schedule {
      if first == .thatReadsTheOther { _ = await slow.next() }
      while taken.value < 100, await fast.next() != nil { taken.increment() }
    }
    scheduler.run()
    #expect(taken.value == 5)
    // Another task reads the slower one now.
    scheduler.schedule { _ = await slow.next() }
    scheduler.run()
    #expect(taken.value == 6)
    reading.cancel()
    scheduler.run()
  }

  @Test("a reader in tasks of its own, each of which ends: the distance holds")
  func shortTasks() async {
    for _ in 0..<20 {
      let readers = LazyList(0...).lockstep(readers: 2, maxLead: 4)
      let (slow, fast) = (Passed(readers[0]), Passed(readers[1]))
      let (scheduler, taken) = (VirtualScheduler(), Counter())
      scheduler.schedule { _ = await slow.next() }
      scheduler.run()
      var waiting: Task<Void, Never>?
      while waiting == nil, taken.value < 100 {
        let before = taken.value
        let reading = scheduler.schedule { if await fast.next() != nil { taken.increment() } }
        scheduler.run()
        if taken.value == before { waiting = reading }
      }
      #expect(taken.value == 5)
      waiting?.cancel()
      scheduler.run()
    }
  }

  // MARK: Looking

  @Test("the descriptions name who waits for whom")
  func looking() async {
    let readers = LazyList(1...).lockstep(readers: 3, maxLead: 4)
    let course = Course(readers)
    course.take(1, times: 2)
    course.take(0, times: 5)
    #expect("\(readers[0])" == "LockstepReader(0 of 3, within 4: at 4, waits for reader 2, at 0)")
    #expect("\(readers[1])" == "LockstepReader(1 of 3, within 4: at 2)")
    #expect("\(readers[2])" == "LockstepReader(2 of 3, within 4: at 0, not read yet)")
    course.take(2, times: 2)
    course.take(0, times: 2)
    #expect(
      "\(readers[0])" == "LockstepReader(0 of 3, within 4: at 6, waits for readers 1 and 2, at 2)")
    course.cancel(2)
    course.take(2, times: 6)
    #expect(course.over == [2])
    #expect("\(readers[2])".hasSuffix(", over)"))
    course.stop()
    #expect("\(readers[0])".contains("over"))
  }

  @Test("a crowd that is waited for is named by its first two")
  func lookingAtMany() {
    let readers = LazyList(1...).lockstep(readers: 6, maxLead: 1) { _ in 7 }
    let course = Course(Array(readers[..<1]))
    course.take(0, times: 2)
    #expect(
      "\(readers[0])"
        == "LockstepReader(0 of 6, within 1: at 7, waits for readers 1, 2 and 3 others, at 0)")
    // A reader that is released is not waited for.
    withExtendedLifetime(readers) {}
    course.stop()
  }

  // MARK: Memory

  @Test("memory holds the distance", arguments: [false, true])
  func memory(_ isMeasured: Bool) async throws {
    let instances = InstanceCounter()
    func list() -> LazyList<InstanceCounter.Member, Never> {
      LazyList(0..<100_000).map { instances.member($0) }
    }
    let readers =
      isMeasured
      ? list().lockstep(readers: 3, maxLead: 1_000) { _ in 1 }
      : list().lockstep(readers: 3, maxLead: 1_000)
    await withTaskGroup { group in
      for reader in readers {
        group.addTask {
          var count = 0
          for await _ in reader { count += 1 }
          #expect(count == 100_000)
        }
      }
    }
    // Cells are let go of by segments, of 128 at most.
    #expect(instances.greatest < 1_000 + 3 * 128 + 3)
    #expect(instances.alive == 0)
    withExtendedLifetime(readers) {}
  }

  @Test("no element is held after the end, although the readers and their iterators are held")
  func release() async {
    let instances = InstanceCounter()
    let readers = LazyList(0..<10).map { instances.member($0) }.lockstep(readers: 2, maxLead: 20)
    var first = readers[0].makeAsyncIterator()
    while await first.next() != nil {}
    #expect(instances.alive == 10, "the second has not begun")
    var second = readers[1].makeAsyncIterator()
    while await second.next() != nil {}
    #expect(instances.alive == 0)
    #expect(await first.next() == nil)
    withExtendedLifetime(readers) {}
  }

  // MARK: Isolation

  @Test("elements arrive in the isolation that they are read from")
  @MainActor
  func isolation() async {
    let readers = LazyList(0..<100).lockstep(readers: 2, maxLead: 3)
    async let other = Self.all(readers[1])
    var count = 0
    for await _ in readers[0] {
      MainActor.assertIsolated()
      count += 1
    }
    #expect(count == 100)
    #expect(await other.count == 100)
  }

  @Test("no thread is blocked: one is enough")
  func oneThread() async {
    let sums = await OneThread.run {
      let readers = LazyList(1...5_000).lockstep(readers: 8, maxLead: 3)
      return await withTaskGroup { group in
        for reader in readers {
          group.addTask {
            var sum = 0
            for await number in reader { sum += number }
            return sum
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(sums == Array(repeating: 5_000 * 5_001 / 2, count: 8))
  }

  @Test("typed: without `try` where nothing fails, with the list's failure where it does")
  func types() async {
    struct Mishap: Error {}
    func failure<S: AsyncSequence>(_: S) -> any Error.Type { S.Failure.self }
    #expect(failure(LazyList(0..<3).lockstep(readers: 1, maxLead: 1)[0]) is Never.Type)
    let failing = LazyList<Int, Mishap>.failing(Mishap()).lockstep(readers: 1, maxLead: 1)[0]
    do throws(Mishap) { for try await _ in failing {} } catch { _ = error as Mishap }
  }

  @Test("a second iteration traps")
  func twice() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let readers = LazyList(1...3).lockstep(readers: 1, maxLead: 1)
      for await _ in readers[0] {}
      for await _ in readers[0] {}
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("LockstepReader<Int> is read once"), "\(said)")
  }
}
