import Distributed
import Tailrace
import TailraceStored
import TailraceTesting
import Testing

/// The recipe of a list of another node, with the system of actors that is made for tests.
@Suite("Recipes: a list of another node", .hangLimit, .inTurn)
struct DistributedRecipeTests {
  distributed actor OrderLog {
    typealias ActorSystem = LocalTestingDistributedActorSystem
    private let orders: MemoryStore<String, Int>

    init(_ orders: MemoryStore<String, Int>, actorSystem: ActorSystem) {
      self.orders = orders
      self.actorSystem = actorSystem
    }

    distributed func read(
      from position: Int, upTo count: Int
    ) async throws -> ListPage<String> {
      try await orders.read(from: position, upTo: count)
    }

    distributed func waitForMore(than position: Int) async throws {
      try await orders.waitForMore(than: position)
    }
    distributed func extent() async throws -> ListExtent { try await orders.extent() }
  }

  struct RemoteOrders: ListSource {
    let log: OrderLog

    func read(from position: Int, upTo count: Int) async throws -> ListPage<String> {
      try await log.read(from: position, upTo: count)
    }
    func waitForMore(than position: Int) async throws {
      try await log.waitForMore(than: position)
    }
    func extent() async throws -> ListExtent { try await log.extent() }
  }

  @Test("is read page by page, and followed")
  func reading() async throws {
    let store = MemoryStore<String, Int>()
    let log = OrderLog(store, actorSystem: LocalTestingDistributedActorSystem())
    let local = LazyList(storedIn: store, state: 0) { number in
      number += 1
      return number <= 100 ? "order \(number)" : nil
    }
    #expect(try await local.element(at: 9) == "order 10")
    let remote = LazyList(reading: RemoteOrders(log: log))
    #expect(try await remote.prefix(10).array() == (1...10).map { "order \($0)" })
    async let all = remote.array()
    #expect(try await local.count() == 100)
    #expect(try await all == (1...100).map { "order \($0)" })
  }
}
