import Foundation
import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

@testable import TailraceStored

/// Two writers and a follower of one file, in all orders of their disk calls, and then a loss of power.
@Suite("Several stores on a model of a disk", .tags(.long), .hangLimit, .inTurn)
struct DiskOrdersTests {
  typealias Store = FileStore<String, Int>

  enum Scene: CaseIterable {
    case begins, goesOn, isTrimmed, ends, isCut
  }

  /// All that anybody was told: one element for each position.
  struct Told: Sendable {
    var elements: [Int: String] = [:]
    var conflicts: [String] = []
    /// Of the list that they were told to be of.
    var identity: String?

    mutating func note(_ position: Int, _ element: String) {
      let known = elements[position] ?? element
      if known != element { conflicts.append("\(position) was \(known), and is \(element)") }
      elements[position] = element
    }
  }

  /// One order of the disk calls.
  final class Order: Sendable {
    let disk: ModelDisk
    let durability: Durability
    let turns: DiskTurns
    let told = Locked(Told())

    init(_ disk: ModelDisk, _ durability: Durability, _ turns: DiskTurns) {
      (self.disk, self.durability, self.turns) = (disk, durability, turns)
    }

    func store(_ number: Int? = nil) -> Store {
      guard let number else { return Self.store(disk, durability) }
      return Store(
        DiskModelTests.url, element: .text, state: .raw, durability: durability,
        disk: TurnDisk(disk: disk, store: number, turns: turns))
    }

    static func store(_ disk: ModelDisk, _ durability: Durability) -> Store {
      Store(
        DiskModelTests.url, element: .text, state: .raw, durability: durability, disk: disk)
    }

    func note(_ elements: [String], at position: Int) {
      told.withLock { told in
        for (index, element) in elements.enumerated() { told.note(position + index, element) }
      }
      disk.log(.given(position + elements.count, identity: nil))
    }

    /// A life of a writer. It is over when another one holds the list.
    func write(_ name: String, _ number: Int, _ scene: Scene) async throws {
      let store = store(number)
      guard let checkpoint = try await store.acquireLease() else { return }
      var count = checkpoint.count
      if checkpoint.isEnded { return }
      for size in [1, 2] {
        let elements = (count..<count + size).map { "\(name)\($0)" }
        try await store.append(ListCommit(elements, state: count + size), at: count)
        note(elements, at: count)
        count += size
      }
      switch scene {
      case .isTrimmed: try await store.trim(before: 3)
      case .ends: try await store.append(ListCommit([], state: nil, isEnd: true), at: count)
      case .begins, .goesOn, .isCut: break
      }
      try await store.release()
    }

    /// Reads all that is there. Each look may find more.
    func follow(_ store: Store, looks: Int) async throws -> Int {
      var position = 0
      for _ in 0..<looks {
        do {
          let page = try await store.read(from: position, upTo: 2)
          note(page.elements, at: position)
          position += page.elements.count
        } catch ListStoreError.trimmed(let first) {
          position = first
        }
      }
      return position
    }
  }

  static func start(_ scene: Scene, _ durability: Durability) async throws -> ModelDisk {
    let disk = ModelDisk()
    if scene == .begins { return disk }
    let store = Order.store(disk, durability)
    _ = try await store.acquireLease()
    for position in 0..<3 {
      try await store.append(ListCommit(["o\(position)"], state: position + 1), at: position)
    }
    try await store.release()
    if scene == .isCut {
      // A commit of which only a part was written.
      let file = try disk.open(DiskModelTests.path, writes: true)
      let part = try file.upTo(70, at: JournalHeader.size)
      try file.put(part, at: file.status().size)
    }
    return disk.killed()
  }

