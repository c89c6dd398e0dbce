import Foundation
import GRDB
import SQLiteStore
import Tailrace
import TailraceStored
import TailraceTesting
import Testing

@Suite("SQLiteStore: the rules of every store")
struct RulesTests {
  @Test("it keeps every rule", arguments: ItemStore.Durability.allCases)
  func rules(_ durability: ItemStore.Durability) async throws {
    let place = try Place()
    try await checkStore(
      element: Item.init, state: { $0 },
      reopening: { place.store($0.list, durability: durability) }
    ) { place.store("list \(UUID())", durability: durability) }
  }
}
