import Measuring
import Tailrace

extension Topic {
  public static let batchedMemos = Topic(
    "Memos of others", about: "keys that travel together, and keys made of keys",
    rows: [
      Row(
        "64 tasks ask for keys that are loaded in batches, of 100 µs each", per: "key",
        sizes: [100, 10_000],
        Contender("`Memos(batchSize: 64)`") { await loadMemos($0, wait) },
        Contender("a loader by hand: an actor that gathers keys") { await loadByHand($0, wait) }),
      Row(
        "64 tasks ask for keys that are loaded in batches, of a yield each", per: "key",
        sizes: [100, 10_000],
        Contender("`Memos(batchSize: 64)`") { await loadMemos($0, yield) },
        Contender("a loader by hand: an actor that gathers keys") { await loadByHand($0, yield) }),
      Row(
        "a key that needs the one before, down to the first", per: "key",
        sizes: [100, 10_000, 100_000],
        Contender("`Memos.recursive`", descendMemos),
        Contender("an actor that keeps tasks", descendTasks)),
    ])
}

private let tasks = 64

private typealias Load = @Sendable (_ keys: [Int]) async -> [Int: Int]

/// Answers as a database nearby would.
private let wait: Load = { keys in
  try? await Task.sleep(for: .microseconds(100))
  return answer(keys)
}

/// Answers at once: the shorter a batch is out, the fewer keys gather.
private let yield: Load = { keys in
  await Task.yield()
  return answer(keys)
}

private func answer(_ keys: [Int]) -> [Int: Int] {
  Dictionary(uniqueKeysWithValues: keys.map { ($0, $0 &* 3) })
}

/// The sum of all values: each task asks for keys of its own, one after the other.
private func sum(
  _ count: Int, _ value: @escaping @Sendable (Int) async -> Int
) async -> Int {
  await withTaskGroup(of: Int.self) { group in
    for first in 0..<tasks {
      group.addTask {
        var sum = 0
        for key in stride(from: first, to: count, by: tasks) { sum &+= await value(key) }
        return sum
      }
    }
    return await group.reduce(0, &+)
  }
}

// MARK: Tailrace

@inline(never) private func loadMemos(_ count: Int, _ load: @escaping Load) async -> Int {
  let memos = Memos<Int, Int, any Error>(batchSize: tasks) { keys in await load(keys) }
  return await sum(count) { key in (try? await memos.value(for: key)) ?? 0 }
}

@inline(never) private func descendMemos(_ count: Int) async -> Int {
  let memos = Memos<Int, Int, Never>.recursive { memos, key async in
    key == 0 ? 0 : await memos.value(for: key - 1) &+ 1
  }
  return await memos.value(for: count)
}

// MARK: By hand

/// What services write after DataLoader: the first key leaves at once, and others gather while its batch
/// is out.
private actor Loader {
  private let load: Load
  private var values: [Int: Int] = [:]
  private var waiting: [Int: [CheckedContinuation<Int, Never>]] = [:]
  private var gathered: [Int] = []
  private var isOut = false

  init(_ load: @escaping Load) { self.load = load }

  func value(for key: Int) async -> Int {
    if let value = values[key] { return value }
    return await withCheckedContinuation { continuation in
      if waiting[key] == nil { gathered.append(key) }
      waiting[key, default: []].append(continuation)
      send()
    }
  }

  private func send() {
    guard !isOut, !gathered.isEmpty else { return }
    isOut = true
    let keys = Array(gathered.prefix(tasks))
    gathered.removeFirst(keys.count)
    Task { arrive(await load(keys)) }
  }

  private func arrive(_ batch: [Int: Int]) {
    isOut = false
    for (key, value) in batch {
      values[key] = value
      for continuation in waiting.removeValue(forKey: key) ?? [] {
        continuation.resume(returning: value)
      }
    }
    send()
  }
}

@inline(never) private func loadByHand(_ count: Int, _ load: @escaping Load) async -> Int {
  let loader = Loader(load)
  return await sum(count) { key in await loader.value(for: key) }
}

private actor Descent {
  private var tasks: [Int: Task<Int, Never>] = [:]

  func value(for key: Int) async -> Int {
    if let task = tasks[key] { return await task.value }
    let task = Task { key == 0 ? 0 : await value(for: key - 1) &+ 1 }
    tasks[key] = task
    return await task.value
  }
}

@inline(never) private func descendTasks(_ count: Int) async -> Int {
  await Descent().value(for: count)
}
