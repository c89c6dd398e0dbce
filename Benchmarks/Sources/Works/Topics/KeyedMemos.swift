import Measuring
import Synchronization
import Tailrace

extension Topic {
  public static let keyedMemos = Topic(
    "Memos", about: "a value for each key",
    rows: [
      Row(
        "ask for keys that are there", per: "question",
        Contender("Memos", given: knownMemos, askMemos),
        Contender("`Mutex<Dictionary>`", atMost: 2, given: knownDictionary, askDictionary),
        Contender("an actor that keeps tasks", atMost: 0.5, given: knownCache, askCache)),
      Row(
        "ask for keys that are there, with a bound and a lifetime", per: "question",
        sizes: [4, 100, 10_000],
        Contender("Memos", given: boundedMemos, askMemos),
        Contender("`Mutex<Dictionary>`, without either", given: knownDictionary, askDictionary),
        Contender("an actor that keeps tasks, without either", given: knownCache, askCache)),
      Row(
        "8 tasks ask for keys that are there", per: "question", times: 8, sizes: [4, 100, 10_000],
        Contender("Memos", given: knownMemos, askMemosTogether),
        Contender(
          "`Mutex<Dictionary>`", atMost: 2, given: knownDictionary, askDictionaryTogether),
        Contender("an actor that keeps tasks", atMost: 0.5, given: knownCache, askCacheTogether)),
      Row(
        "compute keys with a plain closure", per: "key", sizes: [4, 100, 10_000],
        Contender("Memos", fillMemosPlainly),
        Contender("an actor that keeps tasks", atMost: 0.7, fillCachePlainly)),
      Row(
        "compute keys with a closure that only yields", per: "key", sizes: [4, 100, 10_000],
        Contender("Memos", fillMemos),
        Contender("an actor that keeps tasks", fillCache)),
    ],
    quantities: [
      .bytesPerElement("bytes per Int under an Int", who: "Memos", knownMemosOnly),
      .bytesPerElement("bytes per Int under an Int", who: "Memos, with a bound") { count in
        let memos = Memos(capacity: .count(count)) { (key: Int) in key &* 3 }
        for key in 0..<count { _ = await memos.value(for: key) }
        return memos
      },
      .bytesPerElement("bytes per Int under an Int", who: "`Mutex<Dictionary>`") { count in
        (await knownDictionary(count)).dictionary
      },
      .bytesPerElement(
        "bytes per Int under an Int", who: "an actor that keeps tasks", size: 100_000
      ) { count in (await knownCache(count)).cache },
    ] + hitRates)
}

// MARK: Tailrace

private typealias Known = (memos: Memos<Int, Int, Never>, count: Int)

private func knownMemosOnly(_ count: Int) async -> Memos<Int, Int, Never> {
  let memos = Memos { (key: Int) in key &* 3 }
  for key in 0..<count { _ = await memos.value(for: key) }
  return memos
}

private func knownMemos(_ count: Int) async -> Known { (await knownMemosOnly(count), count) }

private func boundedMemos(_ count: Int) async -> Known {
  let memos = Memos(capacity: .count(count), lifetime: .seconds(100_000)) { (key: Int) in key &* 3 }
  for key in 0..<count { _ = await memos.value(for: key) }
  return (memos, count)
}

@inline(never) private func askMemos(_ known: Known) async -> Int {
  var sum = 0
  for key in 0..<known.count { sum &+= await known.memos.value(for: key) }
  return sum
}

@inline(never) private func askMemosTogether(_ known: Known) async -> Int {
  await together(8) { start in
    await start.cross()
    return await askMemos(known)
  }
}

@inline(never) private func fillMemosPlainly(_ count: Int) async -> Int {
  let memos = Memos { (key: Int) in key &* 3 }
  var sum = 0
  for key in 0..<count { sum &+= await memos.value(for: key) }
  return sum
}

@inline(never) private func fillMemos(_ count: Int) async -> Int {
  let memos = Memos { (key: Int) in await yielding(key) }
  var sum = 0
  for key in 0..<count { sum &+= await memos.value(for: key) }
  return sum
}

// MARK: A dictionary

/// The usual code where nobody waits while a value is computed.
private final class LockedDictionary: Sendable {
  private let values = Mutex<[Int: Int]>([:])

  func value(for key: Int) -> Int? { values.withLock { $0[key] } }

  func set(_ value: Int, for key: Int) { values.withLock { $0[key] = value } }
}

private typealias KnownDictionary = (dictionary: LockedDictionary, count: Int)

private func knownDictionary(_ count: Int) async -> KnownDictionary {
  let dictionary = LockedDictionary()
  for key in 0..<count { dictionary.set(key &* 3, for: key) }
  return (dictionary, count)
}

@inline(never) private func askDictionary(_ known: KnownDictionary) async -> Int {
  var sum = 0
  for key in 0..<known.count { sum &+= known.dictionary.value(for: key) ?? 0 }
  return sum
}

@inline(never) private func askDictionaryTogether(_ known: KnownDictionary) async -> Int {
  await together(8) { start in
    await start.cross()
    return await askDictionary(known)
  }
}

// MARK: Actors

/// The usual way to compute once for each key what several may ask for at once.
private actor KeyedCache {
  private var tasks: [Int: Task<Int, Never>] = [:]
  private let compute: @Sendable (Int) async -> Int

  init(_ compute: @escaping @Sendable (Int) async -> Int) { self.compute = compute }

  func value(for key: Int) async -> Int {
    if let task = tasks[key] { return await task.value }
    let task = Task { [compute] in await compute(key) }
    tasks[key] = task
    return await task.value
  }
}

private typealias KnownCache = (cache: KeyedCache, count: Int)

private func knownCache(_ count: Int) async -> KnownCache {
  let cache = KeyedCache { $0 &* 3 }
  for key in 0..<count { _ = await cache.value(for: key) }
  return (cache, count)
}

@inline(never) private func askCache(_ known: KnownCache) async -> Int {
  var sum = 0
  for key in 0..<known.count { sum &+= await known.cache.value(for: key) }
  return sum
}

@inline(never) private func askCacheTogether(_ known: KnownCache) async -> Int {
  await together(8) { start in
    await start.cross()
    return await askCache(known)
  }
}

@inline(never) private func fillCachePlainly(_ count: Int) async -> Int {
  let cache = KeyedCache { $0 &* 3 }
  var sum = 0
  for key in 0..<count { sum &+= await cache.value(for: key) }
  return sum
}

@inline(never) private func fillCache(_ count: Int) async -> Int {
  let cache = KeyedCache { await yielding($0) }
  var sum = 0
  for key in 0..<count { sum &+= await cache.value(for: key) }
  return sum
}
