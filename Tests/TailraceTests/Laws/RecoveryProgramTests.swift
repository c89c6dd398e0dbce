import Tailrace
import TailraceTesting
import Testing

/// Chains of random operators on lists that fail at random positions, for good or for now, asked random
/// questions, beside a model that knows nothing of cells.
///
/// `TAILRACE_PROGRAMS` sets how many are run, `TAILRACE_SEED` where they begin.
@Suite("Random programs with failures, and every way to recover", .timeLimit(.minutes(15)), .inTurn)
struct RecoveryProgramTests {
  private static let count = RandomCases.count(
    "TAILRACE_PROGRAMS", debug: 5_000, optimised: 100_000)

  @Test("answer as the model does", arguments: [0, 1, 2, 3])
  func programs(_ part: Int) async {
    let found = await OneThread.run { () -> String? in
      for number in stride(from: part, to: Self.count, by: 4) {
        let seed = RandomCases.firstSeed &+ UInt64(number)
        if let difference = await Self.difference(seed) {
          return "\(difference), TAILRACE_SEED=\(seed)"
        }
      }
      return nil
    }
    #expect(found == nil)
  }

  /// Describes a wrong answer of a program; `nil` if all are right.
  private static func difference(_ seed: UInt64) async -> String? {
    var generator = SeededGenerator(seed: seed)
    let program = Program(&generator, depth: 2)
    var model = ModelReader(program.script)
    for _ in 0..<Int.random(in: 2...8, using: &generator) {
      let question = Question(&generator)
      let (expected, answer) = (model.answer(question), await question.ask(program.list))
      if answer != expected {
        return "\(program.text): \(question): \(answer) and not \(expected)"
      }
      let evaluated = program.list.evaluatedPrefix
      guard evaluated.starts(with: model.read), model.elements.starts(with: evaluated) else {
        return "\(program.text): \(question): has \(evaluated), should have \(model.read)"
      }
    }
    return nil
  }

  @Test("the model tells a difference")
  func probe() async {
    var model = ModelReader(Script(events: [.element(1), .mishap(Mishap(position: 1))], end: nil))
    #expect(model.answer(.all) == .failed(Mishap(position: 1)))
    #expect(model.answer(.all) == .elements([1]))
    #expect(await Question.all.ask(LazyList<Int, any Error>([2])) != .elements([1]))
  }
}

/// The events of a list, in order: elements, and failures for now; then the end, or a failure for
/// good.
private struct Script: Sendable {
  enum Event: Sendable, CustomStringConvertible {
    case element(Int)
    case mishap(Mishap)

    var description: String {
      switch self {
      case .element(let element): "\(element)"
      case .mishap(let mishap): "!\(mishap.position)"
      }
    }
  }

  var events: [Event] = []
  var end: Mishap?

  var isSmooth: Bool {
    events.allSatisfy { if case .element = $0 { true } else { false } }
  }

  /// The script that a closure makes of each element.
  func mapping(_ body: (Int) -> [Event]) -> Script {
    Script(
      events: events.flatMap { event in
        if case .element(let element) = event { body(element) } else { [event] }
      }, end: end)
  }

  /// The events up to the first failure, and that failure.
  var untilFailure: (events: [Event], failure: Mishap?) {
    for (position, event) in events.enumerated() {
      if case .mishap(let mishap) = event { return (Array(events[..<position]), mishap) }
    }
    return (events, end)
  }

  /// The events up to the element for which a closure says something, which come instead of it.
  func stopping(_ end: (Int) -> (last: [Event], end: Mishap?)?) -> Script {
    for (position, event) in events.enumerated() {
      guard case .element(let element) = event, let end = end(element) else { continue }
      return Script(events: events[..<position] + end.last, end: end.end)
    }
    return self
  }

  func followed(by other: Script) -> Script {
    end == nil ? Script(events: events + other.events, end: other.end) : self
  }

  /// The script of an operator that gathers elements in a state.
  func gathering<State>(
    _ state: State, _ add: (inout State, Int) -> Int?, finish: (State) -> Int?
  ) -> Script {
    var state = state
    var script = mapping { add(&state, $0).map { [.element($0)] } ?? [] }
    if end == nil, let last = finish(state) { script.events.append(.element(last)) }
    return script
  }
}

private enum Answer: Equatable, CustomStringConvertible {
  case elements([Int])
  case failed(Mishap)
  case other(String)

