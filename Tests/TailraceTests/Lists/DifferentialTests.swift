import Tailrace
import TailraceTesting
import Testing

/// Each operator on random input, as a lazy list, as an eager one, and as the standard library does
/// it: all ways must agree.
///
/// `TAILRACE_CASES` sets how many cases are run for each operator, `TAILRACE_SEED` where they begin.
@Suite("Lazy, eager and standard agree", .inTurn)
struct DifferentialTests {
  private static let cases = RandomCases.count("TAILRACE_CASES", debug: 300, optimised: 10_000)

  @Test("on random input", arguments: Comparison.all)
  func random(_ comparison: Comparison) async {
    for number in 0..<Self.cases {
      let sample = Sample(seed: RandomCases.firstSeed &+ UInt64(number))
      guard let disagreement = await comparison.disagreement(sample) else { continue }
      Issue.record("\(disagreement), TAILRACE_SEED=\(sample.seed), \(sample)")
      return
    }
  }

  @Test("a comparison tells a difference")
  func probe() async {
    let wrong = Comparison("wrong", { $0.input.map { $0 + 1 } }, ["lazy": { $0.input }])
    #expect(await wrong.disagreement(Sample(seed: 1)) != nil || Sample(seed: 1).input.isEmpty)
    let nonempty = Sample.firstNonempty
    #expect(await wrong.disagreement(nonempty)?.contains("lazy") == true)
    let throwing = Comparison(
      "throwing", { $0.input }, ["eager": { _ in throw Mishap(position: 0) }])
    #expect(await throwing.disagreement(nonempty)?.contains("eager") == true)
  }
}

/// Random input for all operators.
struct Sample: Sendable, CustomStringConvertible {
  let seed: UInt64
  let input: [Int]
  let other: [Int]
  /// From 0 to a bit more than there are elements.
  let count: Int
  /// 1 or more.
  let modulus: Int
  /// The element that a predicate looks for, and for which a closure throws; often one of the list.
  let target: Int

  init(seed: UInt64) {
    self.seed = seed
    var generator = SeededGenerator(seed: seed)
    // Few values, so that there are duplicates; sometimes enough of them for several segments.
    let longest = Int.random(in: 0..<16, using: &generator) == 0 ? 150 : 12
    func numbers() -> [Int] {
      (0..<Int.random(in: 0...longest, using: &generator)).map { _ in
        Int.random(in: -3...6, using: &generator)
      }
    }
    input = numbers()
    other = numbers()
    count = Int.random(in: 0...input.count + 2, using: &generator)
    modulus = Int.random(in: 1...4, using: &generator)
    target = Int.random(in: -4...7, using: &generator)
  }

  static var firstNonempty: Sample {
    (0...).lazy.map { Sample(seed: $0) }.first { !$0.input.isEmpty } ?? Sample(seed: 0)
  }

  var lazy: LazyList<Int, Never> { LazyList(input) }
  var eager: EagerList<Int> { EagerList(input) }
  var lazyOther: LazyList<Int, Never> { LazyList(other) }
  var eagerOther: EagerList<Int> { EagerList(other) }

  func isMultiple(_ number: Int) -> Bool { number % modulus == 0 }

  func copies(_ number: Int) -> [Int] { Array(repeating: number, count: max(0, number)) }

  /// The number, unless it is the one to throw at.
  func checked(_ number: Int) throws -> Int {
    if number == target { throw Mishap(position: number) }
    return number
  }

  var description: String {
    "input \(input), other \(other), count \(count), modulus \(modulus), target \(target)"
  }
}

/// One operator, done the standard library's way, and in other ways that must give the same.
struct Comparison: Sendable, Testing.CustomTestStringConvertible {
  let testDescription: String
  private let compare: @Sendable (Sample) async -> String?

  init<Value: Equatable & Sendable>(
    _ name: String, _ standard: @escaping @Sendable (Sample) throws -> Value,
    _ ways: KeyValuePairs<String, @Sendable (Sample) async throws -> Value>
  ) {
    testDescription = name
    let ways = Array(ways)
    compare = { sample in
      let expected = Outcome { try standard(sample) }
      for (way, compute) in ways {
        let found = await Outcome { try await compute(sample) }
        if found != expected { return "\(name), \(way): \(found) and not \(expected)" }
      }
      return nil
    }
  }

  /// Describes a difference; `nil` if there is none.
  func disagreement(_ sample: Sample) async -> String? { await compare(sample) }

  private enum Outcome<Value: Equatable & Sendable>: Equatable, Sendable {
    case value(Value)
    case mishap(Mishap)
    case other(String)

    init(_ compute: () throws -> Value) {
      do { self = .value(try compute()) } catch { self = Self(error) }
    }

    init(_ compute: () async throws -> Value) async {
      do { self = .value(try await compute()) } catch { self = Self(error) }
    }

    private init(_ error: any Error) {
      self = if let mishap = error as? Mishap { .mishap(mishap) } else { .other("\(error)") }
    }
  }
}
