import Dispatch
import Foundation
import TailraceSupport
import TailraceTesting

/// A body of unmodified code, and what an exploration of the whole process finds in it.
struct Body: Sendable {
  enum Outcome: Equatable, Sendable {
    case passes
    case finds(String)
    case isStuck
    case takesTooManySteps
  }

  let name: String
  let outcome: Outcome
  /// How many jobs come from outside in a run.
  var isClosed = true
  var options = ExplorationOptions(patience: .milliseconds(20))
  let run: @Sendable (Exploration) async throws -> Void

  init(
    _ name: String, _ outcome: Outcome, timeIsFree: Bool = false, preemptions: Int = 3,
    runs: Int = 3_000, isClosed: Bool = true,
    _ run: @escaping @Sendable (Exploration) async throws -> Void
  ) {
    (self.name, self.outcome, self.isClosed, self.run) = (name, outcome, isClosed, run)
    options.timeIsFree = timeIsFree
    options.preemptions = preemptions
    options.runs = runs
    options.randomRuns = 200
    options.allowsJobsFromOutside = !isClosed
  }
}

// MARK: What the bodies are about

private func assumed() -> Int { MainActor.assumeIsolated { 1 } }

/// A value that anything may change; what is explored happens between its accesses.
final class Shared<Value: Sendable>: Sendable {
  private let value: Locked<Value>
  init(_ value: Value) { self.value = Locked(value) }
  var now: Value { value.withLock { $0 } }
  func set(_ new: Value) { value.withLock { $0 = new } }
  @discardableResult
  func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    value.withLock { body(&$0) }
  }
}

private actor Account {
  var balance: Int
  init(_ balance: Int) { self.balance = balance }
  func add(_ amount: Int) { balance += amount }
  func take(_ amount: Int) { balance -= amount }

  func addSlowly(_ amount: Int) async {
    let before = balance
    await Task.yield()
    balance = before + amount
  }
}

private protocol Counting: Actor {
  var count: Int { get }
  func set(_ count: Int)
}

private actor Tally: Counting {
  var count = 0
  func set(_ count: Int) { self.count = count }
}

private func increment(_ counter: some Counting) async {
  let seen = await counter.count
  await counter.set(seen + 1)
}

private func increment(any counter: any Counting) async {
  let seen = await counter.count
  await counter.set(seen + 1)
}

private actor Flagged {
  private(set) var isBusy = false
  func sets() { isBusy = true }
}

/// Enters if the other has not: both may.
private func enters(_ own: Flagged, _ other: Flagged, _ entered: Shared<Int>) async {
  let isOtherBusy = await other.isBusy
  await own.sets()
  if !isOtherBusy { entered.change { $0 += 1 } }
}

private actor Numbering {
  private var last = 0
  func next() -> Int {
    last += 1
    return last
  }
}

/// Takes a number, leaves the actor, and notes the number: another one may come in between.
private func takes(_ numbering: Numbering, _ order: Shared<[Int]>) async {
  let number = await numbering.next()
  order.change { $0.append(number) }
}

private actor Cache {
  private var values: [Int: String] = [:]
  private(set) var loads = 0

  func value(_ key: Int) async -> String {
    if let value = values[key] { return value }
    loads += 1
    let value = await Task.detached {
      try? await Task.sleep(for: .seconds(2))
      return "\(key)"
    }.value
    values[key] = value
    return value
  }
}

private actor Mailbox {
  private var waiting: [CheckedContinuation<Void, Never>] = []
  func wait() async { await withCheckedContinuation { waiting.append($0) } }
  func wakeFirst() { if !waiting.isEmpty { waiting.removeFirst().resume() } }
}

@MainActor private final class Retrying {
  var tries = 0
  func run() async {
    while true {
      tries += 1
      do {
        try await Task.sleep(for: .seconds(1))
        throw CancellationError()
      } catch {}
    }
  }
}

@MainActor private final class MendedRetrying {
  var tries = 0
  func run() async {
    while !Task.isCancelled {
      tries += 1
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
    }
  }
}

private func firstOf(_ timeout: Int, _ seconds: Int) async -> String {
  await withTaskGroup(of: String.self) { group in
    group.addTask {
      try? await Task.sleep(for: .seconds(seconds))
      return "answer"
    }
    group.addTask {
      try? await Task.sleep(for: .seconds(timeout))
      return "timed out"
    }
    defer { group.cancelAll() }
    return await group.next() ?? "nothing"
  }
}

/// Waits, and can be cancelled: but not before there is a continuation.
private final class Waiting: Sendable {
  private let continuation = Shared(CheckedContinuation<Void, Never>?.none)

