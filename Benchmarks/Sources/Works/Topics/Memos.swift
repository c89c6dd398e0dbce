import OpenCombine
import Tailrace

extension Topic {
  public static let memos = Topic(
    "Memo", about: "one value, per value or question",
    works: [
      Work(
        "ask for a value that is there",
        contenders: [
          Contender(
            "Memo",
            preparing: { count in
              let memo = Memo { 3 }
              _ = await memo.value()
              return {
                var sum = 0
                for _ in 0..<count { sum &+= await memo.value() }
                return Tally(count, sum)
              }
            }),
          Contender(
            "`Task.value`",
            preparing: { count in
              let task = Task { 3 }
              _ = await task.value
              return {
                var sum = 0
                for _ in 0..<count { sum &+= await task.value }
                return Tally(count, sum)
              }
            }),
          Contender(
            "an actor's property",
            preparing: { count in
              let keeper = Keeper()
              await keeper.set(3)
              return {
                var sum = 0
                for _ in 0..<count { sum &+= await keeper.value }
                return Tally(count, sum)
              }
            }),
        ]),
      Work(
        "make one and ask it",
        contenders: [
          Contender("Memo") { count in
            var sum = 0
            for number in 0..<count { sum &+= await Memo { number &* 3 }.value() }
            return Tally(count, sum)
          },
          Contender("`Task.value`") { count in
            var sum = 0
            for number in 0..<count { sum &+= await Task { number &* 3 }.value }
            return Tally(count, sum)
          },
          Contender("an actor that keeps a task") { count in
            var sum = 0
            for number in 0..<count { sum &+= await Cache { number &* 3 }.value }
            return Tally(count, sum)
          },
          Contender("OpenCombine `Future.sink`") { count in
            let total = Total()
            for number in 0..<count {
              let future = Future<Int, Never> { $0(.success(number &* 3)) }
              let sink = future.sink { total.sum &+= $0 }
              withExtendedLifetime(sink) {}
            }
            return Tally(count, total.sum)
          },
        ]),
      Work(
        "make one that suspends and ask it",
        contenders: [
          Contender("Memo", sizes: Contender.fewer) { count in
            var sum = 0
            for number in 0..<count { sum &+= await Memo { await yielding(number) }.value() }
            return Tally(count, sum)
          },
          Contender("`Task.value`", sizes: Contender.fewer) { count in
            var sum = 0
            for number in 0..<count { sum &+= await Task { await yielding(number) }.value }
            return Tally(count, sum)
          },
          Contender("an actor that keeps a task", sizes: Contender.fewer) { count in
            var sum = 0
            for number in 0..<count { sum &+= await Cache { await yielding(number) }.value }
            return Tally(count, sum)
          },
        ]),
    ])
}

private actor Keeper {
  private(set) var value = 0

  // What may change between two questions has to be asked for each time.
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
