import Foundation
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceLists

/// Tells whether this thread is inside of a call of `Task.cancel()` or `escalatePriority(to:)`.
private enum Inside {
  private static let key = "InsideCancelTests"

  static func perform(_ call: () -> Void) {
    Thread.current.threadDictionary[key] = true
    call()
    Thread.current.threadDictionary[key] = nil
  }

  static var isHere: Bool { Thread.current.threadDictionary[key] != nil }
}

/// The user's code that has run, and where.
private final class Witness: Sendable {
  let events = Probe<String>()
  let trespasses = Probe<String>()

  func note(_ event: String) {
    if Inside.isHere { trespasses.record(event) }
    events.record(event)
  }

  /// A value whose release is noted.
  final class Member: Sendable {
    private let name: String
    private let witness: Witness

    fileprivate init(_ name: String, _ witness: Witness) {
      (self.name, self.witness) = (name, witness)
    }

    deinit { witness.note(name) }
  }

  func member(_ name: String) -> Member { Member(name, self) }

  /// A signal that never ends by itself, and the way to send into its subscription.
  func signal() -> (Signal<Member, Never>, send: @Sendable () -> Void) {
    let subscribers = Locked([Signal<Member, Never>.Subscriber]())
    let signal = Signal<Member, Never> { [self] subscriber in
      subscribers.withLock { $0.append(subscriber) }
      subscriber.onTermination { [self] _ in
        note("handler")
        // Released outside of the lock: that may end another subscription.
        let former = subscribers.withLock { subscribers in
          let former = subscribers
          subscribers = []
          return former
        }
        withExtendedLifetime(former) {}
      }
    }
    return (
      signal,
      { [self] in
        for subscriber in subscribers.withLock({ $0 }) { subscriber.send(member("element")) }
      }
    )
  }
}

/// A way to read a signal, in a task that can be cancelled.
private struct SignalRow: CustomTestStringConvertible, Sendable {
  typealias Source = Signal<Witness.Member, Never>
  let testDescription: String
  let begin: @Sendable (Source, VirtualScheduler) -> Task<Void, Never>

  static func reading<S: AsyncSequence & Sendable>(
    _ name: String, _ make: @escaping @Sendable (Source, VirtualScheduler) -> S
  ) -> Self where S.Failure == Never {
    Self(testDescription: name) { source, scheduler in
      let sequence = Owned(Optional(make(source, scheduler)))
      return Task(executorPreference: scheduler) {
        guard var iterator = sequence.state.take()?.makeAsyncIterator() else { return }
        while await iterator.next(isolation: nil) != nil {}
      }
    }
  }

  static let all = [
    reading("an iterator") { source, _ in source },
    reading("map, filter, compactMap, prefix") { source, _ in
      source.map { $0 }.filter { _ in true }.compactMap { $0 }.prefix(9)
    },
    reading("events") { source, _ in source.events },
    reading("dematerialized") { source, _ in
      source.events.dematerialized() as Signal<Witness.Member, Never>
    },
    reading("batches") { source, _ in source.batches(upTo: 3) },
    reading("deliver(on:)") { source, scheduler in source.deliver(on: scheduler) },
    reading("shared") { source, _ in source.shared() },
    reading("shared, replaying") { source, _ in source.shared(replaying: 2) },
    reading("merging") { source, _ in Signal.merging([source, source]) },
    reading("merging, shared") { source, _ in source.map { $0 }.merging(source).shared() },
    reading("a stream") { source, _ in source.stream() },
    reading("a list") { source, _ in source.memoized() },
    reading("a list, ahead") { source, _ in source.memoized().prefetching(2) },
    reading("a list, merged") { source, _ in source.memoized().merging(.empty) },
    reading("a list as a signal") { source, scheduler in source.memoized().signal(on: scheduler) },
    reading("a list as a stream") { source, scheduler in source.memoized().stream(on: scheduler) },
    Self(testDescription: "subscribe") { source, _ in source.subscribe { _ in } },
    Self(testDescription: "subscribe, on a scheduler") { source, scheduler in
      source.deliver(on: scheduler).subscribe { _ in }
    },
  ]
}

/// A way to wait for a closure of a user's that goes on until its task, or the test, ends it.
private struct ListRow: CustomTestStringConvertible, Sendable {
  typealias Step = @Sendable () async -> Void
  let testDescription: String
  let wait: @Sendable (@escaping Step, VirtualScheduler) async -> Void

