import AsyncAlgorithms
import Foundation
import Tailrace
import TailraceFoundation

extension Topic {
  public static let collections = Topic(
    "Collections", about: "lists of collections and of files, and eager ones",
    works: [
      Work(
        "read an array's list once",
        contenders: [
          Contender(
            "LazyList",
            preparing: { count in
              let array = Array(0..<count)
              return { Tally(count, await sum(array.lazyList)) }
            }),
          Contender(
            "`for x in array`",
            preparing: { count in
              let array = Array(0..<count)
              return {
                var sum = 0
                for element in array { sum &+= element }
                return Tally(count, sum)
              }
            }),
          Contender(
            "`array.async`",
            preparing: { count in
              let array = Array(0..<count)
              return { Tally(count, await sum(array.async)) }
            }),
        ]),
      Work(
        "map and filter at once",
        contenders: [
          Contender(
            "EagerList",
            preparing: { count in
              let list = EagerList(0..<count)
              return { collected(list.map { $0 &* 3 }.filter { $0 % 2 == 0 }, of: count) }
            }),
          Contender(
            "`array.map.filter`",
            preparing: { count in
              let array = Array(0..<count)
              return { collected(array.map { $0 &* 3 }.filter { $0 % 2 == 0 }, of: count) }
            }),
        ]),
      Work(
        // A million of them are 100 MB.
        "the lines of a file, 100 bytes each",
        contenders: [
          Contender(
            "`url.lazyLines`",
            preparing: { count in
              let file = try LineFile(count)
              return {
                var length = 0
                for try await line in file.url.lazyLines { length &+= line.utf8.count }
                return Tally(count, length)
              }
            }),
          Contender(
            "a loop around `read`",
            preparing: { count in
              let file = try LineFile(count)
              return {
                var length = 0
                file.read { length &+= $0.utf8.count }
                return Tally(count, length)
              }
            }),
          Contender(
            "`AsyncStream` that such a loop feeds",
            preparing: { count in
              let file = try LineFile(count)
              return {
                let (lines, continuation) = AsyncStream.makeStream(of: String.self)
                DispatchQueue.global().async {
                  file.read { continuation.yield($0) }
                  continuation.finish()
                }
                return Tally(count, await length(lines))
              }
            }),
        ]),
    ])
}

private func collected(_ elements: some RandomAccessCollection<Int>, of count: Int) -> Tally {
  blackHole(elements)
  return Tally(count, elements.count &+ (elements.last ?? 0))
}

/// A file of so many lines, which goes with the last who reads it.
private final class LineFile: Sendable {
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
