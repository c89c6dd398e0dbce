import FileReading
import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceFoundation
@testable import TailraceStored

/// Leases of a file.
@Suite("Leases of stored lists in files", .hangLimit, .inTurn)
struct FileLeaseTests {
  @Test(
    "the end that is stored for a list is behind its last element, once", arguments: Durability.all)
  func end(_ durability: Durability) async throws {
    let file = try StoredFile()
    let store = Walk.store(file, durability)
    let list = Walk.list(in: store)
    _ = try await list.element(at: 4)
    await #expect(throws: ListStoreError.inUse) { try await Walk.store(file).end() }
    #expect(try await store.end())
    #expect(try await !store.end())
    #expect(try await list.array() == Walk.elements(5))
    #expect(try await Walk.list(in: store).array() == Walk.elements(5))
    try await store.release()
    #expect(try await !Walk.store(file).end())
    // A list of no elements has an end, too.
    let other = try StoredFile()
    let empty = Walk.store(other, durability)
    #expect(try await empty.end())
    let extent = try await empty.extent()
    #expect(extent.count == 0 && extent.isEnded)
    withExtendedLifetime(other) {}
  }

  @Test("a refused lease opens nothing for writing: closing that would wake all followers")
  func refusedClaims() async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    let holder = Walk.store(file)
    #expect(try await holder.acquireLease() != nil)
    for _ in 0..<3 {
      #expect(try await Walk.store(file, .survivesProcess, disk).acquireLease() == nil)
    }
    #expect(disk.lies.withLock { $0.writers } == 0)
    withExtendedLifetime(holder) {}
  }

  @Test("a lease that cannot continue is free again")
  func leaseThatThrows() async throws {
    typealias Store = FileStore<String, Int>
    let file = try StoredFile()
    @Sendable func store(version: UInt8) -> Store {
      let coding = ByteCoding<Int>(
        name: "number", version: version,
        encode: { number, bytes in
          withUnsafeBytes(of: Int64(number).littleEndian) { bytes.append(contentsOf: $0) }
        },
        decode: { bytes, _ in Int(bytes.loadUnaligned(as: Int64.self)) })
      return Store(file.url, element: .text, state: coding, durability: .survivesProcess)
    }
    @Sendable func list(_ store: Store) -> LazyList<String, any Error> {
      LazyList(storedIn: store, state: 0) { number in
        number += 1
        return "\(number)"
      }
    }
    _ = try await list(store(version: 2)).element(at: 3)
    let old = store(version: 1)
    await #expect(throws: ListStoreError.self) { try await old.acquireLease() }
    #expect(try await list(store(version: 2)).element(at: 4) == "5")
    withExtendedLifetime(old) {}
  }

  @Test("a failed sync while trimming poisons the store")
  func failingTrim() async throws {
    let (file, disk) = (try StoredFile(), LyingDisk())
    let store = Walk.store(file, .survivesProcess, disk)
    for try await _ in Walk.list(in: store).prefix(50) {}
    disk.lies.withLock { $0.failingSyncs = 1 }
    await #expect(throws: FileError.self) { try await store.trim(before: 20) }
    await #expect(throws: ListStoreError.poisoned) { try await store.acquireLease() }
  }
}
