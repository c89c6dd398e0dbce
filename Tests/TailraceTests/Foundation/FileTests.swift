import Dispatch
import Foundation
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceFoundation

@Suite("Files as lists", .inTurn)
struct FileTests {
  @Test(
    "lines: with and without ends, empty, very long, not UTF-8",
    arguments: [
      ("", []),
      ("\n", [""]),
      ("a", ["a"]),
      ("a\n", ["a"]),
      ("a\nb", ["a", "b"]),
      ("a\r\nb\r\n", ["a", "b"]),
      ("a\r\n\r\n\nb\r", ["a", "", "", "b\r"]),
      ("a\rb\n", ["a\rb"]),
      ("a\u{2028}b\u{85}c\n", ["a\u{2028}b\u{85}c"]),
      ("é♥️\n", ["é♥️"]),
    ])
  func lines(_ text: String, _ lines: [String]) async throws {
    let file = try TemporaryFile(Data(text.utf8))
    #expect(try await file.url.lazyLines.array() == lines)
    let handle = try FileHandle(forReadingFrom: file.url)
    let list = handle.lazyLines
    try handle.close()
    #expect(try await list.array() == lines)
  }

  @Test("a cancelled reader of lines says so, in a loop, in folds and in step")
  func cancelledReaders() async throws {
    let file = try TemporaryFile(Data(String(repeating: "a line\n", count: 100_000).utf8))
    let url = file.url
    let readers: [@Sendable () async throws -> Void] = [
      { for try await _ in url.lazyLines { withUnsafeCurrentTask { $0?.cancel() } } },
      { _ = try await url.lazyLines.count() },
      { _ = try await url.lazyLines.reduce(0) { count, _ in count + 1 } },
      { _ = try await url.lazyChunks().array() },
      { for try await _ in url.lazyLines.lockstep(readers: 1, maxLead: 9)[0] {} },
      {
        _ = try await url.lazyLines.lockstep(readers: 1, maxLead: 9)[0].reduce(0) { n, _ in n + 1 }
      },
      { _ = try await url.lazyLines.signal(on: QueueScheduler(name: "walk")).array() },
    ]
    for (number, reader) in readers.enumerated() {
      let task = Task {
        if number > 0 { withUnsafeCurrentTask { $0?.cancel() } }
        try await reader()
      }
      await #expect(throws: FileError.cancelled, "reader \(number)") { try await task.value }
    }
  }

  @Test(
    "a line end, or a character, that two blocks share",
    arguments: Array(65_533...65_538) + Array(262_141...262_146))
  func borders(_ length: Int) async throws {
    let first = String(repeating: "x", count: length)
    for (text, lines) in [
      ("\(first)\r\nabc\r\n", [first, "abc"]), ("\(first)\n\n", [first, ""]),
      ("\(first)♥️♦️\nlast", ["\(first)♥️♦️", "last"]),
      ("\(first)\(first)\(first)\nlast\n", ["\(first)\(first)\(first)", "last"]),
    ] {
      let file = try TemporaryFile(Data(text.utf8))
      #expect(try await file.url.lazyLines.array() == lines)
      #expect(try await FileHandle(forReadingFrom: file.url).lazyLines.array() == lines)
    }
  }

  @Test("a file of several blocks is read to its end, also from the middle of a block")
  func blocks() async throws {
    let lines = (0..<60_000).map { "line \($0)" }
    let file = try TemporaryFile(Data(lines.joined(separator: "\n").utf8))
    let list = file.url.lazyLines
    let (head, tail) = try #require(try await list.uncons())
    #expect(head == lines[0])
    // The tail begins in the middle of a block, and goes on behind it.
    #expect(tail.evaluatedCount < 59_999)
    #expect(try await tail.prefix(45_000).array() == Array(lines[1...45_000]))
    #expect(try await tail.count() == 59_999)
    #expect(try await tail.array() == Array(lines.dropFirst()))
    #expect(try await tail.eager().last == "line 59999")
    #expect(try await tail.last() == "line 59999")
    #expect(try await tail.reduce(0) { count, _ in count + 1 } == 59_999)
    #expect(try await list.elementsEqual(lines.lazyList.setFailureType()))
  }

