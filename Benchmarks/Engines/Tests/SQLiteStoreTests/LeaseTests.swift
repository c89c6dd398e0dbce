import Foundation
import GRDB
import SQLiteStore
import Tailrace
import TailraceStored
import TailraceTesting
import Testing

@Suite("SQLiteStore: one writer, by a lease", .timeLimit(.minutes(2)))
struct LeaseTests {
  static let look = "PRAGMA data_version"
  static let renewal = "UPDATE tailrace_lists SET expires"
  /// Ends every lease, as if its writer had slept.
  static let expiry = "UPDATE tailrace_lists SET expires = 0"

  @Test("a second store is refused, and reads")
  func refusal() async throws {
    let place = try Place()
    let (first, second) = (place.store(), place.store())
    #expect(try await items(in: first).prefix(2).count() == 2)
    #expect(try await second.acquireLease() == nil)
    let list = items(in: second, atTail: .compute)
    #expect(try await list.prefix(2).array() == [Item(0), Item(1)])
    await #expect(throws: ListStoreError.inUse) { try await list.prefix(3).array() }
    await #expect(throws: ListStoreError.superseded) {
      try await second.append(commit(2..<3), at: 2)
    }
    // A refused lease takes nothing away.
    try await first.append(commit(2..<3), at: 2)
  }

  @Test("a released store frees its lease: a waiting list takes over long before the lease ends")
  func release() async throws {
    let place = try Place()
    let looks = Probe<String>()
    var first: ItemStore? = place.store()
    let second = place.store(configuration: traced(Self.look, into: looks))
    _ = try await first?.acquireLease()
    try await first?.append(commit(0..<1), at: 0)
    let steps = Probe<Int>()
    let follower = Task {
      let list = items(in: second, atTail: .computeOrFollow, steps: steps)
      return try await list.prefix(2).array()
    }
    // It has been refused, and waits.
    await looks.waitForCount(3)
    #expect(steps.count == 0)
    first = nil
    #expect(try await follower.value == [Item(0), Item(1)])
    #expect(steps.values == [1])
    #expect(try place.number("SELECT epoch FROM tailrace_lists") == 2)
  }

  @Test("a writer that slept while its lease ended is superseded, at the right position too")
  func fencing() async throws {
    let place = try Place()
    let (sleeper, other) = (place.store(), place.store())
    _ = try await sleeper.acquireLease()
    try await sleeper.append(commit(0..<2), at: 0)
    try place.execute(Self.expiry)
    #expect(try await other.acquireLease() == ListCheckpoint(count: 2, state: 2, isEnded: false))
    await #expect(throws: ListStoreError.superseded) {
      try await sleeper.append(ItemCommit([Item(77)], state: 77), at: 2)
    }
    try await other.append(commit(2..<3), at: 2)
    await #expect(throws: ListStoreError.superseded) {
      try await sleeper.append(ItemCommit([Item(77)], state: 77), at: 3)
    }
    #expect(try await sleeper.acquireLease() == nil)
    #expect(try await other.read(from: 0, upTo: 9).elements == (0..<3).map(Item.init))
  }

  @Test("a lease is timed from the start of the machine, whatever its clock is set to")
  func clock() async throws {
    let place = try Place()
    let store = place.store(lease: .seconds(60))
    let before = Self.sinceStart
    _ = try await store.acquireLease()
    for position in 0..<2 {
      let expires = try #require(try place.number("SELECT expires FROM tailrace_lists"))
      #expect((before + 60_000...Self.sinceStart + 60_000).contains(expires))
      #expect(try await place.store().acquireLease() == nil)
      try await store.append(commit(position..<position + 1), at: position)
    }
  }

  @Test("a lease from before the machine was started again keeps nobody from writing")
  func restart() async throws {
    let place = try Place()
    let (writer, other) = (place.store(), place.store())
    _ = try await writer.acquireLease()
    try await writer.append(commit(0..<1), at: 0)
    #expect(try await other.acquireLease() == nil)
    // As if the machine had run for a day then.
    let later = 24 * 3600 * 1000
    try place.execute("UPDATE tailrace_lists SET expires = expires + \(later)")
    try await other.waitForMore(than: 1)
    #expect(try await other.acquireLease()?.count == 1)
  }

  /// In milliseconds.
  static var sinceStart: Int {
    #if canImport(Darwin)
      let clock = CLOCK_MONOTONIC_RAW
    #else
      let clock = CLOCK_BOOTTIME
    #endif
    var time = timespec()
    clock_gettime(clock, &time)
    return Int(time.tv_sec) * 1000 + Int(time.tv_nsec) / 1_000_000
  }

  @Test("an expired lease that nobody took is still good for an append, which renews it")
  func lateAppend() async throws {
    let place = try Place()
    let store = place.store()
    _ = try await store.acquireLease()
    try place.execute(Self.expiry)
    try await store.append(commit(0..<1), at: 0)
    #expect(try await place.store().acquireLease() == nil)
  }

  @Test("a writer that acquires it again keeps its lease, and its epoch")
  func again() async throws {
    let place = try Place()
    let store = place.store()
    for count in 0..<3 {
      #expect(try await store.acquireLease()?.count == count)
      try await store.append(commit(count..<count + 1), at: count)
    }
    try place.execute(Self.expiry)
    #expect(try await store.acquireLease()?.count == 3)
    #expect(try await place.store().acquireLease() == nil)
    #expect(try place.number("SELECT epoch FROM tailrace_lists") == 1)
  }

  @Test("the release of a store that was superseded leaves the new writer its lease")
  func lateRelease() async throws {
    let place = try Place()
    let renewals = Probe<String>()
    let configuration = traced(Self.renewal, into: renewals)
    var sleeper: ItemStore? = place.store(configuration: configuration)
    let other = place.store()
    _ = try await sleeper?.acquireLease()
    try place.execute(Self.expiry)
    _ = try await other.acquireLease()
    #expect(renewals.count == 1)
    sleeper = nil
    await renewals.waitForCount(2)
    #expect(try await place.store().acquireLease() == nil)
    try await other.append(commit(0..<1), at: 0)
  }

  @Test("an idle writer's lease is renewed while its store exists")
  func renewal() async throws {
    let place = try Place()
    let renewals = Probe<String>()
    let lease = Duration.seconds(1)
    let store = place.store(lease: lease, configuration: traced(Self.renewal, into: renewals))
    _ = try await store.acquireLease()
    let end = ContinuousClock.now.advanced(by: lease * 4)
    let other = place.store(lease: lease)
    while ContinuousClock.now < end {
      await renewals.waitForCount(renewals.count + 1)
      #expect(try await other.acquireLease() == nil)
    }
    try await store.append(commit(0..<1), at: 0)
    #expect(try place.number("SELECT epoch FROM tailrace_lists") == 1)
  }

  @Test("a renewal that fails is made up for by the next")
  func failedRenewal() async throws {
    let place = try Place()
    let renewals = Probe<String>()
    var configuration = traced(Self.renewal, into: renewals)
    configuration.busyMode = .timeout(0.01)
    let lease = Duration.seconds(1)
    let store = place.store(lease: lease, configuration: configuration)
    _ = try await store.acquireLease()
    let end = ContinuousClock.now.advanced(by: lease * 2)
    try await place.blocker(patience: 10).writeWithoutTransaction { db in
      try db.execute(sql: "BEGIN IMMEDIATE")
      while ContinuousClock.now < end { usleep(1000) }
      try db.execute(sql: "COMMIT")
    }
    await renewals.waitForCount(renewals.count + 1)
    #expect(try await place.store(lease: lease).acquireLease() == nil)
    try await store.append(commit(0..<1), at: 0)
  }

  @Test("one that only follows is not woken by a lease that is free")
  func pureFollower() async throws {
    let place = try Place()
    let writer = place.store()
    _ = try await writer.acquireLease()
    try await writer.append(commit(0..<1), at: 0)
    try place.execute(Self.expiry)
    let (looks, returns) = (Probe<String>(), Probe<Int>())
    let follower = place.store(configuration: traced(Self.look, into: looks))
    let waiting = Task {
      try await follower.waitForMore(than: 1)
      returns.record(1)
    }
    await looks.waitForCount(12)
    #expect(returns.count == 0)
    try await writer.append(commit(1..<2), at: 1)
    try await waiting.value
  }

  @Test("a free lease that nobody takes is told less and less often")
  func freeLease() async throws {
    let place = try Place()
    let (writer, refused) = (place.store(), place.store())
    _ = try await writer.acquireLease()
    #expect(try await refused.acquireLease() == nil)
    try place.execute(Self.expiry)
    let clock = ContinuousClock()
    let first = try await clock.measure { try await refused.waitForMore(than: 0) }
    #expect(first < .seconds(1))
    let others = try await clock.measure {
      for _ in 1...5 { try await refused.waitForMore(than: 0) }
    }
    // 20, 40, 80, 160 and 320 milliseconds.
    #expect(others > .milliseconds(600))
    #expect(try await refused.acquireLease() != nil)
  }

  @Test("nobody looks when nobody waits")
  func idle() async throws {
    let place = try Place()
    let (looks, later) = (Probe<String>(), Probe<String>())
    let store = place.store(configuration: traced(Self.look, into: looks))
    _ = try await store.acquireLease()
    let waiting = Task { try await store.waitForMore(than: 0) }
    await looks.waitForCount(3)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let count = looks.count
    // Another one waits for as long as many looks take.
    let other = place.store(configuration: traced(Self.look, into: later))
    let longer = Task { try await other.waitForMore(than: 0) }
    await later.waitForCount(12)
    longer.cancel()
    #expect(looks.count <= count + 1)
  }

  @Test("looks become rare while nothing changes")
  func rareLooks() async throws {
    let place = try Place()
    let looks = Probe<String>()
    let store = place.store(configuration: traced(Self.look, into: looks))
    _ = try await store.acquireLease()
    let waiting = Task { try await store.waitForMore(than: 0) }
    let time = await ContinuousClock().measure { await looks.waitForCount(16) }
    // 1, 2, 4, 8, 16, then 32 milliseconds each.
    #expect(time > .milliseconds(250))
    waiting.cancel()
  }
}
