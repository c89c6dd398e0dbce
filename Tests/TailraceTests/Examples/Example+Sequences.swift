import Foundation
import Synchronization
import Tailrace
import TailraceFoundation
import TailraceTesting

/// A list made as the specs make their streams: one value after the other.
private func list<Element: Sendable>(_ values: [Element]) -> LazyList<Element, Never> {
  values.reduce(.empty) { $0 + .just($1) }
}

/// A list by its head and its tail, which notes what has run.
private func headAndTail(_ ran: Probe<String>) -> LazyList<Int, Never> {
  LazyList(
    head: {
      ran.record("head")
      return 0
    },
    tail: {
      ran.record("tail")
      return .just(1)
    })
}

extension Example {
  /// What the shared examples of a sequence ask, by the name of each.
  private static func asks<Element: Hashable & Codable & Sendable>(
    _ list: LazyList<Element, Never>, _ values: [Element]
  ) -> [(String, @Sendable () async throws -> Bool)] {
    [
      (
        "is enumerated by a loop",
        {
          var seen: [Element] = []
          for await value in list { seen.append(value) }
          return seen == values
        }
      ), ("gives an array", { await list.array() == values }),
      (
        "a signal on the immediate scheduler",
        { await list.signal(on: ImmediateScheduler.shared).array() == values }
      ),
      (
        "a signal on a background scheduler",
        { await list.signal(on: QueueScheduler.background()).array() == values }
      ),
      (
        "one value a turn of the scheduler",
        {
          let scheduler = QueueScheduler(name: "turns")
          let isOn = Atomic(true)
          let isRight = Atomic(true)
          await list.signal(on: scheduler).deliver(on: scheduler).subscribe { event in
            guard case .next = event else { return }
            if !isOn.exchange(false, ordering: .relaxed) {
              isRight.store(false, ordering: .relaxed)
            }
            scheduler.schedule { isOn.store(true, ordering: .relaxed) }
          }.value
          return isRight.load(ordering: .relaxed)
        }
      ), ("equals itself", { await list.elementsEqual(list) }),
      (
        "equals a sequence of the same values, and so does its hash",
        {
          let other = values.reduce(LazyList<Element, Never>.empty) { $0 + .just($1) }
          guard await list.elementsEqual(other) else { return false }
          return await list.eager().hashValue == other.eager().hashValue
        }
      ),
      (
        "does not equal a sequence of other values",
        {
          if values.isEmpty { return true }
          return await !list.elementsEqual(values.lazyList.dropFirst(1))
        }
      ),
      (
        "a copy is the same",
        {
          let copy = list
          let evaluated = await list.array()
          return copy.evaluatedCount == evaluated.count
        }
      ),
      (
        "is archived, and read again",
        {
          let data = try JSONEncoder().encode(await list.eager())
          return try JSONDecoder().decode(EagerList<Element>.self, from: data).array == values
        }
      ),
      (
        "folds from the right",
        {
          await list.foldRight([Element]()) { first, rest async in [first] + (await rest.value()) }
            == values
        }
      ),
      (
        "folds from the left",
        { await list.reduce([Element]()) { $0 + [$1] } == values }
      ),
    ]
  }

  /// Whether all of them hold.
  private static func behaves<Element: Hashable & Codable & Sendable>(
    _ list: LazyList<Element, Never>, _ values: [Element]
  ) async throws -> Bool {
    for (_, holds) in asks(list, values) {
      guard try await holds() else { return false }
    }
    return true
  }

  static let shared: [Example] = asks(list([0, 1, 2]), [0, 1, 2]).map { name, holds in
    let verdict: Verdict =
      switch name {
      case "gives an array", "a signal on a background scheduler":
        .better("the wait is asynchronous, and blocks no thread")
      case "equals itself": .better("an endless list equals itself, too, without being evaluated")
      case "equals a sequence of the same values, and so does its hash",
        "is archived, and read again":
        .different("a lazy list may be endless: `==`, `hash` and coding are those of its EagerList")
      case "folds from the right": .better("the closure awaits the rest; the stack does not grow")
      default: .same
      }
    return Example(.sequenceExamples, name, verdict, holds)
  }

  private static let numbers = Array(0..<100)