  func wait() async {
    await withTaskCancellationHandler {
      await Task.yield()
      await withCheckedContinuation { continuation.set($0) }
    } onCancel: {
      continuation.change { $0.take() }?.resume()
    }
  }
}

@MainActor private final class Profile {
  private var name: String?
  private(set) var loads = 0
  private(set) var isSpinning = false

  func load() async -> String {
    if let name { return name }
    loads += 1
    try? await Task.sleep(for: .seconds(1))
    name = "name"
    return "name"
  }

  func spin(_ seconds: Int) {
    Task {
      isSpinning = true
      try? await Task.sleep(for: .seconds(seconds))
      isSpinning = false
    }
  }
}

@MainActor private final class Throttle {
  private var last: ContinuousClock.Instant?
  private(set) var sent: [ContinuousClock.Instant] = []

  func send() async {
    let now = ContinuousClock.now
    if let last, now - last < .seconds(1) { return }
    await Task.yield()
    last = now
    sent.append(now)
  }
}

private actor Poller {
  private(set) var polls = 0
  private var task: Task<Void, Never>?

  func start() {
    task = Task {
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(60))
        polls += 1
      }
    }
  }

  func stop() { task?.cancel() }
}

private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "an executor of its own")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

private actor Elsewhere {
  private let executor = QueueExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  private(set) var count = 0

  func incrementSlowly() async {
    let before = count
    await Task.yield()
    count = before + 1
  }
}

private actor Session {
  private var token: String?
  private(set) var refreshes = 0

  func validToken() async throws -> String {
    if let token { return token }
    refreshes += 1
    try await Task.sleep(for: .seconds(1))
    token = "token \(refreshes)"
    return "token \(refreshes)"
  }
}

@MainActor private final class ImageCell {
  private(set) var image = ""
  private var task: Task<Void, Never>?

  /// The cell is used again for another row.
  func show(_ row: Int) {
    task?.cancel()
    task = Task {
      // A download that does not answer to cancellation.
      let found = await Task {
        try? await Task.sleep(for: .seconds(row == 1 ? 3 : 1))
        return "image \(row)"
      }.value
      image = found
    }
  }
}

@MainActor private final class Player {
  private(set) var position = 0
  private var isPlaying = false

  func play() {
    isPlaying = true
    Task {
      while isPlaying {
        try? await Task.sleep(for: .seconds(1))
        position += 1
      }
    }
  }

  func pause() { isPlaying = false }
}

// MARK: The bodies

