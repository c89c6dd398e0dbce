import Foundation
import Tailrace
import TailraceFoundation
import TailraceTesting
import Testing

@testable import TailraceStored

@Suite("Codings of lists in files", .hangLimit, .inTurn)
struct FileCodingTests {
  struct Page: Codable, Equatable {
    var title: String
    var links: [String] = []
  }

  /// As it was before.
  enum Former {
    struct Page: Codable {
      var name: String
    }
  }

  @Test("JSON, and what was stored before a type changed")
  func json() async throws {
    let file = try StoredFile()
    do {
      let old = FileStore<Former.Page, Int>(file.url, element: .json, state: .json)
      let list = LazyList(storedIn: old, state: 0) { number in
        number += 1
        return Former.Page(name: "page \(number)")
      }
      #expect(try await list.element(at: 1)?.name == "page 2")
    }
    func pages(_ coding: ByteCoding<Page>) -> LazyList<Page, any Error> {
      let store = FileStore<Page, Int>(file.url, element: coding, state: .json)
      return LazyList(storedIn: store, state: 0) { number in
        number += 1
        return number <= 3 ? Page(title: "page \(number)", links: ["/"]) : nil
      }
    }
    await #expect(
      throws: ListStoreError.otherSchema(
        found: "json Page, version 1", expected: "json Page, version 2")
    ) {
      try await pages(.json(version: 2, migrating: nil)).head()
    }
    let migrating = ByteCoding<Page>.json(version: 2) { data, version in
      #expect(version == 1)
      return Page(title: try JSONDecoder().decode(Former.Page.self, from: data).name)
    }
    let all = [
      Page(title: "page 1"), Page(title: "page 2"), Page(title: "page 3", links: ["/"]),
    ]
    #expect(try await pages(migrating).array() == all)
    #expect(try await pages(migrating).array() == all)
  }

  @Test("another schema is told with both names, to those who write and to those who read")
  func otherSchema() async throws {
    let file = try StoredFile()
    _ = try await Walk.list(in: Walk.store(file)).prefix(3).count()
    let other = FileStore<Int, Int>(file.url, element: .raw, state: .json)
    let expected = ListStoreError.otherSchema(
      found: "text, state raw Walk of 16 bytes",
      expected: "raw Int of 8 bytes, state json Int")
    await #expect(throws: expected) { try await other.acquireLease() }
    await #expect(throws: expected) { try await LazyList(reading: other).head() }
    #expect(expected.description.contains("text, state raw Walk"))
  }

  @Test(
    "a file that is no stored list is left alone",
    arguments: [[], Array("hello".utf8), [UInt8](repeating: 9, count: 4000)])
  func foreign(_ bytes: [UInt8]) async throws {
    let file = try StoredFile.copy(of: bytes)
    let store = Walk.store(file)
    await #expect(throws: ListStoreError.self) { try await store.acquireLease() }
    await #expect(throws: ListStoreError.self) { try await store.read(from: 0, upTo: 1) }
    #expect(try file.bytes == bytes)
    let folder = FileStore<Int, Int>(
      file.folder.appending(path: "no/such/folder/list"), element: .raw, state: .raw)
    await #expect(throws: FileError.self) { try await folder.acquireLease() }
  }

  @Test("an element that cannot be decoded fails at its position")
  func undecodable() async throws {
    struct Odd: Error, Equatable {}
    let file = try StoredFile()
    func list() -> LazyList<Int, any Error> {
      let coding = ByteCoding<Int>(name: "even numbers") { value, bytes in
        bytes.append(UInt8(value))
      } decode: { bytes, _ in
        guard bytes[0] % 2 == 0 || bytes[0] < 40 else { throw Odd() }
        return Int(bytes[0])
      }
      let store = FileStore<Int, Int>(file.url, element: coding, state: .raw)
      return LazyList(storedIn: store, state: 0) { number in
        number += 1
        return number <= 60 ? number : nil
      }
    }
    #expect(try await list().array() == Array(1...60))
    let anew = list()
    for _ in 0..<2 { await #expect(throws: Odd()) { try await anew.element(at: 40) } }
    #expect(anew.evaluatedPrefix == Array(1...40))
    #expect(
      try await LazyList(
        reading: FileStore<Int, Int>(
          file.url,
          element: ByteCoding(
            name: "even numbers", encode: { _, _ in }, decode: { bytes, _ in Int(bytes[0]) }),
          state: .raw)
      ).array() == Array(1...60))
  }

  @Test("an element that cannot be encoded fails at its position, too")
  func unencodable() async throws {
    let (file, steps) = (try StoredFile(), Probe<Int>())
    let store = FileStore<Double, Int>(file.url, element: .json, state: .json)
    let list = LazyList(storedIn: store, state: 0) { number in
      number += 1
      steps.record(number)
      return number == 3 ? Double.nan : Double(number)
    }
    for _ in 0..<2 {
      await #expect(throws: EncodingError.self) { try await list.array() }
      #expect(list.evaluatedPrefix == [1, 2])
    }
    #expect(try await list.head() == 1)
    #expect(try await store.read(from: 0, upTo: 10).elements == [1, 2])
    #expect(try await store.acquireLease() == ListCheckpoint(count: 2, state: 2, isEnded: false))
    #expect(steps.values == Array(1...steps.count))
  }
}
