import Synchronization
import TailraceStored
import TailraceTesting
import Testing

/// A run of `explore`; these tests have a model checker with an `Exploration` of its own.
typealias ExplorationRun = TailraceTesting.Exploration

/// A mistake in concurrent code, and the same code without it: what `explore` is measured by.
struct Mistake: Sendable, CustomTestStringConvertible {
  let name: String
  /// Runs the code once. Returns what went wrong; code that is stuck does not return.
  let run: @Sendable (_ isMended: Bool, _ clock: any Clock<Duration>) async -> String?

  var testDescription: String { name }

  static let all = [cache, accounts, wakeUp, timeout, semaphore, group]
}

// MARK: An actor's state changes across an await

extension Mistake {
  private actor Cache {
    private var pages: [Int: String] = [:]
    private var waiting: [Int: [CheckedContinuation<Void, Never>]] = [:]
    private(set) var loads = 0
    let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    func page(_ number: Int) async -> String {
      if let page = pages[number] { return page }
      if isMended, waiting[number] != nil {
        await withCheckedContinuation { waiting[number, default: []].append($0) }
        return pages[number] ?? ""
      }
      waiting[number] = []
      loads += 1
      await Task.yield()
      pages[number] = "page \(number)"
      for reader in waiting.removeValue(forKey: number) ?? [] { reader.resume() }
      return "page \(number)"
    }
  }

  /// Checks, awaits, stores.
  static let cache = Mistake(name: "a cache") { isMended, _ in
    let cache = Cache(isMended: isMended)
    async let one = cache.page(1)
    async let same = cache.page(1)
    _ = await (one, same)
    let loads = await cache.loads
    return loads == 1 ? nil : "loaded \(loads) times"
  }

  private actor Account {
    private(set) var balance: Int
    init(_ balance: Int) { self.balance = balance }

    func add(_ amount: Int) { balance += amount }

    func transfer(_ amount: Int, to other: Account, isMended: Bool) async {
      guard balance >= amount else { return }
      if isMended { balance -= amount }
      await other.add(amount)
      if !isMended { balance -= amount }
    }
  }

  /// Checks, awaits, acts: between two actors.
  static let accounts = Mistake(name: "two accounts") { isMended, _ in
    let (from, to) = (Account(100), Account(0))
    async let one: Void = from.transfer(80, to: to, isMended: isMended)
    async let other: Void = from.transfer(80, to: to, isMended: isMended)
    _ = await (one, other)
    let balance = await from.balance
    return balance >= 0 ? nil : "the balance is \(balance)"
  }

  private actor Mailbox {
    private var letters: [Int] = []
    private let bell: Bell

    init(_ bell: Bell) { self.bell = bell }

    func put(_ letter: Int) async {
      letters.append(letter)
      await bell.ring()
    }

    func take() -> Int? { letters.popLast() }
  }

  private actor Bell {
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var rings = 0
    let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    func ring() {
      rings += 1
      for continuation in waiting { continuation.resume() }
      waiting = []
    }

    var heard: Int { rings }

    func wait(after heard: Int) async {
      if isMended, rings > heard { return }
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  /// Looks, then waits: the wake-up may come in between.
  static let wakeUp = Mistake(name: "a wake-up") { isMended, _ in
    let bell = Bell(isMended: isMended)
    let mailbox = Mailbox(bell)
    async let sent: Void = mailbox.put(1)
    while true {
      let heard = await bell.heard
      if await mailbox.take() != nil { break }
      await bell.wait(after: heard)
    }
    await sent
    return nil
  }
}

// MARK: Time

extension Mistake {
  private actor Answer {
    private(set) var answers: [String] = []
    private var isDecided = false
    let isMended: Bool

    init(isMended: Bool) { self.isMended = isMended }

    func decide(_ answer: String, logging log: Log) async {
      guard !isDecided else { return }
      if isMended { isDecided = true }
      await log.write(answer)
      isDecided = true
      answers.append(answer)
    }
  }

  private actor Log {
    private var lines: [String] = []
    func write(_ line: String) { lines.append(line) }
  }

  /// The answer and the timeout come at the same time, and both are taken.
  static let timeout = Mistake(name: "a timeout") { isMended, clock in
    let (answer, log) = (Answer(isMended: isMended), Log())
    @Sendable func race(_ clock: some Clock<Duration>) async {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          try? await clock.sleep(for: .milliseconds(2))
          await answer.decide("timeout", logging: log)
        }
        group.addTask {
          try? await clock.sleep(for: .milliseconds(1))
          try? await clock.sleep(for: .milliseconds(1))
          await answer.decide("value", logging: log)
        }
      }
    }
    await race(clock)
    let answers = await answer.answers
    return answers.count == 1 ? nil : "answers: \(answers)"
  }
}

// MARK: Primitives by hand

extension Mistake {
  private actor Semaphore {
    private var count: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []
    let isMended: Bool

    init(_ count: Int, isMended: Bool) { (self.count, self.isMended) = (count, isMended) }

    func acquire() async {
      if count > 0 {
        count -= 1
        return
      }
      await withCheckedContinuation { waiting.append($0) }
      // Woken, and the permit may be gone.
      if !isMended { count -= 1 }
    }

    func release() {
      guard isMended, !waiting.isEmpty else {
        count += 1
        if !waiting.isEmpty { waiting.removeFirst().resume() }
        return
      }
      // The permit is handed over, and is never free in between.
      waiting.removeFirst().resume()
    }
  }

  /// Wakes a waiter, which takes its permit only when it runs.
  static let semaphore = Mistake(name: "a semaphore") { isMended, _ in
    let semaphore = Semaphore(1, isMended: isMended)
    let (inside, together) = (Counter(), Counter())
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          await semaphore.acquire()
          if inside.increment() > 1 { together.increment() }
          await Task.yield()
          inside.increment(by: -1)
          await semaphore.release()
        }
      }
    }
    return together.value == 0 ? nil : "two tasks had the permit"
  }

  /// Takes the results of a group as ordered.
  static let group = Mistake(name: "a group") { isMended, _ in
    let squares = await withTaskGroup(of: (Int, Int).self) { group in
      for number in 0..<4 {
        group.addTask {
          await Task.yield()
          return (number, number * number)
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let ordered = isMended ? squares.sorted { $0.0 < $1.0 } : squares
    return ordered.map(\.1) == [0, 1, 4, 9] ? nil : "\(ordered.map(\.1))"
  }

  private final class Slot: Sendable {
    private struct State {
      var isSet = false
      var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// The event may come between the check and the store; there is no await in between.
    func wait() async {
      guard state.withLock({ !$0.isSet }) else { return }
      await withCheckedContinuation { continuation in
        state.withLock { $0.waiting = continuation }
      }
    }

    func set() {
      state.withLock { state in
        state.isSet = true
        defer { state.waiting = nil }
        return state.waiting
      }?.resume()
    }
  }

  /// A check, and a store, under a lock each: what no order of steps shows.
  static let lock = Mistake(name: "a lock") { _, _ in
    let slot = Slot()
    async let set: Void = slot.set()
    await slot.wait()
    await set
    return nil
  }
}