extension Body {
  static let all = [
    Body("search: given latencies", .finds("an old answer"), search([90, 60])),
    Body("search: latency by chance", .finds("an old answer"), timeIsFree: true, search([60, 60])),
    Body(
      "search mended: given latencies", .passes, mendedSearch([90, 60])),
    Body("search mended: typed at once", .passes, preemptions: .max) { run in
      let model = await MendedSearchModel(api: .deaf { _ in 60 })
      await model.type("t")
      await model.type("te")
      try await Task.sleep(for: .seconds(600))
      try run.require(await model.results == ["te"], "an old answer")
    },
    Body("a token that two requests refresh", .finds("refreshed twice")) { run in
      let session = Session()
      let requests = (0..<2).map { _ in Task { try await session.validToken() } }
      for request in requests { _ = try await request.value }
      try run.require(await session.refreshes == 1, "refreshed twice")
    },
    Body("an image cell that is used again", .finds("an old image")) { run in
      let cell = ImageCell()
      await cell.show(1)
      try await Task.sleep(for: .milliseconds(500))
      await cell.show(2)
      try await Task.sleep(for: .seconds(600))
      try run.require(await cell.image == "image 2", "an old image")
    },
    Body("a player that is paused, and played again at once", .finds("it plays twice as fast")) {
      run in
      let player = Player()
      await player.play()
      try await Task.sleep(for: .milliseconds(1_500))
      await player.pause()
      await player.play()
      try await Task.sleep(for: .seconds(10))
      let position = await player.position
      await player.pause()
      try run.require(position <= 12, "it plays twice as fast")
    },
    Body("lost update across an await", .finds("the balance is wrong")) { run in
      let account = Account(0)
      let one = Task { await account.addSlowly(1) }
      let other = Task.detached { await account.addSlowly(1) }
      _ = await (one.value, other.value)
      try run.require(await account.balance == 2, "the balance is wrong")
    },
    Body("check, await, act between two actors", .finds("overdrawn")) { run in
      let (from, to) = (Account(100), Account(0))
      let transfers = (0..<2).map { _ in
        Task {
          guard await from.balance >= 80 else { return }
          await to.add(80)
          await from.take(80)
        }
      }
      for transfer in transfers { await transfer.value }
      try run.require(await from.balance >= 0, "overdrawn")
    },
    Body("generic code around an actor's calls", .finds("lost a count")) { run in
      let tally = Tally()
      let tasks = (0..<2).map { _ in
        Task {
          await increment(tally)
          await Task.yield()
        }
      }
      for task in tasks { await task.value }
      try run.require(await tally.count == 2, "lost a count")
    },
    Body("code over any actor", .finds("lost a count")) { run in
      let tally: any Counting = Tally()
      let tasks = (0..<2).map { _ in
        Task {
          await increment(any: tally)
          await Task.yield()
        }
      }
      for task in tasks { await task.value }
      try run.require(await tally.count == 2, "lost a count")
    },
    Body("each looks at the other's actor", .finds("both entered")) { run in
      let (one, other, entered) = (Flagged(), Flagged(), Shared(0))
      let first = Task { await enters(one, other, entered) }
      let second = Task { await enters(other, one, entered) }
      _ = await (first.value, second.value)
      try run.require(entered.now <= 1, "both entered")
    },
    // The limit: a plain task that leaves an actor goes on in the same step.
    Body("behind an actor's call: plain tasks", .passes, preemptions: .max) { run in
      let (numbering, order) = (Numbering(), Shared([Int]()))
      let tasks = (0..<2).map { _ in Task { await takes(numbering, order) } }
      for task in tasks { await task.value }
      try run.require(order.now == [1, 2], "noted in another order")
    },
    Body("behind an actor's call: children", .finds("noted in another order")) { run in
      let (numbering, order) = (Numbering(), Shared([Int]()))
      async let one: Void = takes(numbering, order)
      async let other: Void = takes(numbering, order)
      _ = await (one, other)
      try run.require(order.now == [1, 2], "noted in another order")
    },
    Body("a cache that checks, awaits a detached load, stores", .finds("loaded twice")) { run in
      let cache = Cache()
      let one = Task { await cache.value(1) }
      let same = Task { await cache.value(1) }
      _ = await (one.value, same.value)
      try run.require(await cache.loads == 1, "loaded twice")
    },
    Body("a stream that a cancelled consumer has ended", .finds("the second consumer saw nothing"))
    {
      run in
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      let seen = Shared([Int]())
      let first = Task { for await number in stream { seen.change { $0.append(number) } } }
      continuation.yield(1)
      try await Task.sleep(for: .seconds(1))
      first.cancel()
      await first.value
      let second = Task { for await number in stream { seen.change { $0.append(number) } } }
      continuation.yield(2)
      continuation.finish()
      await second.value
      try run.require(seen.now == [1, 2], "the second consumer saw nothing")
    },
    Body("two continuations, each waits", .isStuck) { _ in
      let (one, other) = (Mailbox(), Mailbox())
      let first = Task {
        await one.wait()
        await other.wakeFirst()
      }
      let second = Task {
        await other.wait()
        await one.wakeFirst()
      }
      _ = await (first.value, second.value)
    },
    Body("a retry on the main actor that swallows its cancellation", .takesTooManySteps) { _ in
      let retrying = Retrying()
      let task = Task { await retrying.run() }
      try await Task.sleep(for: .seconds(5))
      task.cancel()
      await task.value
    },
    Body("a retry that ends when it is cancelled", .passes) { _ in
      let retrying = MendedRetrying()
      let task = Task { await retrying.run() }
      try await Task.sleep(for: .seconds(5))
      task.cancel()
      await task.value
    },
    Body("a timeout, as long as the work", .finds("timed out")) { run in
      let first = await firstOf(60, 60)
      try run.require(first == "answer", "timed out")
    },
    Body("a timeout after the answer", .passes) { run in
      let first = await firstOf(61, 60)
      try run.require(first == "answer", "timed out")
    },
    Body("results of a group taken as ordered", .finds("out of order")) { run in
      let found = await withTaskGroup(of: Int.self) { group in
        for number in 1...3 { group.addTask { number } }
        return await group.reduce(into: [Int]()) { $0.append($1) }
      }
      try run.require(found == [1, 2, 3], "out of order")
    },
    Body("a cancellation before there is a continuation", .isStuck) { _ in
      let waiting = Waiting()
      let task = Task { await waiting.wait() }
      Task { task.cancel() }
      await task.value
    },
    Body("async let over a model on the main actor", .finds("loaded twice")) { run in
      let profile = Profile()
      async let one = profile.load()
      async let other = profile.load()
      _ = await (one, other)
      try run.require(await profile.loads == 1, "loaded twice")
    },
    Body("a spinner that the first of two loads hides", .finds("hidden while it loads")) { run in
      let profile = Profile()
      await profile.spin(10)
      await profile.spin(20)
      try await Task.sleep(for: .seconds(15))
      try run.require(await profile.isSpinning, "hidden while it loads")
    },
    Body("a throttle by the clock of the system", .finds("two within a second")) { run in
      let throttle = Throttle()
      let tasks = (0..<3).map { number in
        Task {
          try? await Task.sleep(for: .seconds(number))
          await throttle.send()
          await throttle.send()
        }
      }
      Task { await throttle.send() }
      for task in tasks { await task.value }
      let sent = await throttle.sent
      let isDense = zip(sent, sent.dropFirst()).contains { $1 - $0 < .seconds(1) }
      try run.require(!isDense, "two within a second")
    },
    Body("the sleeps and the clocks of the system", .passes) { run in
      let (begin, uptime, date) = (ContinuousClock.now, SuspendingClock.now, Date())
      try await Task.sleep(for: .seconds(3600))
      try await Task.sleep(nanoseconds: 1_000_000_000)
      try await Task.sleep(until: SuspendingClock.now + .seconds(1), clock: .suspending)
      try await ContinuousClock().sleep(for: .milliseconds(1))
      let expected = Duration.milliseconds(3_602_001)
      try run.require(ContinuousClock.now - begin == expected, "\(ContinuousClock.now - begin)")
      try run.require(SuspendingClock.now - uptime == expected, "\(SuspendingClock.now - uptime)")
      try run.require(abs(Date().timeIntervalSince(date) - 3602.001) < 1e-5, "\(Date())")
      try run.require(run.clock.now.offset == expected)
    },
    Body("what checks its isolation", .passes) { run in
      let task = Task { @MainActor in
        MainActor.assertIsolated()
        MainActor.preconditionIsolated()
        dispatchPrecondition(condition: .onQueue(.main))
        return assumed()
      }
      let found = await task.value
      try run.require(found == 1)
    },
    Body("a poller that an actor starts for itself", .passes) { run in
      let poller = Poller()
      await poller.start()
      try await Task.sleep(for: .seconds(601))
      try run.require(await poller.polls == 10, "not 10 polls")
      await poller.stop()
    },
    Body("three tasks of five yields", .passes, preemptions: 2) { run in
      let ended = Shared(0)
      let tasks = (0..<3).map { _ in
        Task {
          for _ in 0..<5 { await Task.yield() }
          ended.change { $0 += 1 }
        }
      }
      for task in tasks { await task.value }
      try run.require(ended.now == 3)
    },
    Body("an immediate task, and one that prefers the global executor", .passes) { run in
      let order = Shared([Int]())
      let immediate = Task.immediate {
        order.change { $0.append(1) }
        try? await Task.sleep(for: .seconds(1))
        order.change { $0.append(3) }
      }
      order.change { $0.append(2) }
      let preferring = Task(executorPreference: globalConcurrentExecutor) {
        try? await Task.sleep(for: .seconds(2))
        order.change { $0.append(4) }
      }
      _ = await (immediate.value, preferring.value)
      try run.require(order.now == [1, 2, 3, 4], "\(order.now)")
      try run.require(run.clock.now.offset == .seconds(2), "\(run.clock.now.offset)")
    },
    Body("a discarding group", .finds("a task was late")) { run in
      let done = Shared([Int]())
      await withDiscardingTaskGroup { group in
        for number in 0..<2 { group.addTask { done.change { $0.append(number) } } }
      }
      try run.require(done.now == [0, 1], "a task was late")
    },
    Body("a sleep of zero", .takesTooManySteps) { _ in
      while !Task.isCancelled { try await Task.sleep(for: .zero) }
    },
    Body("an actor with an executor of its own", .finds("lost a count"), isClosed: false) { run in
      let actor = Elsewhere()
      async let one: Void = actor.incrementSlowly()
      async let other: Void = actor.incrementSlowly()
      _ = await (one, other)
      try run.require(await actor.count == 2, "lost a count")
    },
  ]

  /// Types “t” and, after the debouncing, “te”; the answers take so many seconds.
  private static func search(_ seconds: [Int]) -> @Sendable (Exploration) async throws -> Void {
    { run in
      let model = await SearchModel(api: .deaf { seconds[$0.count - 1] })
      await model.type("t")
      try await Task.sleep(for: .milliseconds(400))
      await model.type("te")
      try await Task.sleep(for: .seconds(600))
      try run.require(await model.results == ["te"], "an old answer")
    }
  }

  private static func mendedSearch(
    _ seconds: [Int]
  ) -> @Sendable (Exploration) async throws -> Void {
    { run in
      let model = await MendedSearchModel(api: .deaf { seconds[$0.count - 1] })
      await model.type("t")
      try await Task.sleep(for: .milliseconds(400))
      await model.type("te")
      try await Task.sleep(for: .seconds(600))
      try run.require(await model.results == ["te"], "an old answer")
    }
  }
}