  init(_ compute: () async throws -> [Int]) async {
    do { self = .elements(try await compute()) } catch let mishap as Mishap {
      self = .failed(mishap)
    } catch { self = .other("\(error)") }
  }

  var description: String {
    switch self {
    case .elements(let elements): "\(elements)"
    case .failed(let mishap): "failure \(mishap.position)"
    case .other(let text): text
    }
  }
}

private enum Question {
  case element(Int)
  case all
  case each
  case count
  case derived

  init(_ generator: inout SeededGenerator) {
    self =
      switch Int.random(in: 0...7, using: &generator) {
      case 0: .all
      case 1: .each
      case 2: .count
      case 3: .derived
      default: .element(Int.random(in: 0...8, using: &generator))
      }
  }

  func ask(_ list: LazyList<Int, any Error>) async -> Answer {
    await Answer {
      switch self {
      case .element(let position): try await list.element(at: position).map { [$0] } ?? []
      case .all: try await list.array()
      case .each: try await list.reduce(into: []) { $0.append($1) }
      case .count: [try await list.count()]
      case .derived: try await list.map { $0 }.filter { _ in true }.array()
      }
    }
  }
}

/// Reads a script as a list is read.
private struct ModelReader {
  private let script: Script
  private var next = 0
  /// The elements that have been read.
  private(set) var read: [Int] = []

  init(_ script: Script) { self.script = script }

  var elements: [Int] {
    script.events.compactMap { if case .element(let element) = $0 { element } else { nil } }
  }

  /// Reads until there are so many elements. Returns the failure that comes before, if one does.
  private mutating func read(_ count: Int) -> Mishap? {
    while read.count < count {
      guard next < script.events.count else { return script.end }
      defer { next += 1 }
      switch script.events[next] {
      case .element(let element): read.append(element)
      case .mishap(let mishap): return mishap
      }
    }
    return nil
  }

  mutating func answer(_ question: Question) -> Answer {
    if case .element(let position) = question {
      if let failure = read(position + 1) { return .failed(failure) }
      return .elements(position < read.count ? [read[position]] : [])
    }
    if let failure = read(.max) { return .failed(failure) }
    if case .count = question { return .elements([read.count]) }
    return .elements(read)
  }
}

/// A list, and what it should give.
private struct Program {
  typealias List = LazyList<Int, any Error>

  var list: List
  var script: Script
  var text: String

  init(_ generator: inout SeededGenerator, depth: Int) {
    self.init(source: &generator)
    for _ in 0..<Int.random(in: 0...5, using: &generator) { add(&generator, depth) }
  }

  /// A list that stumbles over a script.
  private init(source generator: inout SeededGenerator) {
    var script = Script()
    for position in 0..<Int.random(in: 0...9, using: &generator) {
      if Int.random(in: 0...4, using: &generator) == 0 {
        script.events.append(.mishap(Mishap(position: position)))
      }
      script.events.append(.element(Int.random(in: 0...5, using: &generator)))
    }
    if Bool.random(using: &generator) { script.end = Mishap(position: 100) }
    let player = Player(script.events)
    let kind = Int.random(in: 0...2, using: &generator)
    let events: List =
      switch kind {
      case 0: List(state: (), retryingFailures: true) { _ throws in try player.play() }
      case 1: List(state: (), retryingFailures: true) { _ async throws in try player.play() }
      default:
        List(state: (), retryingFailures: true) { _ async throws in
          await Task.yield()
          return try player.play()
        }
      }
    list = script.end.map { events + .failing($0) } ?? events
    self.script = script
    let end = script.end.map { "failure \($0.position)" } ?? "end"
    text = "\(["plain", "async", "suspending"][kind]) \(script.events), \(end)"
  }

  private mutating func add(_ generator: inout SeededGenerator, _ depth: Int) {
    let number = Int.random(in: 0...5, using: &generator)
    let some = Int.random(in: 1...4, using: &generator)
    let isAsync = Bool.random(using: &generator)
    let operation = Int.random(in: 0...24, using: &generator)
    text += "; \(operation)(\(number), \(some)\(isAsync ? ", async" : ""))"
    switch operation {
    case 0...4: recover(operation, number, isAsync, &generator, depth)
    case 5...8: fail(operation, number, some, isAsync)
    case 9...16: slice(operation, number, some)
    default: combine(operation, number, some, isAsync, &generator, depth)
    }
  }