  @Test(
    "bytes that are not UTF-8 are told, after the lines before them",
    arguments: [
      ([0x61, 0x0A, 0xFF, 0x62, 0x0A, 0x63], ["a"]), ([0x61, 0x0A, 0xC3, 0x0A], ["a"]),
      ([0xFF], []), ([0x61, 0x0A, 0x62, 0x0A, 0xC3], ["a", "b"]),
      // UTF-16, by its mark.
      ([0xFF, 0xFE, 0x61, 0x00, 0x0A, 0x00], []),
    ] as [([UInt8], [String])])
  func told(_ bytes: [UInt8], _ lines: [String]) async throws {
    let file = try TemporaryFile(Data(bytes))
    let list = file.url.lazyLines
    for _ in 1...2 {
      let error = await #expect(throws: FileError.self) { try await list.array() }
      #expect(error?.code == .EILSEQ && error?.path == file.url.path(percentEncoded: false))
      #expect(list.evaluatedPrefix == lines)
    }
    // A reader that wants them repaired reads the chunks.
    #expect(try await file.url.lazyChunks().lines.array().count > lines.count)
  }

  @Test("wrong bytes anywhere, in blocks of any size", arguments: [1, 2, 3, 5, 100])
  func toldInBlocks(_ size: Int) async throws {
    let text = Array("one\nzw\u{F6}lf\r\n♥️\n".utf8)
    for position in text.indices where text[position] >= 0x80 || text[position] == 0x6E {
      var bytes = text
      bytes[position] = 0xFF
      let whole = bytes[..<position].count { $0 == 0x0A }
      let file = try TemporaryFile(Data(bytes))
      let path = file.url.path(percentEncoded: false)
      let origin = FileOrigin(name: path, place: .path(Array(path.utf8CString)))
      var iterator = LineBlocks(chunks: FileChunks(origin: origin, size: size)).makeAsyncIterator()
      var lines: [String] = []
      let error = await #expect(throws: FileError.self) {
        while let block = try await iterator.next() { lines += Array(block) }
      }
      #expect(error?.code == .EILSEQ)
      #expect(lines == ["one", "zwölf", "♥️"].prefix(whole).map { $0 }, "\(position)")
    }
  }

  @Test(
    "a byte order mark is no part of the first line",
    arguments: ["", "a", "a\nb", "\na", "\r\na\n"])
  func mark(_ text: String) async throws {
    let (plain, marked) = (
      try TemporaryFile(Data(text.utf8)), try TemporaryFile(Data("\u{FEFF}\(text)".utf8))
    )
    #expect(try await marked.url.lazyLines.array() == plain.url.lazyLines.array())
    #expect(
      try await FileHandle(forReadingFrom: marked.url).lazyLines.array()
        == plain.url.lazyLines.array())
    #expect(try await marked.url.lazyChunks(upTo: 1).lines.array() == plain.url.lazyLines.array())
    // Elsewhere it is a character as others.
    let later = try TemporaryFile(Data("a\n\u{FEFF}b".utf8))
    #expect(try await later.url.lazyLines.array() == ["a", "\u{FEFF}b"])
  }

  @Test("chunks: all bytes, in order", arguments: [1, 7, 65_536, 1_000_000])
  func chunks(_ size: Int) async throws {
    let bytes = Data((0..<(size < 10 ? 1_000 : 200_000)).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    let file = try TemporaryFile(bytes)
    let list = file.url.lazyChunks(upTo: size)
    let sizes = try await list.map { $0.count }.array()
    #expect(sizes.dropLast().allSatisfy { $0 == size })
    #expect(try await list.reduce(into: Data()) { $0.append($1) } == bytes)
  }

  @Test("chunks: the limit may be any number", arguments: [1 << 40, .max])
  func largeChunks(_ limit: Int) async throws {
    let file = try TemporaryFile(Data(repeating: 7, count: 3_000_000))
    #expect(try await file.url.lazyChunks(upTo: limit).map { $0.count }.array() == [3_000_000])
    let handle = try FileHandle(forReadingFrom: file.url)
    try handle.seek(toOffset: 1_000_000)
    #expect(try await handle.lazyChunks(upTo: limit).map { $0.count }.array() == [2_000_000])
    let empty = try TemporaryFile(Data())
    #expect(try await empty.url.lazyChunks(upTo: limit).array() == [])
    let pipe = try Plug.pipe()
    let list = FileHandle(fileDescriptor: pipe.reader.number).lazyChunks(upTo: limit)
    pipe.writer.write("one")
    #expect(try await list.head() == Data("one".utf8))
    pipe.writer.close()
    #expect(try await list.count() == 1)
    pipe.reader.close()
  }

  @Test("a file is opened at the first demand, read as demanded, and read once")
  func laziness() async throws {
    let file = try TemporaryFile(Data())
    let list = file.url.lazyLines
    let line = String(repeating: "x", count: 99)
    try Data(String(repeating: line + "\n", count: 8_000).utf8).write(to: file.url)
    #expect(try await list.head() == line)
    // The file is not read ahead: the rest is read as it is when it is demanded.
    let handle = try FileHandle(forWritingTo: file.url)
    try handle.truncate(atOffset: 400_000)
    try handle.close()
    #expect(try await list.count() == 4_000)
    file.remove()
    #expect(try await list.count() == 4_000)
  }

  @Test("a file that cannot be opened or read is a failure that names the path")
  func failures() async throws {
    func code(_ list: LazyList<String, FileError>) async -> FileError? {
      await #expect(throws: FileError.self) { try await list.head() }
    }
    let file = try TemporaryFile(Data())
    file.remove()
    let missing = await code(file.url.lazyLines)
    #expect(missing?.code == .ENOENT)
    #expect(missing?.path == file.url.path)
    #expect(missing?.description == "\(file.url.path): No such file or directory")
    #expect(await code(FileManager.default.temporaryDirectory.lazyLines)?.code == .EISDIR)
    #expect(await code(file.url.appending(path: "below").lazyLines)?.code == .ENOENT)
    let web = try #require(URL(string: "https://example.org/a"))
    #expect(await code(web.lazyLines)?.path == "https://example.org/a")
    #expect(await code(web.lazyLines)?.code == .EINVAL)
    let writing = try TemporaryFile(Data("a".utf8))
    let handle = try FileHandle(forWritingTo: writing.url)
    #expect(await code(handle.lazyLines)?.code == .EBADF)
    #expect(
      await #expect(throws: FileError.self) { try await handle.lazyChunks().head() }?.code
        == .EBADF)
  }

  @Test("a failure comes behind the lines that were complete, and stays")
  func position() async throws {
    let (ours, theirs) = try Plug.pair()
    // Closing a socket with something unread resets the connection.
    ours.write("unread")
    theirs.write("one\ntwo\nthr")
    theirs.close()
    let list = FileHandle(fileDescriptor: ours.number).lazyLines
    #expect(try await list.prefix(2).array() == ["one", "two"])
    for _ in 0..<2 {
      let error = await #expect(throws: FileError.self) { try await list.array() }
      #expect(error?.code == .ECONNRESET)
    }
    #expect(list.evaluatedPrefix == ["one", "two"])
    ours.close()
  }

  @Test("a named pipe: reader and writer may open it in either order")
  func namedPipe() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/tailrace-\(UUID().uuidString)"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let list = URL(filePath: path).lazyLines
    async let lines = list.array()
    await elsewhere {
      let writer = Plug(open(path, O_WRONLY))
      writer.write("one\ntw")
      writer.write("o\n")
      writer.close()
    }
    let read = try await lines
    #expect(read == ["one", "two"])
  }

  @Test("a hundred silent pipes keep no thread waiting")
  func silence() async throws {
    let pipes = try (0..<100).map { _ in try Plug.pipe() }
    let lists = pipes.map { pipe in
      let list = FileHandle(fileDescriptor: pipe.reader.number).lazyLines
      pipe.reader.close()
      return list
    }
    try await withThrowingTaskGroup(of: String?.self) { group in
      for list in lists { group.addTask { try await list.head() } }
      // Each is served alone, while those before it still wait.
      for (number, pipe) in pipes.enumerated().reversed() {
        pipe.writer.write("line \(number)\n")
        let line = try await group.next()
        #expect(line == "line \(number)")
      }
    }
    for pipe in pipes { pipe.writer.close() }
    #expect(try await lists[0].array() == ["line 0"])
  }

  @Test("the descriptor is closed at the end, and when nobody can read on")
  func closing() async throws {
    // At the end, although the list is held.
    let ended = try Plug.pair()
    let list = FileHandle(fileDescriptor: ended.0.number).lazyLines
    ended.0.close()
    ended.1.write("a\n")
    shutdown(ended.1.number, Int32(SHUT_WR))
    #expect(try await list.array() == ["a"])
    await ended.1.losesReaders()
    ended.1.close()
    #expect(try await list.array() == ["a"])

    // Never demanded.
    let untouched = try Plug.pipe()
    do {
      let list = FileHandle(fileDescriptor: untouched.reader.number).lazyLines
      untouched.reader.close()
      withExtendedLifetime(list) {}
    }
    await untouched.writer.losesReaders()
    untouched.writer.close()

    // Waiting, when its only reader is cancelled.
    let silent = try Plug.pipe()
    let gate = Gate()
    let reader = Task {
      let list = FileHandle(fileDescriptor: silent.reader.number).lazyLines
      silent.reader.close()
      for try await _ in list { await gate.wait() }
    }
    silent.writer.write("a\n")
    await gate.waitForArrivals(1)
    gate.open()
    reader.cancel()
    await #expect(throws: FileError.cancelled) { try await reader.value }
    await silent.writer.losesReaders()
    silent.writer.close()
  }
}

