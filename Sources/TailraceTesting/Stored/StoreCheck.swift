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
  let trim: (@Sendable (Store, Int) async throws -> Void)?
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

  /// A leased store with that many elements, one per commit.
  func leased(_ count: Int = 0) async throws -> Store {
    let store = try await make()
    guard try await store.acquireLease() != nil else {
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
      // In a crowded pool the call may not have had its turn: whoever hangs has had many.
      for _ in 0..<256 { await Task.yield() }
      answer.yield(false)
    }
    defer {
      alarm.cancel()
      work.cancel()
    }
    // In a task of its own: a caller that is cancelled would not wait.
    let first = Task {
      for await isBack in answers { return isBack }
      return false
    }
    return await first.value
  }

  /// A second handle if possible, otherwise the same.
  func another(_ store: Store) async throws -> Store { try await reopen?(store) ?? store }
}
