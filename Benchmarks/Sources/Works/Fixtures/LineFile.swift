import Measuring
import Foundation

/// A file of so many lines, which goes with the last who reads it.
final class LineFile: Sendable {
  let url: URL

  init(_ count: Int) throws {
    url = FileManager.default.temporaryDirectory.appending(path: "lines-\(UUID().uuidString)")
    guard let stream = fopen(url.path, "w") else { throw Flaw("cannot write \(url.path)") }
    defer { fclose(stream) }
    let words = String(repeating: "some words ", count: 10)
    for number in 0..<count { fputs("\(number) \(words)".prefix(99) + "\n", stream) }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// As one writes it by hand: the lines of each piece, and what two pieces share.
  func read(_ use: (String) -> Void) {
    let descriptor = open(url.path, O_RDONLY)
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var carry: [UInt8] = []
    while true {
      let count = buffer.withUnsafeMutableBytes {
        Foundation.read(descriptor, $0.baseAddress, $0.count)
      }
      guard count > 0 else { break }
      buffer.withUnsafeBytes { bytes in
        var rest = bytes[..<count]
        while let newline = rest.firstNewline {
          if carry.isEmpty {
            use(String(decoding: rest[..<newline], as: UTF8.self))
          } else {
            use(String(decoding: carry + rest[..<newline], as: UTF8.self))
            carry = []
          }
          rest = rest[(newline + 1)...]
        }
        carry += rest
      }
    }
    if !carry.isEmpty { use(String(decoding: carry, as: UTF8.self)) }
  }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate var firstNewline: Int? {
    guard let start = base.baseAddress,
      let found = memchr(start + startIndex, 10, count)
    else { return nil }
    return UnsafeRawPointer(found) - start
  }
}