/// A file that goes with the test.
private final class TemporaryFile {
  let url: URL

  init(_ contents: Data) throws {
    url = FileManager.default.temporaryDirectory.appending(path: "tailrace-\(UUID().uuidString)")
    try contents.write(to: url)
  }

  func remove() { try? FileManager.default.removeItem(at: url) }

  deinit { remove() }
}

/// One end of a pipe or of a pair of sockets.
private struct Plug: Sendable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  static func pipe() throws -> (reader: Plug, writer: Plug) {
    var ends: [Int32] = [0, 0]
    try #require(Foundation.pipe(&ends) == 0)
    return (Plug(ends[0]), Plug(ends[1]))
  }

  static func pair() throws -> (Plug, Plug) {
    var ends: [Int32] = [0, 0]
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    return (Plug(ends[0]), Plug(ends[1]))
  }

  func write(_ text: String) {
    #expect(Foundation.write(number, text, text.utf8.count) == text.utf8.count)
  }

  func close() { _ = Foundation.close(number) }

  /// Waits until the other end is closed everywhere.
  func losesReaders() async {
    await elsewhere {
      var request = pollfd(fd: number, events: 0, revents: 0)
      #expect(poll(&request, 1, 60_000) == 1, "still open after a minute")
    }
  }
}

/// Makes a call that blocks on a thread that no task needs.
private func elsewhere(_ call: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    DispatchQueue.global().async {
      call()
      continuation.resume()
    }
  }
}
