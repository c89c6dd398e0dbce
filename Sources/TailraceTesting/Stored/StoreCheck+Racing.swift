import Tailrace
import TailraceStored

// Several writers.
extension StoreCheck {
  func races() async throws {
    for round in 0..<8 {
      let store = try await leased(round)
      let other = try await another(store)
      let mayWrite = try await other.acquireLease() != nil
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
      let checkpoint = try await store.acquireLease()
      expect(
        .hasOneWinner, winners.count == 1, "of 6 appends at \(round), \(winners.count) were taken")
      if let winner = winners.first {
        expect(
          .hasOneWinner, all.elements == elements(0..<round) + [element(winner)],
          "the element of the winner is not what is stored")
        expect(
          .leaseIsOneSnapshot, checkpoint?.state == state(winner),
          "the state of the winner is not what is stored")
      }
    }
  }

  func staleClaims() async throws {
    let store = try await leased(2)
    let other = try await another(store)
    // Like a writer that was thought dead and returns.
    guard try await other.acquireLease() != nil else { return }
    try await other.append(commit(2..<4), at: 2)
    let isTaken = try await append(
      Commit([element(77)], state: state(77)), to: store, at: 2)
    expect(.refusesStaleLeases, !isTaken, "it was taken at 2, when 4 were stored")
    let all = try await everything(in: store)
    expect(
      .refusesStaleLeases, all.elements == elements(0..<4),
      "what a stale writer appended has changed what is stored")
  }

  /// Racing writers, each continuing from its lease, and a reader that acquires leases all the time.
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
            guard let checkpoint = try? await writer.acquireLease() else { return }
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
        .leaseIsOneSnapshot,
        "while others appended, \(count) elements were leased with \(String(describing: state)), said to be after \(stateCount)"
      )
    }
    let all = try await everything(in: store)
    expect(
      .readsInOrder,
      all.elements == elements(0..<all.elements.count) && all.elements.count >= length,
      "three writers made \(all.elements.count) elements, or others than they should have")
  }

  /// A store that grants leases and takes nothing makes its list compute for ever.
  func progress() async throws {
    let rule = StoreRule.goesOnWhenSuperseded
    let store = try await leased(1)
    let other = try await another(store)
    var count = 1
    for _ in 0..<3 {
      // Another writer is faster; or, where there is only one, the position is a former one.
      let hasOther = try await other.acquireLease() != nil
      if hasOther { try await other.append(commit(count..<count + 1), at: count) }
      let lost = hasOther ? count : count - 1
      _ = try await append(commit(lost..<lost + 1), to: store, at: lost)
      let page = try await store.read(from: lost, upTo: 1)
      expect(
        rule, page.elements == elements(lost..<lost + 1),
        "it was superseded at \(lost), and read \(page.elements.count) elements there")
      if hasOther { count += 1 }
      guard let checkpoint = try await store.acquireLease() else { return }
      let goesOn = try await append(
        commit(checkpoint.count..<checkpoint.count + 1), to: store, at: checkpoint.count)
      expect(
        rule, goesOn && checkpoint.count == count,
        "\(count) were stored; its lease had \(checkpoint.count), and was \(goesOn ? "not " : "")superseded"
      )
      if !goesOn { return }
      count += 1
    }
  }
}
