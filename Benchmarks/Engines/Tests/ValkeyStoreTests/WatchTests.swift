import Testing

@testable import ValkeyStore

@Suite("Waiting: which events wake which tasks")
struct WatchTests {
  let now = ContinuousClock.now
  let state = Locked(WatchState(heartbeat: .seconds(10)))

  /// A task begins to wait, without suspending. Returns the answer to it.
  func enter(_ position: Int, after time: Duration = .zero) async throws -> WatchState.Step {
    let step = Locked(WatchState.Step.leave)
    try await withCheckedThrowingContinuation { continuation in
      let answer = state.withLock { state in
        let ticket = state.ticket()
        return state.enter(ticket, position, continuation, now: now + time)
      }
      step.withLock { $0 = answer }
      continuation.resume()
    }
    return step.withLock { $0 }
  }

  /// How many tasks are woken.
  func news(_ last: Int?, isEnded: Bool = false, freed: Int? = nil) -> Int {
    let news = WatchState.News(last: last, isEnded: isEnded, freed: freed)
    return state.withLock { $0.roundEnded(.news(news)).0.count }
  }

  func round(after time: Duration = .zero) -> WatchState.Round? {
    state.withLock { $0.nextRound(now: now + time) }
  }

  @Test("nobody waits for what is known, nor for more of a list that has ended")
  func known() async throws {
    state.withLock { $0.listWasRead(last: 5, isEnded: false) }
    #expect(try await enter(4) == .leave)
    #expect(try await enter(5) == .watch)
    #expect(try await enter(7) == .wait)
    state.withLock { $0.listWasRead(last: 5, isEnded: true) }
    #expect(try await enter(5) == .leave)
    #expect(try await enter(9) == .leave)
  }

  @Test("one command waits for all: news wakes those that it is for")
  func rounds() async throws {
    state.withLock { $0.listWasRead(last: 5, isEnded: false) }
    for position in [5, 5, 6, 100] { _ = try await enter(position) }
    // From the last entry known, although one waits for much later ones.
    #expect(round() == WatchState.Round(last: 5, freed: nil, limit: .seconds(10)))
    #expect(news(6) == 2)
    #expect(round()?.last == 6)
    #expect(news(7) == 1)
    #expect(round()?.last == 7)
    #expect(news(nil, freed: 3) == 0, "nobody's lease was refused")
    #expect(news(8, isEnded: true) == 1)
    #expect(round() == nil)
    #expect(try await enter(4) == .leave)
  }

  @Test("a read that is overtaken by the news does not wait for newer news")
  func overtaken() async throws {
    state.withLock { $0.listWasRead(last: 6, isEnded: false) }
    _ = try await enter(6)
    #expect(round()?.last == 6)
    // The reply to a read from before the sixth entry is only handled now.
    state.withLock { $0.listWasRead(last: 5, isEnded: false) }
    #expect(try await enter(5) == .leave)
  }

  @Test("after the time all are woken, and read again")
  func quiet() async throws {
    for position in [0, 3] { _ = try await enter(position) }
    #expect(state.withLock { $0.roundEnded(.quiet).0.count } == 2)
    #expect(round() == nil)
    #expect(try await enter(0) == .watch)
  }

  @Test("a refused lease is told of the release, whenever it comes")
  func refusals() async throws {
    state.withLock { $0.leaseWasRefused(by: 7, until: now + .seconds(3)) }
    _ = try await enter(0)
    #expect(round() == WatchState.Round(last: 0, freed: 6, limit: .seconds(3)))
    #expect(news(nil, freed: 6) == 0, "an earlier lease than the one in the way")
    #expect(news(nil, freed: 7) == 1)
    #expect(round() == nil)
    // Released before the refusal is known here.
    state.withLock { $0.leaseWasRefused(by: 7, until: now + .seconds(3)) }
    #expect(try await enter(0, after: .seconds(1)) == .leave)
    // Told once: it would otherwise never wait again.
    #expect(try await enter(0, after: .seconds(1)) == .watch)
  }

  @Test("a refused lease is tried again when the lease has expired")
  func expiry() async throws {
    state.withLock { $0.leaseWasRefused(by: 7, until: now + .seconds(3)) }
    _ = try await enter(0)
    #expect(round(after: .seconds(1))?.limit == .seconds(2))
    #expect(round(after: .seconds(4))?.limit == .milliseconds(1))
    #expect(try await enter(0, after: .seconds(4)) == .leave)
    #expect(try await enter(0, after: .seconds(4)) == .wait)
    state.withLock { $0.leaseWasRefused(by: 8, until: now + .seconds(100)) }
    #expect(round(after: .seconds(4))?.limit == .seconds(10))
  }

  @Test("a task that is cancelled before it waits does not wait")
  func cancelled() async throws {
    let ticket = state.withLock { $0.ticket() }
    #expect(state.withLock { $0.cancel(ticket) } == nil)
    try await withCheckedThrowingContinuation { continuation in
      let step = state.withLock { $0.enter(ticket, 0, continuation, now: now) }
      #expect(step == .leave)
      continuation.resume()
    }
    #expect(round() == nil)
  }
}
