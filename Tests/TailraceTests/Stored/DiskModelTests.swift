import Foundation
import Tailrace
import TailraceFoundation
import TailraceTesting
import Testing

@testable import TailraceStored

/// Files on a disk that is a value: every crash that it may have, and every call that may fail.
@Suite("Lists on a model of a disk", .tags(.long), .hangLimit, .inTurn)
struct DiskModelTests {
  static let url = URL(filePath: "/model/list")
  static let path = url.fileSystemPath

  static func store(_ disk: ModelDisk, _ durability: Durability) -> Walk.Store {
    Walk.Store(url, element: .text, state: .wide, durability: durability, disk: disk)
  }

  /// A random life of a list: several leases, appends of 1 to 3 elements, trims and releases.
  ///
  /// - Returns: the disk, and whether nothing has failed but what was ordered.
  ///
  /// - Parameter durability: of all stores; `nil`: each has another one.
  static func live(
    _ disk: ModelDisk, _ durability: Durability?, steps: Int,
    using random: inout SeededGenerator
  ) async throws -> Int {
    var present = durability ?? .survivesPowerLoss
    var store = Self.store(disk, present)
    var walk = Walk()
    var (count, given, hasEnded) = (0, 0, false)
    var (isWriter, identity) = (false, String?.none)
    for _ in 0..<steps {
      do {
        if !isWriter {
          guard let checkpoint = try await store.acquireLease() else { throw ListStoreError.inUse }
          #expect(checkpoint.count >= given, "an element that was given is gone")
          (count, walk, isWriter) = (checkpoint.count, checkpoint.state ?? Walk(), true)
          (given, hasEnded) = (max(given, count), checkpoint.isEnded)
          let now = try await store.extent().identity
          #expect(
            identity ?? now == now || disk.contents.withLock { $0.hasFailed },
            "another identity, and the machine was not started anew")
          identity = now
          disk.log(.given(given, identity: identity))
          if present == .survivesPowerLoss { disk.log(.promised(given)) }
        }
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
          try await store.release()
          isWriter = false
          disk.log(.released)
        case 1:
          present = durability ?? Durability.all.randomElement(using: &random)!
          store = Self.store(disk, present)
          isWriter = false
        case 2 where count > 0:
          try await store.trim(before: Int.random(in: 0...count, using: &random))
        case 3 where count > 6 && !hasEnded:
          try await store.append(ListCommit([], state: nil, isEnd: true), at: count)
          hasEnded = true
          // A mark that could not be written shows it later.
          let isShown = try await store.read(from: count, upTo: 1).isEnd
          #expect(isShown || disk.contents.withLock { $0.hasFailed })
        case _ where hasEnded:
          let commit = ListCommit(["too late"], state: walk)
          await #expect(throws: ListStoreError.self) { try await store.append(commit, at: count) }
        default:
          var next = walk
          let elements = (0..<Int.random(in: 1...3, using: &random)).map { _ in next.next() }
          try await store.append(ListCommit(elements, state: next), at: count)
          (walk, count) = (next, count + elements.count)
          given = count
          disk.log(.given(given, identity: identity))
          if present == .survivesPowerLoss { disk.log(.promised(given)) }
        }
      } catch {
        guard disk.contents.withLock({ $0.hasFailed }) else { throw error }
        // The store may be poisoned, and its end is unknown: another one finds out.
        store = Self.store(disk, present)
        isWriter = false
      }
    }
    return given
  }

  /// What must be true of a file after a crash. Returns how many elements it has, and one more for
  /// its end.
  ///
  /// - Parameters:
  ///   - killed: whether only the processes are gone, and not the machine's memory. Then the file may
  ///     have a commit that was not synced nor given, which only a lease may show.
  ///   - told: how many elements were given of the list with an identity.
  @discardableResult
  static func verify(
    _ disk: ModelDisk, _ durability: Durability, atLeast promised: Int, _ name: String,
    killed: Bool = false, told: [String: Int] = [:]
  ) async throws -> Int {
    func elements() async throws -> (first: Int, count: Int, isEnded: Bool) {
      let reader = Self.store(disk, durability)
      let extent = try await reader.extent()
      var count = extent.first
      var isEnded = false
      while true {
        let page = try await reader.read(from: count, upTo: 3)
        let expected = Walk.elements(count + page.elements.count).dropFirst(count)
        #expect(page.elements == Array(expected), "\(name): a wrong element")
        count += page.elements.count
        isEnded = page.isEnd
        if page.elements.isEmpty || page.isEnd { break }
      }
      #expect(extent.count == count && extent.isEnded == isEnded, "\(name): \(extent), \(count)")
      return (extent.first, count, isEnded)
    }
    // A process that only reads sees all that is whole, without a writer.
    let before = try await elements()
    var total = 0
    #expect(before.count >= promised, "\(name): lost, before a lease")
    do {
      let store = Self.store(disk, durability)
      let checkpoint = try #require(try await store.acquireLease())
      if killed {
        #expect(checkpoint.count >= before.count, "\(name): a lease finds fewer elements")
      } else {
        #expect(checkpoint.count == before.count, "\(name): a lease finds other elements")
        #expect(checkpoint.isEnded == before.isEnded)
      }
      total = checkpoint.count
      #expect(total >= promised, "\(name): lost")
      let extent = try await store.extent()
      #expect(extent.count == total && extent.isEnded == checkpoint.isEnded, "\(name): \(extent)")
      if let count = extent.identity.flatMap({ told[$0] }) {
        #expect(total >= count, "\(name): \(count) elements were shown of the same list")
      }
      if checkpoint.count > 0 {
        #expect(checkpoint.state?.number == checkpoint.stateCount)
        #expect(checkpoint.stateCount == checkpoint.count)
      }
      guard !checkpoint.isEnded else { return total }
      var walk = checkpoint.state ?? Walk()
      try await store.append(ListCommit([walk.next()], state: walk), at: checkpoint.count)
    }
    let after = try await elements()
    #expect(after.first == before.first && after.count == total + 1 && !after.isEnded)
    return after.count
  }

  @Test(
    "a loss of power at any call, any part of what was not synced",
    arguments: [.survivesProcess, .survivesPowerLoss, nil] as [Durability?])
  func powerLoss(_ lives: Durability?) async throws {
    let durability = lives ?? .survivesPowerLoss
    var random = SeededGenerator(seed: RandomCases.firstSeed)
    var images = 0
    for life in 0..<Size.usual(3, full: 40) {
      let disk = ModelDisk()
      let total = try await Self.live(disk, lives, steps: 14, using: &random)
      let (log, initial) = disk.contents.withLock { ($0.log, $0.initial) }
      var loss = PowerLoss(initial)
      var (given, promised, told) = (0, 0, [String: Int]())
      for (index, event) in log.enumerated() {
        loss.pass(event)
        switch event {
        case .given(let count, let identity):
          given = count
          if let identity { told[identity] = count }
        case .promised(let count): promised = count
        case .sync: promised = max(promised, given)
        case .released: promised = given
        case .write, .truncate, .names, .syncFolder, .failedSync, .repaired: break
        }
        switch event {
        case .given, .promised: continue
        default: break
        }
        for image in loss.images(atMost: Size.usual(4, full: 60), using: &random) {
          images += 1
          let name = "life \(life) of \(total), call \(index), image \(images)"
          let crashed = ModelDisk(image)
          let count: Int
          do {
            count = try await Self.verify(
              crashed, durability, atLeast: promised, name, told: told)
          } catch {
            Issue.record("\(name): \(error)")
            continue
          }
          // And a second one, after it has gone on.
          var second = PowerLoss(image)
          let log = crashed.contents.withLock { $0.log }
          let end = Int.random(in: 0...log.count, using: &random)
          for event in log.prefix(end) { second.pass(event) }
          for image in second.images(atMost: 1, using: &random) {
            let least = durability == .survivesPowerLoss && end == log.count ? count : promised
            do {
              try await Self.verify(ModelDisk(image), durability, atLeast: least, name + ", again")
            } catch {
              Issue.record("\(name), a second crash: \(error)")
            }
          }
        }
      }
    }
    #expect(images > 100)
    print("\(lives.map { "\($0)" } ?? "mixed"): \(images) images")
  }

  @Test("all processes are killed at any call: what was given is there", arguments: Durability.all)
  func kills(_ durability: Durability) async throws {
    var random = SeededGenerator(seed: RandomCases.firstSeed)
    for life in 0..<Size.usual(3, full: 40) {
      let disk = ModelDisk()
      _ = try await Self.live(disk, durability, steps: 14, using: &random)
      let (log, initial, boot) = disk.contents.withLock { ($0.log, $0.initial, $0.boot) }
      var (image, given) = (initial, 0)
      for (index, event) in log.enumerated() {
        if case .given(let count, _) = event { given = count }
        var torn = event
        if case .write(let file, let offset, let all) = event {
          let part = all.block(at: 0, Int.random(in: 0...all.count, using: &random))
          torn = .write(file, offset: offset, bytes: part)
        }
        for last in [torn, event] {
          var crash = image
          crash.apply(last)
          let crashed = ModelDisk(crash, boot: boot)
          let least = given
          do {
            let store = Self.store(crashed, durability)
            let count = try #require(try await store.acquireLease()).count
            #expect(count >= least, "life \(life), call \(index)")
            let first = try await store.extent().first
            let found = try await store.read(from: first, upTo: 1000).elements
            #expect(Array(Walk.elements(first + found.count).dropFirst(first)) == found)
          } catch {
            Issue.record("life \(life), call \(index): \(error)")
          }
        }
        image.apply(event)
      }
    }
  }

  @Test(
    "the n-th call of a kind fails: nothing that was given is lost, and the list goes on",
    arguments: ModelDisk.Call.allCases, Durability.all)
  func failingCalls(_ call: ModelDisk.Call, _ durability: Durability) async throws {
    // It alone; and it, with those after it, which are to mend the outcome.
    for times in [1, 3] { try await failCalls(call, times, durability) }
  }

  @Test(
    "a commit whose mark cannot be written is not given, and nothing that was given is hidden",
    arguments: [ModelDisk.Call.write, .lateWrite], 1...3)
  func failingMark(_ call: ModelDisk.Call, _ times: Int) async throws {
    let disk = ModelDisk()
    var (store, walk) = (Self.store(disk, .survivesPowerLoss), Walk())
    _ = try await store.acquireLease()
    try await store.append(ListCommit([walk.next()], state: walk), at: 0)
    var next = walk
    let commit = ListCommit([next.next()], state: next)
    // The frame, and then the mark; and what is to mend it.
    disk.fail(call, number: 2, times: times)
    var isGiven = true
    do { try await store.append(commit, at: 1) } catch { isGiven = false }
    // It is in the file, whatever is told of its write.
    let isThere = call == .lateWrite
    #expect(disk.contents.withLock { $0.hasFailed } && isGiven == isThere)
    let before = try await Self.store(disk.killed(), .survivesPowerLoss).extent().count
    #expect(before == (call == .lateWrite ? 2 : 1))
    if !isGiven {
      do {
        try await store.append(commit, at: 1)
      } catch ListStoreError.poisoned {
        store = Self.store(disk, .survivesPowerLoss)
        #expect(try await store.acquireLease()?.count == 2)
      }
    }
    try await Self.verify(
      disk.killed(), .survivesPowerLoss, atLeast: 2, "\(call), \(times)", killed: true)
    next = Walk()
    let elements = (0..<3).map { _ in next.next() }
    try await store.append(ListCommit([elements[2]], state: next), at: 2)
    #expect(
      try await Self.store(disk.killed(), .survivesPowerLoss).read(from: 0, upTo: 9).elements
        == elements)
  }

  private func failCalls(
    _ call: ModelDisk.Call, _ times: Int, _ durability: Durability
  ) async throws {
    for number in 1..<Size.usual(25, full: 120) {
      var random = SeededGenerator(seed: 11)
      let disk = ModelDisk()
      disk.fail(call, number: number, times: times)
      let given: Int
      do {
        given = try await Self.live(disk, durability, steps: 16, using: &random)
      } catch {
        Issue.record("\(call) \(number), \(times) times: \(error)")
        continue
      }
      if disk.contents.withLock({ !$0.hasFailed }) { break }
      do {
        try await Self.verify(
          disk.killed(), durability, atLeast: given, "\(call) \(number), \(times) times",
          killed: true)
      } catch {
        Issue.record("\(call) \(number), \(times) times: \(error)")
      }
    }
  }
}