  private mutating func recover(
    _ operation: Int, _ number: Int, _ isAsync: Bool, _ generator: inout SeededGenerator,
    _ depth: Int
  ) {
    let (events, failure) = script.untilFailure
    switch operation {
    case 0:
      guard depth > 0 else { return }
      let other = Program(&generator, depth: depth - 1)
      text += " { \(other.text) }"
      let handled = other.list
      list =
        isAsync
        ? list.catch { _ async in
          await Task.yield()
          return handled
        } : list.catch { _ in handled }
      if failure != nil { script = Script(events: events).followed(by: other.script) }
    case 1:
      list = list.replacingFailure(with: number).throwingCancellation
      script = Script(events: failure == nil ? events : events + [.element(number)])
    case 2:
      list = list.endingAtFailure().throwingCancellation
      script = Script(events: events)
    case 3:
      list =
        list.mapFailure { failure in
          Mishap(position: ((failure as? Mishap)?.position ?? 0) + 1)
        }.throwingCancellation
      script.events = script.events.map { event in
        if case .mishap(let mishap) = event {
          .mishap(Mishap(position: mishap.position + 1))
        } else {
          event
        }
      }
      script.end = script.end.map { Mishap(position: $0.position + 1) }
    default:
      list = list.catch { _ -> List in throw Mishap(position: number) }
      if failure != nil { script = Script(events: events, end: Mishap(position: number)) }
    }
  }

  private mutating func fail(_ operation: Int, _ number: Int, _ some: Int, _ isAsync: Bool) {
    let stumbles = [Script.Event](repeating: .mishap(Mishap(position: 50)), count: some)
    switch operation {
    case 5:
      let check = { @Sendable (element: Int) throws -> Int in
        if element == number { throw Mishap(position: 60) }
        return element + 1
      }
      list =
        isAsync
        ? list.map { element async throws in try check(element) } : list.map { try check($0) }
      script = script.stopping { $0 == number ? ([], Mishap(position: 60)) : nil }
        .mapping { [.element($0 + 1)] }
    case 6:
      let stumble = Stumble(at: number, some)
      list =
        isAsync
        ? list.map(retryingFailures: true) { element async throws in
          await Task.yield()
          return try stumble.pass(element)
        } : list.map(retryingFailures: true) { try stumble.pass($0) }
      stumbling(number, stumbles)
    case 7:
      let stumble = Stumble(at: number, some)
      list =
        isAsync
        ? list.map(retryingFailures: true) { element async throws in
          try stumble.pass(element) % 2 == 1 ? element : nil
        }.compacted()
        : list.map(retryingFailures: true) { try stumble.pass($0) % 2 == 1 ? $0 : nil }.compacted()
      stumbling(number, stumbles)
      script = script.mapping { $0 % 2 == 1 ? [.element($0)] : [] }
    default:
      guard script.isSmooth else { return }
      let stumble = Stumble(at: number, some)
      let isStumbling = script.events.contains {
        if case .element(number) = $0 { true } else { false }
      }
      // A closure that fails ahead of its reader is told to nobody, and the model knows nothing of time. So where
      // one fails, none runs ahead.
      list = list.concurrentMap(limit: isStumbling ? 1 : some, retryingFailures: true) { element in
        if isAsync { await Task.yield() }
        return try stumble.pass(element)
      }
      stumbling(number, stumbles)
    }
  }

  private init(list: List, script: Script, text: String) {
    (self.list, self.script, self.text) = (list, script, text)
  }

  /// The first time that an element comes, it fails for now.
  private mutating func stumbling(_ number: Int, _ stumbles: [Script.Event]) {
    var stumbles = stumbles
    script = script.mapping { element in
      guard element == number else { return [.element(element)] }
      defer { stumbles = [] }
      return stumbles + [.element(element)]
    }
  }

