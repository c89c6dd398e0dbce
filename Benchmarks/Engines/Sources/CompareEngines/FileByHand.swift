import Foundation
import Measuring

/// A file that is written with the system's calls: elements and line breaks, no state.
final class FileByHand: Sendable {
  private let path: String
  private let descriptor: CInt
  private let count: Int
  private let isSyncing: Bool

  init(_ file: URL, by count: Int, syncing isSyncing: Bool = false) throws {
    path = file.path
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o644)
    (self.count, self.isSyncing) = (count, isSyncing)
    guard descriptor >= 0 else { throw Flaw("cannot open \(path)") }
  }

  deinit { close(descriptor) }

  @Sendable static func appendOne(_ file: FileByHand) throws -> Int {
    var bytes = 0
    for number in 1...file.count {
      let text = Elements.text(number)
      try file.append(text + "\n")
      bytes &+= text.utf8.count
    }
    return bytes
  }

  @Sendable static func appendAll(_ file: FileByHand) throws -> Int {
    var (lines, bytes) = ("", 0)
    for number in 1...file.count {
      let text = Elements.text(number)
      lines += text
      lines += "\n"
      bytes &+= text.utf8.count
    }
    try file.append(lines)
    return bytes
  }

  /// A file with elements, for ``read(_:)``.
  static func filled(_ file: URL, _ count: Int) throws -> URL {
    _ = try appendAll(FileByHand(file, by: count))
    return file
  }

  @Sendable static func read(_ file: URL) throws -> Int {
    let lines = try String(contentsOf: file, encoding: .utf8).utf8.split(separator: 10)
      .map { String(Substring($0)) }
    return lines.reduce(0) { $0 &+ $1.utf8.count }
  }

  private func append(_ text: String) throws {
    var text = text
    let written = text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
    guard written == text.utf8.count else { throw Flaw("cannot write \(path)") }
    guard isSyncing else { return }
    #if canImport(Glibc)
      let isSynced = fdatasync(descriptor) == 0
    #else
      let isSynced = fcntl(descriptor, F_FULLFSYNC) == 0
    #endif
    guard isSynced else { throw Flaw("cannot sync \(path)") }
  }
}
