import Tailrace
import TailraceStored

/// The checks of `checkStore`, one method for each.
struct StoreCheck<Store: ListStore>: Sendable
where Store.Element: Equatable, Store.State: Equatable {
  typealias Commit = ListCommit<Store.Element, Store.State>

  let element: @Sendable (Int) -> Store.Element
  let state: @Sendable (Int) -> Store.State
  let patience: Duration
  let reopen: (@Sendable (Store) async throws -> Store)?
  let make: @Sendable () async throws -> Store
  let faults = Probe<StoreFault>()

  func note(_ rule: StoreRule, _ observation: String) {
    faults.record(StoreFault(rule: rule, observation: observation))
  }

  func expect(_ rule: StoreRule, _ isKept: Bool, _ observation: @autoclosure () -> String) {
    if !isKept { note(rule, observation()) }
  }

  // MARK: Building blocks

  /// The elements with these numbers; the state's number is the position after the last.
  func commit(_ numbers: Range<Int>, hasState: Bool = true, isEnd: Bool = false) -> Commit {
    Commit(
      numbers.map(element), state: hasState ? state(numbers.upperBound) : nil, isEnd: isEnd)
  }

  func elements(_ numbers: Range<Int>) -> [Store.Element] { numbers.map(element) }

  /// A claimed store with that many elements, one per commit.
  func claimed(_ count: Int = 0) async throws -> Store {
    let store = try await make()
    guard try await store.claim() != nil else {
      note(.beginsEmpty, "a new store was in use by somebody else")
      throw ListStoreError.inUse
    }
    for number in 0..<count { try await store.append(commit(number..<number + 1), at: number) }
    return store
  }

  /// All readable elements, and whether the list has ended; at most as many as a check ever
  /// stores.
  func everything(in store: Store) async throws -> ListPage<Store.Element> {
    var all = ListPage<Store.Element>([])
    while !all.isEnd && all.elements.count < 1000 {
      let page = try await store.read(from: all.elements.count, upTo: 64)
      if page.elements.isEmpty && !page.isEnd { break }
      all.elements += page.elements
      all.isEnd = page.isEnd
    }
    return all
  }

  /// Whether an append was stored; `nil` if it was superseded.
  func append(_ commit: Commit, to store: Store, at position: Int) async throws -> Bool {
    do {
      try await store.append(commit, at: position)
      return true
    } catch let failure as ListStoreError where failure == .superseded {
      return false
    }
  }

  /// Runs a call that should return soon. False if it does not: it is then cancelled and
  /// abandoned.
  ///
  /// - Parameter share: of the patience; a part of a check has less.
  func comesBack(
    share: Int = 4, _ body: @escaping @Sendable () async throws -> Void
  ) async -> Bool {
    let (answers, answer) = AsyncStream<Bool>.makeStream()
    let work = Task {
      try? await body()
      answer.yield(true)
    }
    let patience = patience / share
    let alarm = Task {
      try await Task.sleep(for: patience)
      answer.yield(false)
    }
    defer {
      alarm.cancel()
      work.cancel()
    }
    for await isBack in answers { return isBack }
    return false
  }

  // MARK: One writer

  func emptiness() async throws {
    let store = try await make()
    for position in [0, 3] {
      let page = try await store.read(from: position, upTo: 8)
      expect(
        .beginsEmpty, page.elements.isEmpty && !page.isEnd,
        "read(from: \(position)) gave \(page.elements.count) elements, isEnd \(page.isEnd)")
    }
    guard let checkpoint = try await store.claim() else {
      return note(.beginsEmpty, "a new store was in use by somebody else")
    }
    expect(
      .beginsEmpty,
      checkpoint.count == 0 && checkpoint.state == nil && !checkpoint.isEnded,
      "it was claimed with \(checkpoint)")
  }

  func order() async throws {
    let store = try await claimed()
    // One element, several, and as many as in a segment.
    var count = 0
    for size in [1, 1, 3, 2, 40, 1] {
      try await store.append(commit(count..<count + size), at: count)
      count += size
      let all = try await everything(in: store)
      expect(
        .readsInOrder, all.elements == elements(0..<count),
        "\(count) elements were appended, and \(all.elements.count) were read, or others")
      expect(.tellsTheEnd, !all.isEnd, "a list that goes on was said to have ended")
    }
    for position in [0, 1, 2, 4, 5, 7, 20, count - 1, count, count + 1] {
      for limit in [1, 2, 7, count + 5] {
        let page = try await store.read(from: position, upTo: limit)
        let expected = elements(min(position, count)..<count).prefix(limit)
        expect(
          .readsInOrder,
          page.elements.count <= limit && page.elements.isEmpty == expected.isEmpty
            && page.elements == Array(expected.prefix(page.elements.count)),
          "read(from: \(position), upTo: \(limit)) of \(count) gave \(page.elements)")
      }
    }
  }

  func end() async throws {
    for hasElements in [true, false] {
      let store = try await claimed(3)
      let count = hasElements ? 5 : 3
      let last = Commit(
        elements(3..<count), state: hasElements ? state(5) : nil, isEnd: true)
      guard try await append(last, to: store, at: 3) else {
        note(
          hasElements ? .tellsTheEnd : .storesAnEmptyEnd,
          "a last commit of \(count - 3) elements was superseded")
        continue
      }
      let all = try await everything(in: store)
      expect(
        hasElements ? .tellsTheEnd : .storesAnEmptyEnd,
        all == ListPage(elements(0..<count), isEnd: true),
        "after a last commit of \(count - 3) elements there were \(all.elements.count) elements, isEnd \(all.isEnd)"
      )
      for position in 0...count + 1 {
        for limit in [1, 2, 9] {
          let page = try await store.read(from: position, upTo: limit)
          expect(
            .tellsTheEnd, page.isEnd == (position + page.elements.count >= count),
            "read(from: \(position), upTo: \(limit)) of \(count) gave \(page.elements.count), isEnd \(page.isEnd)"
          )
        }
      }
      let checkpoint = try await store.claim()
      expect(
        .tellsTheEnd,
        checkpoint == nil || checkpoint?.isEnded == true && checkpoint?.count == count,
        "a list that has ended was claimed with \(String(describing: checkpoint))")
      let isTaken = try await append(commit(count..<count + 1), to: store, at: count)
      expect(.appendsAtTheEndOnly, !isTaken, "a list that has ended took another element")
    }
  }

  func positions() async throws {
    let store = try await claimed(4)
    for position in [0, 3, 5, 100] {
      let isTaken = try await append(
        commit(position..<position + 1), to: store, at: position)
      expect(
        .appendsAtTheEndOnly, !isTaken, "4 elements were stored, and one was taken at \(position)")
    }
    let all = try await everything(in: store)
    expect(
      .appendsAtTheEndOnly, all.elements == elements(0..<4),
      "appends that were superseded have changed what is stored")
    let goesOn = try await append(commit(4..<5), to: store, at: 4)
    expect(.appendsAtTheEndOnly, goesOn, "4 elements were stored, and none was taken at 4")
  }

  func states() async throws {
    let store = try await claimed(2)
    try await store.append(commit(2..<5, hasState: false), at: 2)
    let later = try await store.claim()
    expect(
      .keepsTheState,
      later == ListCheckpoint(count: 5, state: state(2), stateCount: 2, isEnded: false),
      "a state after 2 elements, then 3 without one: claimed with \(String(describing: later))")
    try await store.append(commit(5..<6), at: 5)
    let latest = try await store.claim()
    expect(
      .claimsOneSnapshot,
      latest == ListCheckpoint(count: 6, state: state(6), isEnded: false),
      "after a commit with a state it was claimed with \(String(describing: latest))")
  }

  // MARK: Several

  /// A second handle if possible, otherwise the same.
  func another(_ store: Store) async throws -> Store { try await reopen?(store) ?? store }

  func races() async throws {
    for round in 0..<8 {
      let store = try await claimed(round)
      let other = try await another(store)
      let mayWrite = try await other.claim() != nil
      let outcomes = await withTaskGroup(of: Result<Int?, any Error>.self) { group in
        for racer in 0..<6 {
          // The elements identify their writer.
          let number = 1000 * (racer + 1) + round
          let own = Commit([element(number)], state: state(number))
          let store = mayWrite && racer % 2 == 1 ? other : store
          group.addTask {
            do {
              return .success(try await append(own, to: store, at: round) ? number : nil)
            } catch {
              return .failure(error)
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for case .failure(let failure) in outcomes {
        note(.hasOneWinner, "an append that raced failed with \(failure)")
      }
      let winners = outcomes.compactMap { try? $0.get() }
      let all = try await everything(in: store)
      let checkpoint = try await store.claim()
      expect(
        .hasOneWinner, winners.count == 1, "of 6 appends at \(round), \(winners.count) were taken")
      if let winner = winners.first {
        expect(
          .hasOneWinner, all.elements == elements(0..<round) + [element(winner)],
          "the element of the winner is not what is stored")
        expect(
          .claimsOneSnapshot, checkpoint?.state == state(winner),
          "the state of the winner is not what is stored")
      }
    }
  }

  func staleClaims() async throws {
    let store = try await claimed(2)
    let other = try await another(store)
    // Like a writer that was thought dead and returns.
    guard try await other.claim() != nil else { return }
    try await other.append(commit(2..<4), at: 2)
    let isTaken = try await append(
      Commit([element(77)], state: state(77)), to: store, at: 2)
    expect(.refusesStaleClaims, !isTaken, "it was taken at 2, when 4 were stored")
    let all = try await everything(in: store)
    expect(
      .refusesStaleClaims, all.elements == elements(0..<4),
      "what a stale writer appended has changed what is stored")
  }

  /// Racing writers, each continuing from its claim, and a reader that claims all the time.
  func snapshots() async throws {
    let store = try await make()
    let length = 60
    let lists = try await [store, another(store), another(store)]
    let seen = Probe<(count: Int, state: Store.State?, stateCount: Int)>()
    await withTaskGroup { group in
      for writer in lists {
        group.addTask {
          // Bounded: with a store that accepts nothing, the rounds would never end.
          for _ in 0..<20 * length {
            guard let checkpoint = try? await writer.claim() else { return }
            seen.record((checkpoint.count, checkpoint.state, checkpoint.stateCount))
            if checkpoint.count >= length { return }
            let next = checkpoint.count..<checkpoint.count + 1 + checkpoint.count % 3
            _ = try? await append(commit(next), to: writer, at: checkpoint.count)
            await Task.yield()
          }
        }
      }
    }
    for (count, state, stateCount) in seen.values where count > 0 {
      guard state != self.state(count) || stateCount != count else { continue }
      return note(
        .claimsOneSnapshot,
        "while others appended, \(count) elements were claimed with \(String(describing: state)), said to be after \(stateCount)"
      )
    }
    let all = try await everything(in: store)
    expect(
      .readsInOrder,
      all.elements == elements(0..<all.elements.count) && all.elements.count >= length,
      "three writers made \(all.elements.count) elements, or others than they should have")
  }

  func wholeness() async throws {
    let store = try await claimed()
    let reader = try await another(store)
    let isDone = Probe<Int>()
    async let counts = {
      var counts: Set<Int> = []
      while isDone.count == 0, !Task.isCancelled {
        // Pages may be short, but the last one ends with a commit.
        counts.insert(try await everything(in: reader).elements.count)
        await Task.yield()
      }
      return counts
    }()
    for round in 0..<40 {
      try await store.append(commit(round * 5..<round * 5 + 5), at: round * 5)
      await Task.yield()
    }
    isDone.record(1)
    let parts = try await counts.filter { $0 % 5 != 0 }.sorted()
    expect(
      .storesCommitsWhole, parts.isEmpty, "of commits of 5, \(parts) elements were seen")
  }

  func waiting() async throws {
    let store = try await claimed(1)
    let reader = try await another(store)
    let isOver = await comesBack { try await reader.waitForMore(than: 0) }
    expect(.wakesThoseWhoWait, isOver, "one waited for more than 0 elements, when there was 1")
    for isEnd in [false, true] {
      let count = isEnd ? 2 : 1
      let next = isEnd ? Commit([], state: nil, isEnd: true) : commit(1..<2)
      // Spurious returns are allowed: this waits like a list.
      async let wakes = comesBack {
        while true {
          let page = try await reader.read(from: count, upTo: 1)
          if !page.elements.isEmpty || page.isEnd { return }
          try await reader.waitForMore(than: count)
          try Task.checkCancellation()
          await Task.yield()
        }
      }
      await Task.yield()
      try await store.append(next, at: count)
      let isWoken = await wakes
      expect(
        .wakesThoseWhoWait, isWoken, "one waited, and \(isEnd ? "the end" : "an element") came")
      // The wait before may have read without waiting.
      let isOver = await comesBack { try await reader.waitForMore(than: count) }
      expect(
        .wakesThoseWhoWait, isOver,
        "one waited for more than \(count) elements, when \(isEnd ? "the end" : "another") was there"
      )
    }
  }

  func cancelledWaiting() async throws {
    let store = try await claimed(1)
    let waiter = Task {
      while !Task.isCancelled {
        try await store.waitForMore(than: 1)
        await Task.yield()
      }
    }
    await Task.yield()
    waiter.cancel()
    let isBack = await comesBack { _ = await waiter.result }
    expect(.letsCancelledOnesGo, isBack, "one that waited for a second element did not come back")
  }

  func cancelledAppends() async throws {
    let store = try await claimed()
    var count = 0
    for round in 0..<24 {
      let size = 1 + round % 4
      let next = commit(count..<count + size)
      let position = count
      let appending = Task { try await append(next, to: store, at: position) }
      // Before it begins, and at several places within.
      for _ in 0..<round % 6 { await Task.yield() }
      appending.cancel()
      let outcome = await appending.result
      let all = try await everything(in: store)
      let stored = all.elements.count
      expect(
        .survivesCancellation, stored == count || stored == count + size,
        "a commit of \(size) was cancelled at \(count), and there were \(stored) elements")
      if case .success(true) = outcome {
        expect(
          .survivesCancellation, stored == count + size, "it was said to be stored, and is not")
      }
      guard let checkpoint = try await store.claim() else {
        return note(.survivesCancellation, "the claim was lost")
      }
      expect(
        .survivesCancellation,
        checkpoint.count == stored && (stored == 0 || checkpoint.state == state(stored)),
        "\(stored) elements were read, and the claim says \(checkpoint)")
      count = checkpoint.count
    }
    let goesOn = try await append(commit(count..<count + 1), to: store, at: count)
    expect(.survivesCancellation, goesOn, "after all that, nothing could be appended")
  }

  func reopening() async throws {
    guard let reopen else { return }
    let store = try await claimed(5)
    let other = try await reopen(store)
    let all = try await everything(in: other)
    expect(
      .isThereForOthers, all == ListPage(elements(0..<5)),
      "5 elements were stored, and another one read \(all.elements.count)")
    try await store.append(Commit([element(5)], state: state(6), isEnd: true), at: 5)
    let ended = try await everything(in: other)
    expect(
      .isThereForOthers, ended == ListPage(elements(0..<6), isEnd: true),
      "the list ended after 6, and another one read \(ended.elements.count), isEnd \(ended.isEnd)")
    if let checkpoint = try await other.claim() {
      expect(
        .isThereForOthers, checkpoint == ListCheckpoint(count: 6, state: state(6), isEnded: true),
        "another one claimed \(checkpoint)")
    }
  }

  func extents() async throws {
    let rule = StoreRule.tellsItsExtent
    let store = try await claimed(3)
    let first = try await store.extent()
    expect(
      rule, first.first == 0 && first.count == 3 && !first.isEnded,
      "3 elements were stored, and the extent was \(first)")
    try await store.append(commit(3..<4, isEnd: true), at: 3)
    let last = try await store.extent()
    expect(
      rule, last.count == 4 && last.isEnded, "the list ended after 4, and the extent was \(last)")
    guard let identity = first.identity else { return }
    expect(
      rule, !identity.isEmpty && identity.utf8.allSatisfy(Self.isAllowed),
      "an identity has letters, digits and -, and it was \"\(identity)\"")
    expect(
      rule, last.identity == identity,
      "the identity was \(identity), then \(String(describing: last.identity))")
    let other = try await claimed(3).extent()
    expect(rule, other.identity != identity, "two lists have the identity \(identity)")
    guard let reopened = try await reopen?(store).extent() else { return }
    expect(rule, reopened == last, "the extent was \(last), and \(reopened) opened anew")
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch Character(UnicodeScalar(byte)) {
    case "a"..."z", "A"..."Z", "0"..."9", "-": true
    default: false
    }
  }
}
