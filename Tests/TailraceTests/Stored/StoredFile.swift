import Foundation
import Tailrace
import TailraceFoundation
import TailraceStored
import Testing

/// A file of a test's own, which need not be there, in a folder that goes with it.
final class StoredFile: Sendable {
  let folder: URL
  let url: URL

  init() throws {
    folder = URL.temporaryDirectory.appending(path: "tailrace-\(UUID().uuidString)")
    url = folder.appending(path: "list")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

  var bytes: [UInt8] {
    get throws { Array(try Data(contentsOf: url)) }
  }

  /// Copies the file as a backup is made: it is read until nothing comes, whatever its size was before.
  func backUp(to copy: URL) throws {
    try Data().write(to: copy)
    let (source, target) = (
      try FileHandle(forReadingFrom: url), try FileHandle(forWritingTo: copy)
    )
    while let bytes = try source.read(upToCount: 1 << 20), !bytes.isEmpty {
      try target.write(contentsOf: bytes)
    }
  }

  /// Another file with these contents.
  static func copy(of bytes: some Sequence<UInt8>) throws -> StoredFile {
    let file = try StoredFile()
    try Data(bytes).write(to: file.url)
    return file
  }
}

/// A walk whose every element depends on all before it: an element in a wrong place is found out.
struct Walk: BitwiseCopyable, Sendable, Equatable {
  var number = 0
  var hash: UInt64 = 1_469_598_103_934_665_603

  mutating func next() -> String {
    hash = (hash ^ UInt64(number)) &* 1_099_511_628_211
    defer { number += 1 }
    return "\(number):\(hash):" + String(repeating: "x", count: number % 37)
  }

  /// The first elements.
  static func elements(_ count: Int) -> [String] {
    var walk = Walk()
    return (0..<count).map { _ in walk.next() }
  }

  typealias Store = FileStore<String, Walk>

  static func store(
    _ file: StoredFile, _ durability: Durability = .survivesProcess, _ disk: any Disk = SystemDisk()
  ) -> Store {
    Store(file.url, element: .text, state: .raw, durability: durability, disk: disk)
  }

  /// The list of a walk, endless if nothing is said.
  static func list(
    in store: Store, upTo last: Int = .max, atTail policy: TailPolicy = .compute,
    _ step: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> LazyList<String, any Error> {
    LazyList(storedIn: store, state: Walk(), atTail: policy) { walk in
      guard walk.number < last else { return nil }
      step(walk.number)
      return walk.next()
    }
  }
}

extension ByteCoding where Value == Walk {
  /// A walk's state in more bytes than a sector has, none of which is zero.
  static var wide: ByteCoding {
    ByteCoding(name: "wide walk") { walk, bytes in
      withUnsafeBytes(of: walk) { bytes.append(contentsOf: $0) }
      for index in 0..<1200 { bytes.append(UInt8(truncatingIfNeeded: walk.number &+ index) | 1) }
    } decode: { bytes, _ in
      bytes.loadUnaligned(as: Walk.self)
    }
  }
}

extension Durability {
  static let all: [Durability] = [.survivesProcess, .survivesPowerLoss]
}

extension Walk {
  /// Demands elements until the disk is full. Returns how many are stored.
  static func fill(
    _ list: LazyList<String, any Error>, from first: Int = 0
  ) async throws -> Int {
    var stored = first
    do {
      while true {
        _ = try await list.element(at: stored)
        stored += 1
      }
    } catch let failure as FileError {
      #expect(failure.code == .ENOSPC)
    }
    return stored
  }
}
