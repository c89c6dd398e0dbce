import Foundation
import Tailrace
import TailraceFoundation
import TailraceStored
import Testing

@testable import recrawl

@Suite("recrawl")
struct RecrawlTests {
  @Test(
    "digests are those of sha256sum",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func digests(_ text: String, _ digest: String) {
    var sum = SHA256()
    sum.update(Array(text.utf8))
    #expect(sum.digest() == digest)
    // In parts, as a file is read.
    var parts = SHA256()
    for byte in text.utf8 { parts.update([byte]) }
    #expect(parts.digest() == digest)
  }

  @Test("digests of long texts", arguments: [55, 56, 63, 64, 65, 119, 120, 1000])
  func longDigests(_ length: Int) {
    let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
    var (one, two) = (SHA256(), SHA256())
    one.update(bytes)
    two.update(Array(bytes.prefix(length / 3)))
    two.update(Array(bytes.dropFirst(length / 3)))
    #expect(one.digest() == two.digest())
  }

  @Test("a million letters")
  func million() {
    var sum = SHA256()
    for _ in 0..<100 { sum.update([UInt8](repeating: UInt8(ascii: "a"), count: 10_000)) }
    #expect(sum.digest() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(
    "command lines",
    arguments: [
      (["--help"], .help),
      (["--into", "f"], .crawl(Options(directory: ".", file: "f"))),
      (
        ["d", "--into", "f", "--follow"], .crawl(Options(directory: "d", file: "f", follows: true))
      ),
      (
        ["--durability", "process", "--sums", "--into", "f", "d"],
        .crawl(
          Options(directory: "d", file: "f", printsSums: true, durability: .survivesProcess))
      ),
    ] as [([String], Command)])
  func commands(_ arguments: [String], _ command: Command) throws {
    #expect(try Command(arguments) == command)
  }

  @Test(
    "command lines that make no sense",
    arguments: [
      [], ["d"], ["--into"], ["a", "b", "--into", "f"], ["--what"],
      ["--into", "f", "--durability", "often"],
    ])
  func misuse(_ arguments: [String]) {
    #expect(throws: UsageError.self) { try Command(arguments) }
  }

  // MARK: Crawling

  private let tree = Tree()

  private func crawl(_ file: String = "list", follows: Bool = false) -> Crawl {
    Crawl(
      Options(
        directory: tree.root.path, file: tree.folder.appending(path: file).path, follows: follows,
        durability: .survivesProcess), Terminal(isWatched: false))
  }

  @Test("finds every file, in the order of names, and not itself")
  func finding() async throws {
    try tree.make(["b/two": "2", "a": "abc", "b/c/three": "3"])
    try FileManager.default.createSymbolicLink(
      at: tree.root.appending(path: "link"), withDestinationURL: tree.root)
    var found: [Finding] = []
    let crawl = crawl("tree/list")
    let totals = try await crawl.run { found.append($0) }
    #expect(
      found.map { $0.path.dropFirst(tree.root.path.count) } == [
        "", "/a", "/b", "/b/c", "/b/c/three", "/b/two", "/link", "/list",
      ])
    #expect(
      found[1].kind
        == .file(
          size: 3, digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
    #expect(found[6].kind == .skipped(because: "a link"))
    #expect(found[7].kind == .skipped(because: "this list"))
    #expect((totals.files, totals.directories, totals.bytes, totals.failures) == (3, 3, 5, 0))
    #expect(crawl.stepsRun == 8)
    #expect(crawl.summary(totals).contains("8 steps ran, 0 were there"))
  }

  @Test("a visit to a missing file is a failed finding; a crawl of readable files has none")
  func failing() async throws {
    try tree.make(["a": "1", "c": "3"])
    let missing = crawl()
    let visit = Visit(store: "")
    let finding = await visit(tree.root.appending(path: "b").path)
    #expect(finding.kind == .failed("No such file or directory"))
    #expect(try await missing.run().failures == 0)
  }

  @Test("stopped anywhere it goes on, with the same result as one run", arguments: 0...9)
  func goingOn(_ count: Int) async throws {
    try tree.make(Dictionary(uniqueKeysWithValues: (0..<6).map { ("d\($0 % 3)/f\($0)", "\($0)") }))
    let whole = try await crawl("whole").run()
    do {
      let first = crawl()
      #expect(try await first.findings.prefix(count).count() == count)
      #expect(first.stepsRun == count)
    }
    let second = crawl()
    let totals = try await runWhenFree(second)
    #expect(totals == whole)
    #expect(second.stepsRun == whole.findings - count)
    // Once more: everything is there.
    let third = crawl()
    #expect(try await runWhenFree(third) == whole)
    #expect(third.summary(totals).contains("0 steps ran, \(whole.findings) were there"))
  }

  /// Runs a crawl after another one of this process: the thread of its last step may still retain the
  /// store, and with it the lease, when its reader is done.
  private func runWhenFree(_ crawl: Crawl) async throws -> Totals {
    while true {
      do {
        return try await crawl.run()
      } catch ListStoreError.inUse {
        await Task.yield()
      }
    }
  }

  @Test("a follower sees the same, and runs nothing")
  func following() async throws {
    try tree.make(["a": "1", "b/c": "2"])
    let follower = crawl(follows: true)
    async let followed = follower.run()
    let totals = try await crawl().run()
    #expect(try await followed == totals)
    #expect(follower.stepsRun == 0)
  }

  @Test("the list of another directory is not gone on with")
  func otherTree() async throws {
    try tree.make(["a/b": "1"])
    _ = try await crawl().run()
    let other = Crawl(
      Options(
        directory: tree.root.appending(path: "a").path,
        file: tree.folder.appending(path: "list").path), Terminal(isWatched: false))
    await #expect(throws: OtherTree.self) { try await other.run() }
  }
}

/// A folder with a tree in it.
private final class Tree: Sendable {
  let folder = URL.temporaryDirectory.appending(path: "recrawl-\(UUID().uuidString)")
  var root: URL { folder.appending(path: "tree") }

  func make(_ files: [String: String]) throws {
    for (path, text) in files {
      let url = root.appending(path: path)
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
