import Tailrace
import TailraceStored

// One writer.
extension StoreCheck {
  func emptiness() async throws {
    let store = try await make()
    for position in [0, 3] {
      let page = try await store.read(from: position, upTo: 8)
      expect(
        .beginsEmpty, page.elements.isEmpty && !page.isEnd,
        "read(from: \(position)) gave \(page.elements.count) elements, isEnd \(page.isEnd)")
    }
    guard let checkpoint = try await store.acquireLease() else {
      return note(.beginsEmpty, "a new store was in use by somebody else")
    }
    expect(
      .beginsEmpty,
      checkpoint.count == 0 && checkpoint.state == nil && !checkpoint.isEnded,
      "it was leased with \(checkpoint)")
  }

  func order() async throws {
    let store = try await leased()
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
      let store = try await leased(3)
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
      let checkpoint = try await store.acquireLease()
      expect(
        .tellsTheEnd,
        checkpoint == nil || checkpoint?.isEnded == true && checkpoint?.count == count,
        "a list that has ended was leased with \(String(describing: checkpoint))")
      let isTaken = try await append(commit(count..<count + 1), to: store, at: count)
      expect(.appendsAtTheEndOnly, !isTaken, "a list that has ended took another element")
    }
  }

  func positions() async throws {
    let store = try await leased(4)
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
    let store = try await leased(2)
    try await store.append(commit(2..<5, hasState: false), at: 2)
    let later = try await store.acquireLease()
    expect(
      .keepsTheState,
      later == ListCheckpoint(count: 5, state: state(2), stateCount: 2, isEnded: false),
      "a state after 2 elements, then 3 without one: leased with \(String(describing: later))")
    try await store.append(commit(5..<6), at: 5)
    let latest = try await store.acquireLease()
    expect(
      .leaseIsOneSnapshot,
      latest == ListCheckpoint(count: 6, state: state(6), isEnded: false),
      "after a commit with a state it was leased with \(String(describing: latest))")
  }

  func cancelledAppends() async throws {
    let store = try await leased()
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
      guard let checkpoint = try await store.acquireLease() else {
        return note(.survivesCancellation, "the lease was lost")
      }
      expect(
        .survivesCancellation,
        checkpoint.count == stored && (stored == 0 || checkpoint.state == state(stored)),
        "\(stored) elements were read, and the lease says \(checkpoint)")
      count = checkpoint.count
    }
    let goesOn = try await append(commit(count..<count + 1), to: store, at: count)
    expect(.survivesCancellation, goesOn, "after all that, nothing could be appended")
  }
}
