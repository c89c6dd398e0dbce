import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceStored

/// What a store finds when it looks at its file, and what it leaves alone then.
@Suite("A store looks at the place of its file", .hangLimit, .inTurn)
struct StoreLookTests {
  private let file: StoredFile
  private let aside: URL

  init() throws {
    file = try StoredFile()
    aside = file.folder.appending(path: "aside")
  }

  private func moveAway() throws { try FileManager.default.moveItem(at: file.url, to: aside) }
  private func restore() throws { try FileManager.default.moveItem(at: aside, to: file.url) }

  @Test("a file that was removed and made anew is another file, and not a removed one")
  func removedAndMade() async throws {
    for try await _ in Walk.list(in: Walk.store(file)).prefix(9) {}
    let store = Walk.store(file)
    #expect(try await store.extent().count == 9)
    try FileManager.default.removeItem(at: file.url)
    await #expect {
      _ = try await store.extent()
    } throws: {
      "\($0)".contains("was removed")
    }
    for try await _ in Walk.list(in: Walk.store(file)).prefix(2) {}
    await #expect {
      _ = try await store.extent()
    } throws: {
      "\($0)".contains("another file")
    }
  }

  @Test("a file that was moved away while a list is trimmed or ended can be put back")
  func putBack() async throws {
    let store = Walk.store(file)
    for try await _ in Walk.list(in: store).prefix(50) {}
    #expect(try await store.extent().count == 50)
    try moveAway()
    await #expect { try await store.trim(before: 20) } throws: { FilePlaceTests.isRefused($0) }
    await #expect { try await store.end() } throws: { FilePlaceTests.isRefused($0) }
    try restore()
    let extent = try await Walk.store(file).extent()
    #expect(extent.count == 50 && extent.first == 0 && !extent.isEnded)
    #expect(try await store.trim(before: 20) == 20)
    #expect(try await store.end())
  }

  @Test("a list of which the disk can read neither mark is repaired whole")
  func noMark() async throws {
    for try await _ in Walk.list(in: Walk.store(file), upTo: 40) {}
    let disk = LyingDisk(unreadable: JournalMark.offset..<JournalHeader.size)
    await #expect(throws: (any Error).self) {
      try await Walk.store(file, .survivesProcess, disk).extent()
    }
    let outcome = try await FileStore.repair(file.url, disk: disk)
    #expect(outcome.damaged != nil && outcome.first == 0 && outcome.count == 40)
    #expect(try await Walk.store(file).read(from: 0, upTo: 99).elements == Walk.elements(40))
  }
}
