import Tailrace
import TailraceTesting
import Testing

/// An example of ReactiveObjC's specs, and what this library does in its place.
struct Example: Sendable, CustomTestStringConvertible {
  /// How the counterpart behaves.
  enum Verdict: Sendable {
    case same
    /// As asked, and more.
    case better(String)
    /// Not as asked, on purpose: the reason.
    case different(String)
  }

  let spec: Spec
  /// What the example asks.
  let asks: String
  let verdict: Verdict
  /// Whether the counterpart does what the verdict says.
  let holds: @Sendable () async throws -> Bool

  init(
    _ spec: Spec, _ asks: String, _ verdict: Verdict = .same,
    _ holds: @escaping @Sendable () async throws -> Bool
  ) {
    (self.spec, self.asks, self.verdict, self.holds) = (spec, asks, verdict, holds)
  }

  var testDescription: String { "\(spec.rawValue): \(asks)" }

  /// The specs, and how many examples each has. The last one counts the places where the shared examples
  /// of a sequence are included.
  enum Spec: String, CaseIterable, Sendable {
    case sequenceExamples = "RACSequenceExamples"
    case sequence = "RACSequenceSpec"
    case additions = "RACSequenceAdditionsSpec"
    case stream = "RACStreamExamples"
    case tuple = "RACTupleSpec"
    case scheduler = "RACSchedulerSpec"
    case targetQueue = "RACTargetQueueSchedulerSpec"
    case testScheduler = "RACTestSchedulerSpec"
    case behavesLikeASequence = "behaves like a sequence"

    var count: Int {
      switch self {
      case .sequenceExamples: 12
      case .sequence: 19
      case .additions: 2
      case .stream: 59
      case .tuple: 26
      case .scheduler: 25
      case .targetQueue: 2
      case .testScheduler: 7
      case .behavesLikeASequence: 23
      }
    }
  }

  static let all =
    shared + sources + sequences + streams + zips + tuples + schedulers + testSchedulers
}

@Suite("ReactiveObjC's own examples of sequences, tuples and schedulers")
struct ExampleTests {
  @Test("an example", arguments: Example.all)
  func holds(_ example: Example) async throws {
    #expect(try await example.holds())
  }

  @Test("every example of every spec has a row")
  func manifest() {
    for spec in Example.Spec.allCases {
      let rows = Example.all.filter { $0.spec == spec }
      #expect(rows.count == spec.count, "\(spec.rawValue): \(rows.count) of \(spec.count)")
      #expect(Set(rows.map(\.asks)).count == rows.count, "\(spec.rawValue): a row is there twice")
    }
    #expect(Example.all.count == 175)
    for example in Example.all {
      switch example.verdict {
      case .same: break
      case .better(let why), .different(let why): #expect(!why.isEmpty, "\(example.asks)")
      }
    }
  }
}