  /// What a loss of power leaves at some places of an order: what was promised, and a list that goes on.
  static func crash(
    _ order: Order, _ name: String, images: Int, using random: inout SeededGenerator
  ) async throws -> Int {
    let (log, initial) = order.disk.contents.withLock { ($0.log, $0.initial) }
    let (told, identity) = order.told.withLock { ($0.elements, $0.identity) }
    let last = Int.random(in: 0...log.count, using: &random)
    var loss = PowerLoss(initial)
    var (given, promised) = (0, 0)
    for event in log.prefix(last) {
      loss.pass(event)
      if case .given(let count, _) = event { given = max(given, count) }
      if case .sync = event { promised = max(promised, given) }
      if order.durability == .survivesPowerLoss { promised = given }
    }
    let found = loss.images(atMost: images, using: &random)
    for image in found {
      let store = Order.store(ModelDisk(image), order.durability)
      let extent = try await store.extent()
      let elements = try await store.read(from: extent.first, upTo: 100).elements
      #expect(extent.first + elements.count >= promised, "\(name): lost")
      #expect(extent.first <= 3, "\(name): too much is trimmed")
      for (index, element) in elements.enumerated() where extent.first + index < promised {
        #expect(told[extent.first + index] ?? element == element, "\(name): another element")
      }
      let checkpoint = try #require(try await store.acquireLease())
      #expect(checkpoint.count == extent.first + elements.count)
      #expect(checkpoint.state ?? 0 == checkpoint.count)
      if try await store.extent().identity == identity {
        #expect(checkpoint.count >= given, "\(name): the same list has fewer elements than it had")
        for (index, element) in elements.enumerated() where extent.first + index < given {
          #expect(
            told[extent.first + index] ?? element == element, "\(name): the same list, changed")
        }
      }
      if checkpoint.isEnded { continue }
      try await store.append(
        ListCommit(["later"], state: checkpoint.count + 1), at: checkpoint.count)
      #expect(try await store.read(from: checkpoint.count, upTo: 9).elements == ["later"])
    }
    return found.count
  }

  @Test(
    "nobody is told two elements for a position, nothing that was given is lost, and nobody is stuck",
    arguments: Scene.allCases, Durability.all)
  func orders(_ scene: Scene, _ durability: Durability) async throws {
    var random = SeededGenerator(seed: RandomCases.firstSeed)
    let start = try await Self.start(scene, durability)
    var choices: [Int]? = []
    var (orders, images) = (0, 0)
    let most = Size.usual(30, full: 4000)
    while let these = choices, orders < most {
      let disk = start.killed()
      let turns = DiskTurns(
        stores: 3, interruptions: Size.usual(1, full: 2), choices: these)
      let order = Order(disk, durability, turns)
      let follower = order.store(2)
      func run<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
      ) -> Task<Value?, Never> {
        Task(executorPreference: StoreQueue()) {
          defer { turns.finish() }
          do {
            return try await body()
          } catch ListStoreError.inUse {
            return nil
          } catch {
            Issue.record("\(scene), \(durability), order \(these): \(error)")
            return nil
          }
        }
      }
      let tasks = [
        run { try await order.write("a", 0, scene) }, run { try await order.write("b", 1, scene) },
      ]
      let following = run { try await order.follow(follower, looks: 4) }
      for task in tasks { _ = await task.value }
      _ = await following.value
      let conflicts = order.told.withLock { $0.conflicts }
      #expect(conflicts.isEmpty, "\(scene), \(durability), order \(these)")
      // All that was given is there, and each reader sees it.
      let told = order.told.withLock { $0.elements }
      let fresh = order.store()
      let extent = try await fresh.extent()
      order.told.withLock { $0.identity = extent.identity }
      let elements = try await fresh.read(from: extent.first, upTo: 100).elements
      #expect(extent.count == extent.first + elements.count)
      #expect(extent.count > told.keys.max() ?? 0 || told.isEmpty, "order \(these): lost")
      for (index, element) in elements.enumerated() {
        #expect(told[extent.first + index] ?? element == element, "order \(these): changed")
      }
      images += try await Self.crash(
        order, "\(scene), \(durability), order \(these)", images: Size.usual(2, full: 8),
        using: &random)
      orders += 1
      choices = turns.following
    }
    #expect(orders > 20 && images > orders)
    print("\(scene), \(durability): \(orders) orders, \(images) images")
  }
}
