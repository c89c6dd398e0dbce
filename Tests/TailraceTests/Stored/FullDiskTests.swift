import Foundation
import Tailrace
import TailraceFoundation
import Testing

@testable import TailraceStored

#if canImport(Glibc)
  import Glibc

  /// Stores on a file system that is really full.
  @Suite("Full disks", .tags(.long), .hangLimit, .inTurn)
  struct FullDiskTests {
    /// A file system of 1 MiB in memory. It goes when the last one that uses it does.
    final class SmallDisk: Sendable {
      let folder = URL.temporaryDirectory.appending(path: "full-\(UUID().uuidString)")

      /// `nil` if this process may not mount.
      init?() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard mount("tailrace", folder.path, "tmpfs", 0, "size=1m") == 0 else {
          try FileManager.default.removeItem(at: folder)
          return nil
        }
      }

      deinit {
        umount2(folder.path, Int32(MNT_DETACH))
        try? FileManager.default.removeItem(at: folder)
      }
    }

    static let canMount = (try? SmallDisk()) != nil

    @Test(
      "a full disk: the failure at its position; with room the next demand stores the same element",
      .enabled(if: canMount, "a small file system cannot be mounted here"),
      arguments: Durability.all)
    func full(_ durability: Durability) async throws {
      let disk = try #require(try SmallDisk())
      let file = disk.folder.appending(path: "list")
      func store() -> Walk.Store {
        Walk.Store(file, element: .text, state: .raw, durability: durability)
      }
      let ballast = disk.folder.appending(path: "ballast")
      try Data(count: 1 << 19).write(to: ballast)
      let list = Walk.list(in: store())
      let stored = try await Walk.fill(list)
      #expect(stored > 1000)
      for _ in 0..<3 {
        await #expect(throws: FileError.self) { try await list.element(at: stored) }
      }
      // Nothing of it is there, for anybody; and what was given is.
      #expect(try await store().extent().count == stored)
      let read = LazyList(reading: store()).prefix(stored)
      #expect(try await read.array() == Walk.elements(stored))
      // A new list cannot be made there.
      let other = Walk.Store(
        disk.folder.appending(path: "other"), element: .text, state: .raw, durability: durability)
      await #expect(throws: FileError.self) { try await Walk.list(in: other).head() }
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: disk.folder.path).sorted()
          == ["ballast", "list"])
      try FileManager.default.removeItem(at: ballast)
      #expect(try await list.prefix(stored + 500).array() == Walk.elements(stored + 500))
      #expect(try await Walk.list(in: other).prefix(9).array() == Walk.elements(9))
    }
  }
#endif
