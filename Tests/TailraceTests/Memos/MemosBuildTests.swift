import Foundation
import Tailrace
import TailraceStored
import TailraceSupport
import TailraceTesting
import Testing

/// An incremental build of this package's own sources, in as many copies as make 10 000 files.
///
/// What a file declares to others is its interface; a module's interface is that of its files, and a file
/// is compiled from its text and the interfaces of its own module and of those that it imports.
@Suite("Memos as an incremental build", .tags(.long), .timeLimit(.minutes(15)), .inTurn)
struct MemosBuildTests {
  struct Module: Hashable, Sendable {
    let copy: Int
    let name: String
  }

  struct File: Hashable, Sendable {
    let module: Module
    let path: String
  }

  enum Step: Hashable, Sendable {
    case text(File), imports(File), interface(File), module(Module), object(File), all
  }

  typealias Build = Memos<Step, String, any Error>

  /// The sources, which a test edits.
  final class Disk: Sendable {
    let files: [Module: [File]]
    private let texts: Locked<[File: String]>
    private let ran = Counter()

    init(files count: Int) throws {
      let package = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../..").standardizedFileURL
      var texts: [(module: String, path: String, text: String)] = []
      for folder in ["Sources", "Tests"] {
        let root = package.appending(path: folder)
        let paths = FileManager.default.enumerator(atPath: root.path)
        while let path = paths?.nextObject() as? String {
          guard path.hasSuffix(".swift"), let module = path.split(separator: "/").first else {
            continue
          }
          let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
          texts.append((String(module), path, text))
        }
      }
      var (files, all): ([Module: [File]], [File: String]) = ([:], [:])
      for number in 0..<count {
        let (module, path, text) = texts[number % texts.count]
        let file = File(module: Module(copy: number / texts.count, name: module), path: path)
        files[file.module, default: []].append(file)
        all[file] = text
      }
      self.files = files
      self.texts = Locked(all)
    }

    func text(_ file: File) -> String { texts.withLock { $0[file] ?? "" } }

    func edit(_ file: File, _ build: Build, _ change: (String) -> String) {
      let text = change(text(file))
      texts.withLock { $0[file] = text }
      build.forget(.text(file))
    }

    /// How many steps have been run since the last time.
    func stepsRun() -> Int {
      defer { ran.increment(by: -ran.value) }
      return ran.value
    }

    func makeBuild() -> Build {
      .recursive { [self] build, step in
        ran.increment()
        switch step {
        case .text(let file): return text(file)
        case .imports(let file):
          return try await lines(of: file, build) { $0.contains("import ") }
        case .interface(let file):
          return try await lines(of: file, build) {
            $0.contains("public ") || $0.contains("package ")
          }
        case .module(let module):
          var interface = Hasher()
          for file in files[module] ?? [] {
            interface.combine(try await build.value(for: .interface(file)))
          }
          return "\(interface.finalize())"
        case .object(let file):
          var object = Hasher()
          object.combine(try await build.value(for: .text(file)))
          object.combine(try await build.value(for: .module(file.module)))
          for line in try await build.value(for: .imports(file)).split(separator: "\n") {
            let module = Module(
              copy: file.module.copy, name: String(line.split(separator: " ").last ?? ""))
            if files[module] == nil || module == file.module { continue }
            object.combine(try await build.value(for: .module(module)))
          }
          return "\(object.finalize())"
        case .all:
          for files in files.values {
            for file in files { _ = try await build.value(for: .object(file)) }
          }
          return ""
        }
      }
    }

    private func lines(
      of file: File, _ build: Build, _ isIncluded: (Substring) -> Bool
    ) async throws -> String {
      try await build.value(for: .text(file)).split(separator: "\n").filter(isIncluded)
        .joined(separator: "\n")
    }
  }

  @Test("a file is touched: only what differs is compiled again")
  func touch() async throws {
    let count = Size.usual(1_000, full: 10_000)
    let disk = try Disk(files: count)
    let build = disk.makeBuild()
    _ = try await build.value(for: .all)
    let steps = disk.stepsRun()
    #expect(steps == 4 * count + disk.files.count + 1)
    let memo = try #require(
      disk.files[Module(copy: 0, name: "TailraceLists")]?.first {
        $0.path.hasSuffix("/Memo.swift")
      })

    // The text of a body: its own object, and whoever asks for all.
    let before = build.statistics.outdated
    disk.edit(memo, build) { $0 + "\n// A comment.\n" }
    _ = try await build.value(for: .all)
    let (inside, marked) = (disk.stepsRun(), build.statistics.outdated - before)
    #expect(inside == 5, "its text, imports, interface and object, and all objects")
    #expect(marked > (disk.files[memo.module]?.count ?? 0))

    // What it declares to others.
    disk.edit(memo, build) { $0 + "\npublic let another = 1\n" }
    _ = try await build.value(for: .all)
    let outside = disk.stepsRun()
    let importers = disk.files.filter { $0.key.copy == 0 }.values.joined().filter { file in
      file.module == memo.module
        || disk.text(file).split(separator: "\n").contains {
          $0.contains("import ") && $0.split(separator: " ").last == "TailraceLists"
        }
    }
    // Its text, imports and interface, its module, the objects, and all of them.
    #expect(outside == importers.count + 5)
    print(
      "\(count) files, \(steps) steps: inside of a body \(inside) of \(marked + 1) run, "
        + "in an interface \(outside)")
  }
}