  static let sources: [Example] = [
    Example(.behavesLikeASequence, "by head and tail") {
      try await behaves(headAndTail(Probe()), [0, 1])
    },
    Example(.behavesLikeASequence, "empty") { try await behaves(LazyList<Int, Never>.empty, []) },
    Example(.behavesLikeASequence, "not empty") { try await behaves(list([0, 1, 2]), [0, 1, 2]) },
    Example(.behavesLikeASequence, "eager") {
      try await behaves(await headAndTail(Probe()).eager().lazyList, [0, 1])
    },
    Example(.behavesLikeASequence, "NSArray") {
      let array = NSArray(array: numbers)
      return try await behaves(LazyList(try await array.lazyList(of: Int.self).array()), numbers)
    },
    Example(.behavesLikeASequence, "NSArray that is changed") {
      let array = NSMutableArray(array: numbers)
      let all = array.lazyList(of: Int.self)
      array.add(6)
      return try await behaves(LazyList(try await all.array()), numbers)
    },
    Example(.behavesLikeASequence, "pairs of a dictionary") { try await pairs(changed: false) },
    Example(.behavesLikeASequence, "keys of a dictionary") {
      let dictionary = ["foo": "bar", "baz": "buzz"]
      return try await behaves(dictionary.lazyKeys, Array(dictionary.keys))
    },
    Example(.behavesLikeASequence, "values of a dictionary") {
      let dictionary = ["foo": "bar", "baz": "buzz"]
      return try await behaves(dictionary.lazyValues, Array(dictionary.values))
    },
    Example(.behavesLikeASequence, "pairs of a dictionary that is changed") {
      try await pairs(changed: true)
    },
    Example(.behavesLikeASequence, "keys of a dictionary that is changed") {
      var dictionary = ["foo": "bar", "baz": "buzz"]
      let (keys, before) = (dictionary.lazyKeys, Array(dictionary.keys))
      dictionary["6"] = "7"
      return try await behaves(keys, before)
    },
    Example(.behavesLikeASequence, "values of a dictionary that is changed") {
      var dictionary = ["foo": "bar", "baz": "buzz"]
      let (values, before) = (dictionary.lazyValues, Array(dictionary.values))
      dictionary["foo"] = "rab"
      return try await behaves(values, before)
    },
    Example(.behavesLikeASequence, "NSOrderedSet") {
      let set = NSOrderedSet(array: numbers)
      return try await behaves(LazyList(try await set.lazyList(of: Int.self).array()), numbers)
    },
    Example(.behavesLikeASequence, "NSOrderedSet that is changed") {
      let set = NSMutableOrderedSet(array: numbers)
      let all = set.lazyList(of: Int.self)
      set.add(600)
      return try await behaves(LazyList(try await all.array()), numbers)
    },
    Example(.behavesLikeASequence, "a set") {
      let set = Set(numbers)
      return try await behaves(set.lazyList, Array(set))
    },
    Example(.behavesLikeASequence, "a set that is changed") {
      var set = Set(numbers)
      let (all, before) = (set.lazyList, Array(set))
      set.insert(600)
      return try await behaves(all, before)
    },
    Example(.behavesLikeASequence, "a string") {
      try await behaves("foobar".lazyList.map { String($0) }, ["f", "o", "o", "b", "a", "r"])
    },
    Example(.behavesLikeASequence, "a string that is changed") {
      var text = "foobar"
      let all = text.lazyList.map { String($0) }
      text += "buzz"
      return try await behaves(all, ["f", "o", "o", "b", "a", "r"])
    },
    Example(
      .behavesLikeASequence, "a tuple",
      .better("each value has its own type, and nil is nil: there is no NSNull")
    ) {
      let tuple = Tuple("foo", String?.none, "bar")
      let texts = tuple.lazyList.map { ($0 as? String) ?? "nil" }
      return try await behaves(texts, ["foo", "nil", "bar"])
    },
    Example(.behavesLikeASequence, "an index set") {
      try await behaves(IndexSet(0..<10).lazyList, Array(0..<10))
    },
    Example(.behavesLikeASequence, "an index set that is changed") {
      var set = IndexSet(0..<10)
      let all = set.lazyList
      set.insert(20)
      return try await behaves(all, Array(0..<10))
    },
    Example(.behavesLikeASequence, "an empty index set") {
      try await behaves(IndexSet().lazyList, [])
    },
    Example(.behavesLikeASequence, "an enumerator") {
      let enumerator = NSArray(array: [0, 1, 2, 3, 4]).objectEnumerator()
      let all = LazyList(enumerator: enumerator, of: Int.self)
      return try await behaves(LazyList(try await all.array()), [0, 1, 2, 3, 4])
    },
  ]

  private static func pairs(changed: Bool) async throws -> Bool {
    var dictionary = ["foo": "bar", "baz": "buzz"]
    let all = dictionary.lazyList.map { "\($0.0) \($0.1)" }
    let before = dictionary.map { "\($0.key) \($0.value)" }
    if changed { dictionary["foo"] = "rab" }
    return try await behaves(all, before)
  }