  static func list(_ step: @escaping Step) -> LazyList<Int, Never> {
    LazyList(state: 0) { state in
      await step()
      state += 1
      return state > 4 ? nil : state
    }
  }

  static let all = [
    Self(testDescription: "iteration") { step, _ in for await _ in list(step) {} },
    Self(testDescription: "a fold") { step, _ in _ = await list(step).reduce(0, +) },
    Self(testDescription: "a question") { step, _ in _ = await list(step).head() },
    Self(testDescription: "a shared iterator") { step, _ in
      let iterator = list(step).makeSharedIterator()
      while await iterator.next() != nil {}
    },
    Self(testDescription: "a reader in step") { step, _ in
      for await _ in list(step).lockstep(readers: 1, maxLead: 2)[0] {}
    },
    Self(testDescription: "a memo") { step, _ in
      _ = await Memo<Int, Never> {
        await step()
        return 1
      }.value()
    },
    Self(testDescription: "a memo by key") { step, _ in
      let memos = Memos<Int, Int, Never> { key in
        await step()
        return key
      }
      _ = await memos.value(for: 1)
    },
    Self(testDescription: "concurrentMap") { step, _ in
      for await _ in LazyList(0..<4).concurrentMap(
        limit: 2,
        { n in
          await step(); return n
        })
      {}
    },
    Self(testDescription: "concurrentMapUnordered") { step, _ in
      for await _ in LazyList(0..<4).concurrentMapUnordered(
        limit: 2,
        { n in
          await step(); return n
        })
      {}
    },
    Self(testDescription: "concurrentForEach") { step, _ in
      await LazyList(0..<4).concurrentForEach(limit: 2) { _ in await step() }
    },
    Self(testDescription: "prefetching") { step, _ in
      for await _ in list(step).prefetching(2) {}
    },
    Self(testDescription: "ticks") { step, scheduler in
      for await _ in scheduler.ticks(every: .seconds(1)) { await step() }
    },
    Self(testDescription: "a sleep") { _, scheduler in
      try? await scheduler.sleep(for: .seconds(1))
    },
  ]
}

@Suite(
  "No code of a user's runs inside of Task.cancel() and escalatePriority(to:)", .inTurn, .hangLimit)
struct InsideCancelTests {
  @Test(
    "readers of signals: asleep, and woken by elements that they have not read",
    arguments: SignalRow.all, [false, true])
  private func signals(_ row: SignalRow, _ isWoken: Bool) async {
    let (witness, scheduler) = (Witness(), VirtualScheduler())
    let (signal, send) = witness.signal()
    let task = row.begin(signal, scheduler)
    scheduler.run()
    if isWoken { for _ in 1...3 { send() } }
    Inside.perform {
      task.raise(to: .high)
      task.cancel()
    }
    let watch = Task { await task.value }
    // A handler that runs in a job of its own comes when it comes.
    while !witness.events.values.contains("handler") {
      scheduler.run()
      await Task.yield()
    }
    scheduler.run()
    await watch.value
    #expect(witness.trespasses.values == [])
    #expect(witness.events.values.contains("handler"), "the source is told")
  }

  @Test("readers of lists, memos and clocks that wait", arguments: ListRow.all)
  private func lists(_ row: ListRow) async {
    let (witness, scheduler, gate) = (Witness(), VirtualScheduler(), Gate())
    let step: ListRow.Step = { [member = witness.member("closure")] in
      witness.note("step")
      await gate.wait()
      withExtendedLifetime(member) {}
    }
    let task = Task(executorPreference: scheduler) { await row.wait(step, scheduler) }
    scheduler.run()
    Inside.perform {
      task.raise(to: .high)
      task.cancel()
    }
    gate.open()
    let watch = Task {
      await task.value
      witness.note("over")
    }
    while !witness.events.values.contains("over") {
      scheduler.run()
      await Task.yield()
    }
    await watch.value
    #expect(witness.trespasses.values == [])
  }

  @Test("a busy subscription: its source is told while its handler waits")
  func busy() async {
    let (witness, gate) = (Witness(), Gate())
    let (signal, send) = witness.signal()
    let task = signal.subscribe { _ in await gate.wait() }
    for _ in 1...3 { send() }
    await gate.waitForArrivals(1)
    Inside.perform { task.cancel() }
    await witness.events.waitForCount(1)
    #expect(witness.events.values.contains("handler"))
    gate.open()
    await task.value
    #expect(witness.trespasses.values == [])
  }
}
