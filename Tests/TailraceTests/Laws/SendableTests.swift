import Foundation
import Tailrace
import TailraceFoundation
import TailraceInspection
import TailraceStored
import TailraceTesting
import TailraceTestingProcess
import Testing

@Suite("Every public type may be sent, or is known not to", .inTurn)
struct SendableTests {
  /// The compiler checks the types. The result is a type's name, without generic arguments.
  private static func sendable<T: Sendable>(_ type: T.Type) -> String {
    let name = String(reflecting: type)
    return name.prefix { $0 != "<" }.split(separator: ".").last.map(String.init) ?? name
  }

  private static let checked: Set<String> = [
    sendable(LazyList<Int, Never>.self), sendable(Memo<Int, any Error>.self),
    sendable(SharedIterator<Int, Never>.self), sendable(CyclicEvaluationError.self),
    sendable(EagerList<Int>.self), sendable(Tuple<Int, String>.self), sendable(TupleError.self),
    sendable(Signal<Int, Never>.self), sendable(SignalOverflow.self),
    sendable(Memos<Int, Int, Never>.self), sendable(MemoStatistics.self),
    sendable(MemoEvent<Int>.self), sendable(MissingValueError.self),
    sendable((any Scheduler).self), sendable(QueueScheduler.self),
    sendable(ImmediateScheduler.self),
    sendable(ScheduledWork.self),
    sendable(VirtualScheduler.self), sendable(VirtualScheduler.Instant.self),
    sendable(VirtualScheduler.Clock.self), sendable(Gate.self), sendable(Probe<Int>.self),
    sendable(InstanceCounter.self), sendable(InstanceCounter.Member.self), sendable(FileError.self),
    sendable(Untyped.self), sendable(ElementTypeError.self),
    sendable((any CancellableFailure).self), sendable((any _ListLike).self),
    sendable(_CheckedAlone<Int>.self),
    sendable(_EmptyDictionaryLiteral.self), sendable(_EmptyArrayLiteral.self),
    sendable(Marbles.self), sendable(Marbles.Marble.self),
    sendable(Marbles.Difference.self), sendable(Marbles.ParsingError.self),
    sendable(MarbleSource<Int, Never>.self), sendable(MarbleRecording.self),
    sendable(Recording.self),
    sendable((any ListSource<Int>).self), sendable(ListPage<Int>.self),
    sendable(ListExtent.self), sendable(FileRepair.self),
    sendable((any ListStore<Int, Int>).self), sendable(ListCheckpoint<Int>.self),
    sendable(ListCommit<Int, Int>.self), sendable(ListStoreError.self), sendable(TailPolicy.self),
    sendable(SnapshotPolicy.self), sendable(Durability.self), sendable(FileStore<Int, Int>.self),
    sendable(ByteCoding<Int>.self), sendable(CodingSizeError.self), sendable(StoreRule.self),
    sendable(StoreFault.self), sendable(StoreFaults.self), sendable(MemoryStore<Int, Int>.self),
    sendable(PerturbingExecutor.self), sendable(LockstepReader<Int, Never>.self),
    sendable(ExplorationRun.self), sendable(ExplorationRun.Unmet.self),
    sendable(ExplorationScheduler.self), sendable(ExplorationOptions.self),
    sendable(ExplorationSummary.self), sendable(ExplorationTape.self),
    sendable(ExplorationFailure.self), sendable(ExplorationFailure.Reason.self),
    sendable(IssueCounter.self), sendable(ExplorationUnavailable.self),
    sendable(ListRequest.self), sendable(ListResponse.self), sendable(ListEvents.self),
    sendable(ListEndpoint<MemoryStore<Int, Int>>.self), nested(ListResponse.Body.self, "Body"),
    sendable(ClientStalledError.self), sendable(RemoteList<Int>.self),
    sendable(RemoteListError.self), sendable(RemoteListError.Reason.self),
    sendable(AllowedOrigins.self), sendable(StoredLists<Int, Int>.self),
    sendable(StoredListLimits.self), sendable(StoredListEntry.self),
    sendable(StoredListEntry.Status.self), sendable(TooManyListsError.self),
    sendable(StoredListsEndpoint<Int, Int>.self),
    sendable(RemotePlace.self), sendable(RemoteRequest.self), sendable(RemoteResponse.self),
    sendable(RemoteBody.self),
    // Their names have those of the types that they are nested in behind the `<`.
    nested(Signal<Int, Never>.Event.self, "Event"),
    nested(Signal<Int, Never>.BufferingPolicy.self, "BufferingPolicy"),
    nested(Signal<Int, Never>.Termination.self, "Termination"),
    nested(Memos<Int, Int, Never>.Capacity.self, "Capacity"),
    nested(Memos<Int, Int, Never>.Lifetime.self, "Lifetime"),
    nested(Memos<Int, Int, Never>.RecursiveLifetime.self, "RecursiveLifetime"),
    nested(Memos<Int, Int, Never>.ThrowingCancellation.self, "ThrowingCancellation"),
    sendable(MainQueueScheduler.self), sendable(TimedOut.self),
    nested(Signal<Int, Never>.SendResult.self, "SendResult"),
    nested(Signal<Int, Never>.Subscriber.self, "Subscriber"),
  ]

  private static func nested<T: Sendable>(_: T.Type, _ name: String) -> String { name }

  /// One task has an iterator at a time, and what is left of a list that is being folded. A sequence
  /// that is no list need not be sendable to be folded, nor an array to be compared.
  private static let notSendable: Set<String> = [
    "Iterator", "Rest", "_ArrayLike", "_FoldIteratorProtocol", "_FoldableSequence",
  ]

  @Test("and no type is missing here")
  func complete() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources").standardizedFileURL
    var declared: Set<String> = []
    let modules = try FileManager.default.contentsOfDirectory(atPath: sources.path)
    // Models of a view belong to the main actor.
    for module in modules where module.hasPrefix("Tailrace") && module != "TailraceObservation" {
      let files = FileManager.default.enumerator(atPath: sources.appending(path: module).path)
      while let file = files?.nextObject() as? String {
        guard file.hasSuffix(".swift") else { continue }
        let text = try String(
          contentsOf: sources.appending(path: "\(module)/\(file)"), encoding: .utf8)
        declared.formUnion(Self.publicTypes(in: text))
      }
    }
    #expect(declared.contains("LazyList"))
    #expect(declared.subtracting(Self.checked).subtracting(Self.notSendable) == [])
  }

  private static func publicTypes(in text: String) -> [String] {
    let declaration =
      /(?m)^ *public (?:final |indirect )?(?:class|struct|enum|actor|protocol) (?<name>\w+)/
    return text.matches(of: declaration).map { String($0.name) }
  }
}
