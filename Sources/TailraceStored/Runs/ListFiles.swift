import FileReading
import Foundation
import TailraceFoundation
import TailraceLists

/// The files of a directory of lists: for each key the first state, and the list.
///
/// A list exists while the file of its first state does. That file is made, and is on the disk, before
/// anybody is told that the list exists, and it goes first when the list is removed. So a list that was
/// acknowledged is found again, and one that was removed is not begun anew.
struct ListFiles: Sendable {
  let directory: URL
  private let disk: any Disk = SystemDisk()

  static let (first, list) = ("first", "list")

  init(in directory: URL) { self.directory = directory }

  func url(_ key: String, _ kind: String) -> URL {
    directory.appending(path: "\(Self.name(of: key)).\(kind)")
  }

  // MARK: Names

  private static let longest = 200

  /// A key as the name of a file: small letters, digits and `-` are themselves, and other bytes have the
  /// form `_7f`, since some file systems do not tell `A` from `a`.
  static func name(of key: String) -> String {
    var name = ""
    for byte in key.utf8 {
      let isPlain =
        ListOffset.isDigit(byte) || byte == UInt8(ascii: "-")
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      let digits = String(byte, radix: 16)
      name += isPlain ? String(UnicodeScalar(byte)) : "_" + (byte < 16 ? "0" : "") + digits
    }
    return name
  }

  /// The key with a name; `nil` if it is the name of none.
  static func key(of name: String) -> String? {
    var bytes: [UInt8] = []
    var rest = name.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "_") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let number = String(rest.prefix(2)).flatMap({ UInt8($0, radix: 16) })
      else { return nil }
      bytes.append(number)
      rest = rest.dropFirst(2)
    }
    let key = String(decoding: bytes, as: UTF8.self)
    return self.name(of: key) == name ? key : nil
  }

  /// - Throws: if a key is no name of a file.
  static func check(_ key: String) throws(ListStoreError) {
    let count = name(of: key).utf8.count
    guard count > 0, count <= longest else {
      throw .refused(
        "a key has at least one letter, and as the name of a file at most \(longest): \(key)")
    }
  }

  // MARK: The directory

  /// After so many seconds, nobody is about to give a new file its name any more.
  private static let longestMaking: TimeInterval = 600

  /// Whether a file was being made by a process that was killed.
  private static func isLeftOver(_ url: URL) -> Bool {
    guard url.pathExtension.hasPrefix(BesideKind.new.start),
      [first, list].contains(url.deletingPathExtension().pathExtension),
      let date = try? url.resourceValues(forKeys: [.contentModificationDateKey])
        .contentModificationDate
    else { return false }
    return Date().timeIntervalSince(date) > longestMaking
  }

  /// Makes the directory, and finds its keys. What is left of a list that was being made or removed goes.
  func keys() async throws -> [String] {
    try await blocking {
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      var (firsts, lists): (Set<String>, Set<String>) = ([], [])
      for url in try FileManager.default.contentsOfDirectory(
        at: directory, includingPropertiesForKeys: nil)
      {
        if Self.isLeftOver(url) { try? FileManager.default.removeItem(at: url) }
        let name = url.deletingPathExtension().lastPathComponent
        guard let key = Self.key(of: name), !key.isEmpty else { continue }
        switch url.pathExtension {
        case Self.first: firsts.insert(key)
        case Self.list: lists.insert(key)
        default: break
        }
      }
      for key in lists.subtracting(firsts) {
        try? FileManager.default.removeItem(at: url(key, Self.list))
      }
      return firsts.sorted()
    }
  }

  /// Stores the first state of a new list. When this returns it is on the disk, and its name will be when the
  /// list's file is made.
  func store(_ state: [UInt8], of key: String) async throws {
    try await blocking { try disk.create(url(key, Self.first).fileSystemPath, contents: state) }
  }

  func firstState(of key: String) async throws -> [UInt8] {
    try await blocking { Array(try Data(contentsOf: url(key, Self.first))) }
  }

  /// Removes a list, so that it never goes on.
  func remove(_ key: String) async throws {
    try await blocking {
      let first = url(key, Self.first)
      try FileManager.default.removeItem(at: first)
      try disk.synchronizeFolder(of: first.fileSystemPath)
      // It may have no elements.
      try? FileManager.default.removeItem(at: url(key, Self.list))
    }
  }

  /// How many bytes a list has, and when it was written last.
  func size(of key: String) async throws -> (bytes: Int, date: Date) {
    try await blocking {
      func attributes(_ kind: String) throws -> (bytes: Int, date: Date) {
        let found = try url(key, kind)
          .resourceValues(forKeys: [.fileSizeKey, .contentModificationDateKey])
        return (found.fileSize ?? 0, found.contentModificationDate ?? .distantPast)
      }
      let first = try attributes(Self.first)
      guard let list = try? attributes(Self.list) else { return first }
      return (first.bytes + list.bytes, max(first.date, list.date))
    }
  }

  private nonisolated(nonsending) func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await Journal.blocking(directory.path(percentEncoded: false), body)
  }
}