  static let sequences: [Example] = [
    Example(.additions, "a zip of two arrays is enumerated") {
      let zeros = Array(repeating: 0, count: 16)
      var seen: [Int] = []
      for await value in zip(zeros.lazyList, zeros.lazyList).map({ first, _ in first }) {
        seen.append(value)
      }
      return seen == zeros
    },
    Example(.additions, "composed characters stay together") {
      await "\u{2665}\u{FE0F}\u{2666}\u{FE0F}".lazyList.array()
        == ["\u{2665}\u{FE0F}", "\u{2666}\u{FE0F}"]
    },
    Example(
      .sequence, "head and tail give their values",
      .different("the tail of the last element is the empty list: it is never nil")
    ) {
      let all = headAndTail(Probe())
      guard await all.head() == 0, await all.tail.head() == 1 else { return false }
      return await all.tail.tail.isEmpty()
    },
    Example(
      .sequence, "head and tail run when they are asked for",
      .better("the tail runs when its element is asked for, not when `tail` is")
    ) {
      let ran = Probe<String>()
      let all = headAndTail(ran)
      guard ran.values.isEmpty, await all.head() == 0, ran.values == ["head"] else { return false }
      let tail = all.tail
      guard ran.values == ["head"] else { return false }
      return await tail.head() == 1 && ran.values == ["head", "tail"]
    },
    Example(.sequence, "an eager sequence is evaluated at once") {
      let ran = Probe<String>()
      let eager = await headAndTail(ran).eager()
      return ran.values == ["head", "tail"] && eager.array == [0, 1]
    },
    Example(.sequence, "the first element needs no second head") {
      let taken = Probe<Void>()
      let endless = LazyList<Int, Never>.recursive { rest in
        LazyList(
          head: {
            taken.record(())
            return 1
          }, tail: { rest })
      }
      return await endless.prefix(1).array() == [1] && taken.count == 1
    },
    Example(.sequence, "bind evaluates the head when its result is evaluated") {
      let ran = Probe<String>()
      let bound = headAndTail(ran).bind { value, _ in .just(value) }
      guard ran.values.isEmpty else { return false }
      return await bound.head() == 0 && ran.values == ["head"]
    },
    Example(.sequence, "an enumerator evaluates as it is asked") {
      let ran = Probe<Int>()
      let all = LazyList(1...3).map { ran.pass($0) }
      var iterator = all.makeAsyncIterator()
      guard ran.values.isEmpty else { return false }
      for number in 1...3 {
        guard await iterator.next() == number, ran.values == Array(1...number) else { return false }
      }
      return await iterator.next() == nil
    },
    Example(.sequence, "an enumerator releases what it has passed") {
      let instances = InstanceCounter()
      var iterator = LazyList(1...3).map { instances.member($0) }.makeAsyncIterator()
      for number in 1...3 {
        guard await iterator.next()?.number == number, instances.alive <= 1 else { return false }
      }
      return await iterator.next() == nil && instances.alive == 0
    },
    Example(.sequence, "10 000 elements are released in the background without a deep stack") {
      await Task.detached { await Array(0..<10_000).lazyList.map { $0 }.array().count }.value
        == 10_000
    },
    Example(.sequence, "a fold from the left begins with the start") {
      await list([0, 1, 2]).reduce(3) { first, _ in first } == 3
    },
    Example(.sequence, "a fold from the left associates to the left") {
      await list([1, 2, 3]).reduce(0) { $0 - $1 } == -6
    },
    Example(.sequence, "a fold from the right is lazy") {
      let ran = Probe<String>()
      return await headAndTail(ran).foldRight(2) { first, _ async in first } == 0
        && ran.values == ["head"]
    },
    Example(.sequence, "a fold from the right ends with the start") {
      await list([0, 1, 2]).foldRight(3) { _, rest async in await rest.value() } == 3
    },
    Example(.sequence, "a fold from the right associates to the right") {
      await list([1, 2, 3]).foldRight(0) { first, rest async in first - (await rest.value()) } == 2
    },
    Example(.sequence, "any: one passes") { await list([0, 1, 2]).contains { $0 > 0 } },
    Example(.sequence, "any: none passes") { await !list([0, 1, 2]).contains { $0 == 3 } },
    Example(.sequence, "all: all pass") { await list([0, 1, 2]).allSatisfy { $0 >= 0 } },
    Example(.sequence, "all: one fails") { await !list([0, 1, 2]).allSatisfy { $0 < 2 } },
    Example(.sequence, "the leftmost that passes") {
      await list([0, 1, 2]).first { $0 > 0 } == 1
    },
    Example(.sequence, "nil if none passes") { await list([0, 1, 2]).first { $0 < 0 } == nil },
  ]
}
