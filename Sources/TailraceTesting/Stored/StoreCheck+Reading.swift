import Tailrace
import TailraceStored

// Readers beside writers.
extension StoreCheck {
  func wholeness() async throws {
    let store = try await leased()
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

  /// Whatever others do, what was read once is read again.
  func stability() async throws {
    let store = try await leased(4)
    let other = try await another(store)
    let before = try await everything(in: store).elements
    func compare(_ event: String) async throws {
      for handle in [store, other] {
        for position in [0, 3] {
          let page = try await handle.read(from: position, upTo: 4 - position)
          expect(
            .keepsElements, before.dropFirst(position).starts(with: page.elements),
            "after \(event), the elements from \(position) on were not those read before")
        }
      }
    }
    _ = try await append(commit(70..<71), to: store, at: 2)
    try await compare("an append that was superseded")
    let hasOther = try await other.acquireLease() != nil
    try await compare("a lease")
    let writer = hasOther ? other : store
    try await writer.append(commit(4..<6, hasState: false), at: 4)
    try await compare("an append")
    try await writer.append(Commit([], state: nil, isEnd: true), at: 6)
    try await compare("the end")
  }

  func trimming() async throws {
    guard let trim else { return }
    let rule = StoreRule.trimsTheBeginning
    let store = try await leased(6)
    try await trim(store, 4)
    let extent = try await store.extent()
    // Perhaps only blocks of elements can be discarded.
    let first = extent.first
    expect(
      rule, first <= 4 && extent.count == 6 && !extent.isEnded,
      "6 elements were trimmed before 4, and the extent was \(extent)")
    for position in 0..<first {
      do {
        let page = try await store.read(from: position, upTo: 1)
        note(rule, "a discarded element was read: \(page.elements.count) elements at \(position)")
      } catch {
        expect(
          rule, error as? ListStoreError == .trimmed(first: first),
          "\(first) is the first element kept, and a read at \(position) failed with \(error)")
      }
    }
    let page = try await store.read(from: max(first, 4), upTo: 1)
    expect(
      rule, page.elements == elements(max(first, 4)..<max(first, 4) + 1),
      "an element that is kept was not at its position")
    let checkpoint = try await store.acquireLease()
    expect(
      rule, checkpoint == ListCheckpoint(count: 6, state: state(6), isEnded: false),
      "it was leased with \(String(describing: checkpoint))")
    try await trim(store, 1)
    try await store.append(commit(6..<8), at: 6)
    let later = try await store.extent()
    expect(rule, later.first == first && later.count == 8, "two more, and it was \(later)")
    guard let reopened = try await reopen?(store).extent() else { return }
    expect(rule, reopened == later, "the extent was \(later), and \(reopened) opened anew")
  }

  func reopening() async throws {
    guard let reopen else { return }
    let store = try await leased(5)
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
    if let checkpoint = try await other.acquireLease() {
      expect(
        .isThereForOthers, checkpoint == ListCheckpoint(count: 6, state: state(6), isEnded: true),
        "another one leased \(checkpoint)")
    }
  }

  func extents() async throws {
    let rule = StoreRule.tellsItsExtent
    let store = try await leased(3)
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
    let other = try await leased(3).extent()
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
