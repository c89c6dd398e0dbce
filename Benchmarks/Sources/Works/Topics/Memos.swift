import Measuring
import OpenCombine
import Tailrace

extension Topic {
  public static let memos = Topic(
    "Memo", about: "one value",
    rows: [
      Row(
        "ask for a value that is there", per: "question",
        Contender("Memo", given: knownMemo, askMemo),
        Contender("`Task.value`", atMost: 0.6, given: doneTask, askTask),
        Contender("an actor's property", given: keeper, askKeeper)),
      Row(
        "make one of a plain closure and ask it", per: "memo",
        Contender("Memo", makeMemos),
        Contender("`Task.value`", atMost: 0.1, makeTasks),
        Contender("an actor that keeps a task", makeCaches),
        Contender("OpenCombine `Future.sink`", makeFutures)),
      Row(
        "make one that only yields and ask it", per: "memo", sizes: [4, 100, 10_000],
        Contender("Memo", makeSuspendingMemos),
        Contender("`Task.value`", makeSuspendingTasks),
        Contender("an actor that keeps a task", makeSuspendingCaches)),
      Row(
        "make one that leaves its thread and ask it", per: "memo", sizes: [4, 100, 10_000],
        Contender("Memo", makeLeavingMemos),
        Contender("`Task.value`", makeLeavingTasks),
        Contender("an actor that keeps a task", makeLeavingCaches)),
    ])
}

// MARK: Tailrace

private func knownMemo(_ count: Int) async -> (memo: Memo<Int, Never>, count: Int) {
  let memo = Memo { 3 }
  _ = await memo.value()
  return (memo, count)
}

@inline(never) private func askMemo(_ known: (memo: Memo<Int, Never>, count: Int)) async -> Int {
  var sum = 0
  for _ in 0..<known.count { sum &+= await known.memo.value() }
  return sum
}

@inline(never) private func makeMemos(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Memo { number &* 3 }.value() }
  return sum
}

@inline(never) private func makeSuspendingMemos(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Memo { await yielding(number) }.value() }
  return sum
}

@inline(never) private func makeLeavingMemos(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Memo { await leaving(number) }.value() }
  return sum
}

// MARK: Tasks

private func doneTask(_ count: Int) async -> (task: Task<Int, Never>, count: Int) {
  let task = Task { 3 }
  _ = await task.value
  return (task, count)
}

@inline(never) private func askTask(_ done: (task: Task<Int, Never>, count: Int)) async -> Int {
  var sum = 0
  for _ in 0..<done.count { sum &+= await done.task.value }
  return sum
}

@inline(never) private func makeTasks(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Task { number &* 3 }.value }
  return sum
}

@inline(never) private func makeSuspendingTasks(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Task { await yielding(number) }.value }
  return sum
}

@inline(never) private func makeLeavingTasks(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Task { await leaving(number) }.value }
  return sum
}

// MARK: Actors

private func keeper(_ count: Int) async -> (keeper: Keeper, count: Int) {
  let keeper = Keeper()
  await keeper.set(3)
  return (keeper, count)
}

@inline(never) private func askKeeper(_ given: (keeper: Keeper, count: Int)) async -> Int {
  var sum = 0
  for _ in 0..<given.count { sum &+= await given.keeper.value }
  return sum
}

@inline(never) private func makeCaches(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Cache { number &* 3 }.value }
  return sum
}

@inline(never) private func makeSuspendingCaches(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Cache { await yielding(number) }.value }
  return sum
}

@inline(never) private func makeLeavingCaches(_ count: Int) async -> Int {
  var sum = 0
  for number in 0..<count { sum &+= await Cache { await leaving(number) }.value }
  return sum
}

private actor Keeper {
  private(set) var value = 0

  // The value may change between two questions, so it has to be asked for each time.
  @inline(never)
  func set(_ value: Int) { self.value = value }
}

/// The usual way to compute once what several may ask for at once.
private actor Cache {
  private var task: Task<Int, Never>?
  private let compute: @Sendable () async -> Int

  init(_ compute: @escaping @Sendable () async -> Int) { self.compute = compute }

  var value: Int {
    get async {
      if let task { return await task.value }
      let task = Task { await compute() }
      self.task = task
      return await task.value
    }
  }
}

// MARK: OpenCombine

@inline(never) private func makeFutures(_ count: Int) -> Int {
  let total = Total()
  for number in 0..<count {
    let future = Future<Int, Never> { $0(.success(number &* 3)) }
    let sink = future.sink { total.sum &+= $0 }
    withExtendedLifetime(sink) {}
  }
  return total.sum
}