  private mutating func slice(_ operation: Int, _ number: Int, _ some: Int) {
    switch operation {
    case 9:
      list = list.prefix(number)
      var rest = number
      script =
        number == 0
        ? Script()
        : script.stopping {
          rest -= 1
          return rest == 0 ? ([.element($0)], nil) : nil
        }
    case 10:
      list = list.dropFirst(some)
      var rest = some
      script = script.mapping {
        rest -= 1
        return rest >= 0 ? [] : [.element($0)]
      }
    case 11:
      list = list.prefix { $0 != number }
      script = script.stopping { $0 == number ? ([], nil) : nil }
    case 12:
      list = list.drop { $0 != number }
      var isDropping = true
      script = script.mapping {
        isDropping = isDropping && $0 != number
        return isDropping ? [] : [.element($0)]
      }
    case 13:
      list = list.dropLast(some)
      script = script.gathering([Int]()) { held, element in
        held.append(element)
        return held.count > some ? held.removeFirst() : nil
      } finish: { _ in
        nil
      }
    case 14:
      list = list.suffix(some)
      var last: [Int] = []
      var stumbles = script.mapping {
        last = (last + [$0]).suffix(some)
        return []
      }
      if script.end == nil { stumbles.events += last.map { .element($0) } }
      script = stumbles
    case 15:
      list = list.uniqued()
      var seen: Set<Int> = []
      script = script.mapping { seen.insert($0).inserted ? [.element($0)] : [] }
    default:
      list = list.map { $0 == number ? nil : $0 }.compacted()
      script = script.mapping { $0 == number ? [] : [.element($0)] }
    }
  }

  private mutating func combine(
    _ operation: Int, _ number: Int, _ some: Int, _ isAsync: Bool,
    _ generator: inout SeededGenerator, _ depth: Int
  ) {
    switch operation {
    case 17:
      list = list.windows(ofCount: some).map { $0.reduce(0) { $0 + $1 } }
      script = script.gathering([Int]()) { window, element in
        window = (window + [element]).suffix(some)
        return window.count == some ? window.reduce(0, +) : nil
      } finish: { _ in
        nil
      }
    case 18:
      list = list.chunked { $0 % 2 == $1 % 2 }.map { $0.reduce(0) { $0 + $1 } }
      script = script.gathering([Int]()) { chunk, element in
        guard let last = chunk.last, last % 2 != element % 2 else {
          chunk.append(element)
          return nil
        }
        defer { chunk = [element] }
        return chunk.reduce(0, +)
      } finish: {
        $0.isEmpty ? nil : $0.reduce(0, +)
      }
    case 19:
      list = list.chunks(ofCount: some).map { $0.reduce(0) { $0 + $1 } }
      script = script.gathering([Int]()) { chunk, element in
        chunk.append(element)
        guard chunk.count == some else { return nil }
        defer { chunk = [] }
        return chunk.reduce(0, +)
      } finish: {
        $0.isEmpty ? nil : $0.reduce(0, +)
      }
    case 20:
      guard depth > 0 else { return }
      let other = Program(&generator, depth: depth - 1)
      text += " + { \(other.text) }"
      list = list + other.list
      script = script.followed(by: other.script)
    case 21:
      list = list.flatMap { [$0, number] }
      script = script.mapping { [.element($0), .element(number)] }
    case 22:
      list = zip(list, List(0...)).map { $0 + $1 }
      var position = -1
      script = script.mapping {
        position += 1
        return [.element($0 + position)]
      }
    case 23:
      list = list.interspersed(with: number)
      var isFirst = true
      script = script.mapping {
        defer { isFirst = false }
        return isFirst ? [.element($0)] : [.element(number), .element($0)]
      }
    default:
      list =
        isAsync
        ? list.map { element async in
          await Task.yield()
          return element + some
        } : list.onEach { _ in }.map { $0 + some }
      script = script.mapping { [.element($0 + some)] }
    }
  }
}

/// Plays events, one for each attempt.
private final class Player: Sendable {
  private let attempts = Probe<Int>()
  private let events: [Script.Event]

  init(_ events: [Script.Event]) { self.events = events }

  func play() throws -> Int? {
    let position = attempts.count
    guard position < events.count else { return nil }
    attempts.record(position)
    switch events[position] {
    case .element(let element): return element
    case .mishap(let mishap): throw mishap
    }
  }
}

/// Fails so many times for one element.
private final class Stumble: Sendable {
  private let failures = Probe<Int>()
  private let element: Int
  private let count: Int

  init(at element: Int, _ count: Int) { (self.element, self.count) = (element, count) }

  func pass(_ element: Int) throws -> Int {
    guard element == self.element, failures.count < count else { return element }
    failures.record(element)
    throw Mishap(position: 50)
  }
}
