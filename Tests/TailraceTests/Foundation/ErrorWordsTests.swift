import Foundation
import Tailrace
import Testing

@testable import TailraceFoundation
@testable import TailraceLists
@testable import TailraceMemos
@testable import TailraceSignals
@testable import TailraceStored
@testable import TailraceTesting
@testable import TailraceTestingProcess

/// The words that a program can print of an error: a sentence, whichever way it asks for it.
@Suite("Words of errors", .inTurn)
struct ErrorWordsTests {
  /// One of each public type of errors.
  private static let errors: [any Error] = [
    CyclicEvaluationError(lists: ["a", "b"], position: 3),
    TupleError.missing(position: 1, expected: Int.self),
    SignalOverflow(bound: 8),
    MissingValueError(7),
    ListStoreError.damaged(at: 4),
    FileError("/nowhere", .init(code: ENOENT)),
    ElementTypeError(2, expected: Int.self, found: "two"),
    CodingSizeError(expected: 8, found: 4),
    RemoteListError(path: "/a", reason: .otherList(found: "a")), ClientStalledError(),
    TooManyListsError(limit: 4), TimedOut(limit: .seconds(2)),
    StoreFaults(faults: [StoreFault(rule: .beginsEmpty, observation: "there were two")]),
    Marbles.ParsingError(text: "a?", position: 1, expected: "an element", found: "?"),
    TailraceTesting.Exploration.Unmet(),
    ExplorationFailure(
      reason: .stuck, tape: "0 1", runs: 2, report: "a run was stuck", isReproducible: true,
      jobsFromOutside: 0),
    ExplorationUnavailable(reason: "the compiler has no executors to replace"),
  ]

  /// Only tests see these, and they print descriptions.
  private static let ofTests: Set<String> = [
    "StoreFaults", "ParsingError", "Unmet", "ExplorationFailure",
    "ExplorationUnavailable",
  ]

  @Test("a description is a sentence, and so is a localized one", arguments: errors)
  func words(_ error: any Error) {
    let (kind, description): (Any.Type, String) = (type(of: error), "\(error)")
    #expect(kind is any CustomStringConvertible.Type && description.contains(" "))
    guard !Self.ofTests.contains("\(kind)") else { return }
    #expect(error.localizedDescription == description)
    #expect((error as NSError).localizedDescription == description)
  }

  @Test("each case has its own words")
  func cases() {
    let stored: [ListStoreError] = [
      .inUse, .superseded, .damaged(at: 4), .otherSchema(found: "text", expected: "bytes"),
      .poisoned, .tooLarge(fitting: 3), .trimmed(first: 2), .refused("the disk is read-only"),
    ]
    let tuples: [TupleError] = [
      .missing(position: 1, expected: Int.self),
      .mismatch(position: 1, expected: Int.self, found: String.self),
      .surplus(position: 1, found: String.self),
    ]
    let reasons: [RemoteListError.Reason] = [
      .otherList(found: nil), .lost(from: 3), .refused(status: 403, body: "no"),
      .malformed("no offset"), .unreachable("no route"),
    ]
    let remote = reasons.map { RemoteListError(path: "/runs/7", reason: $0) }
    let words =
      stored.map(\.localizedDescription) + tuples.map(\.localizedDescription)
      + remote.map(\.localizedDescription)
    #expect(Set(words).count == stored.count + tuples.count + remote.count)
    #expect(words.allSatisfy { $0.contains(" ") && !$0.contains("error ") })
  }

  @Test("no public type of errors is missing here")
  func complete() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources").standardizedFileURL
    var declared: Set<String> = []
    let files = FileManager.default.enumerator(atPath: sources.path)
    while let file = files?.nextObject() as? String {
      guard file.hasPrefix("Tailrace"), file.hasSuffix(".swift") else { continue }
      let text = try String(contentsOf: sources.appending(path: file), encoding: .utf8)
      declared.formUnion(Self.publicErrors(in: text))
    }
    #expect(declared == Set(Self.errors.map { "\(type(of: $0))" }))
  }

  /// The names of types that a file declares public and errors at once.
  private static func publicErrors(in text: String) -> [String] {
    let declaration =
      /(?m)^ *public (?:final |indirect )*(?:class|struct|enum|actor) (?<name>\w+)(?<rest>[^{]*)\{/
    return text.matches(of: declaration).compactMap { match in
      // Parameters in angle brackets may be errors without making the type one.
      let rest = String(match.rest).replacing(/<[^<>]*(?:<[^<>]*>[^<>]*)*>/, with: "")
      guard let colon = rest.firstIndex(of: ":") else { return nil }
      let parents = rest[rest.index(after: colon)...].replacing(/\bwhere\b[\s\S]*/, with: "")
        .split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
      let areErrors = parents.contains { $0.hasSuffix("Error") || $0 == "CancellableFailure" }
      return areErrors ? String(match.name) : nil
    }
  }
}
