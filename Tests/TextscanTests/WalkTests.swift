import FileReading
import Foundation
import Testing

@testable import textscan

@Suite("A walk")
struct WalkTests {
  private func files(_ playground: Playground, _ paths: [String]) throws -> [String] {
    let ledger = Ledger(playground.console)
    var walk = Walk(paths)
    var found: [String] = []
    while let finding = try walk.next() {
      switch finding {
      case .file(let source):
        found.append(source.path.text.replacing("\(playground.path)/", with: ""))
      case .failure(let path, let error): ledger.fail(path, error)
      case .skipped(let path, let reason): ledger.skip(path, because: reason)
      }
    }
    return found
  }

  @Test("goes by name, and leaves out .git and .build only")
  func order() throws {
    let playground = try Playground()
    for name in ["b", "a/z", "a/.git/x", ".build/x", ".hidden/x", ".gitignore", "B"] {
      try playground.file(name, "")
    }
    #expect(
      try files(playground, [playground.path]) == [".gitignore", ".hidden/x", "B", "a/z", "b"])
    #expect(try files(playground, [playground.path + "/.build"]) == [".build/x"])
    #expect(try playground.notes.isEmpty)
  }

  @Test("ends where symbolic links lead back, and says so")
  func cycle() throws {
    let playground = try Playground()
    try playground.file("a/b/file", "")
    try playground.link("a/b/back", to: "../..")
    try playground.link("a/self", to: ".")
    #expect(try files(playground, [playground.path]) == ["a/b/file"])
    #expect(
      try playground.notes == [
        "textscan: a/b/back: a directory that was walked already, skipped",
        "textscan: a/self: a directory that was walked already, skipped",
      ])
  }

  @Test("names what is missing, and goes on")
  func missing() throws {
    let playground = try Playground()
    try playground.file("there", "")
    try playground.link("broken", to: "nowhere")
    #expect(try files(playground, [playground.path + "/gone", playground.path]) == ["there"])
    #expect(
      try playground.notes == [
        "textscan: gone: No such file or directory",
        "textscan: broken: No such file or directory",
      ])
  }

  @Test("finds files whose names are no text")
  func names() throws {
    let playground = try Playground()
    let directory = Path(playground.path)
    let name: [CChar] = [CChar(bitPattern: 0xFF), 0]
    let descriptor = directory.characters.dropLast() + [CChar(UInt8(ascii: "/"))] + name
    let created = creat(Array(descriptor), 0o600)
    defer { close(created) }
    #expect(try files(playground, [playground.path]) == ["\u{FFFD}"])
    var walk = Walk([playground.path])
    guard case .file(let source) = try walk.next() else {
      Issue.record("no file")
      return
    }
    _ = try Descriptor.opening(source.path.characters)
  }
}
