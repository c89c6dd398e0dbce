/// Why a pull gave no element.
@usableFromInline
enum Absence: Sendable {
  /// There is none, and there never will be.
  case end
  /// The element's fate, remembered at its position.
  case failed(any Error)
  /// This attempt failed; the next demand tries again, with the same state.
  case failedTransiently(any Error)
  /// Another cell is needed first. Waiting for it suspends, or unwinds the stack.
  case missing(MissingCell)
  /// It can no longer be computed: it belongs to a recursive definition whose list has been
  /// released.
  case released
  /// The reader's task is cancelled, and the element is not evaluated.
  case cancelled
  /// A long search paused: ask again.
  case paused
}

extension Absence {
  /// The absence after a step that threw.
  @inlinable
  static func fate(_ failure: any Error, _ retryingFailures: Bool) -> Absence {
    retryingFailures ? .failedTransiently(failure) : .failed(failure)
  }
}

extension Error {
  /// `CancellationError` as this failure type; `nil` if it cannot be one.
  @inlinable @inline(__always)
  static var cancellation: Self? {
    // Specialised code answers the comparison when it is compiled; the cast is a call ("Collecting").
    Self.self == Never.self ? nil : CancellationError() as? Self
  }

  /// A failure found in cells, as the failure type of their list.
  ///
  /// The closures of a list throw no other type. But an element that needs itself, and a step that
  /// has cancelled its own task, fail in every list: if the list cannot throw that, it traps.
  @inlinable
  static func known(_ failure: any Error) -> Self {
    guard let known = failure as? Self else { Self.trap(on: failure) }
    return known
  }

  @usableFromInline
  static func trap(on failure: any Error) -> Never {
    switch failure {
    case let cycle as CyclicEvaluationError: fatalError(cycle.description)
    case is CancellationError:
      fatalError("a step of a LazyList that cannot fail has cancelled its own task")
    default: fatalError("a LazyList that fails with \(Self.self) was given \(failure)")
    }
  }
}

/// The result of a step, and of a rule for one element of the source: at most one element, and how
/// the list goes on.
@usableFromInline
enum Step<Element: Sendable>: Sendable {
  /// One more element; there may be others.
  case element(Element)
  /// No element this time; there may be others. A step that searches pauses with it now and then.
  case skip
  /// One more element, known to be the last: the producer is released with it.
  case last(Element)
  /// No element; the rest of this list is that list. Its cells are shared, not copied.
  case become(LazyList<Element, any Error>)
  /// No element, because of an absence.
  case nothing(Absence)

  @inlinable
  init(_ element: Element?) {
    self = if let element { .element(element) } else { .nothing(.end) }
  }
}

/// Why a producer returned.
@usableFromInline
enum Ending<Element: Sendable>: Sendable {
  /// The sink wanted no more; or a long search paused, without an element.
  case stopped
  /// The rest of this list is that list. Its cells are shared, not copied.
  case become(LazyList<Element, any Error>)
  /// There are no more elements for now, or for ever.
  case nothing(Absence)
}

/// The result of a demand at the front of a list.
@usableFromInline
enum DemandOutcome {
  /// There is something new to read in the segment.
  case new
  /// There are new cells, and after them a failed attempt.
  case failedBehind(FailedAttempt)
  /// There is nothing new; the absence says why.
  case nothing
}

/// How much a demand wants. `Segment.end(after:_:)` makes a position of it.
@usableFromInline
enum Amount: Sendable {
  /// The next element.
  case one
  /// Every element: sources may compute a segment at a time.
  case all
}

/// The properties of a demand, for the producers that it runs.
///
/// Two words: every stage passes one on for every element, in two registers.
@usableFromInline
struct Demand: Sendable {
  /// The failed attempt that the reader has waited for. The reader retains it while it pulls; a
  /// counted reference would cost a tenth of a first pass.
  // Valid only during the pull that passed it down: a stage overwrites its copy at each pull.
  @usableFromInline var told: Unmanaged<FailedAttempt>?
  /// The depth, and in the two lowest bits the amount and `isOutermost`.
  @usableFromInline var bits: Int

  @inlinable static var wantsAll: Int { 1 }
  @inlinable static var outermost: Int { 2 }
  /// One step of depth.
  @inlinable static var level: Int { 4 }

  @inlinable
  init(_ amount: Amount = .one) {
    bits = fullDepth &* Self.level
    self.amount = amount
  }

  /// How many more producers may call one another before the stack is unwound.
  @inlinable var depth: Int {
    get { bits / Self.level }
    set { bits = newValue &* Self.level | bits & (Self.level - 1) }
  }

  @inlinable var amount: Amount {
    get { bits & Self.wantsAll == 0 ? .one : .all }
    set { bits = newValue == .all ? bits | Self.wantsAll : bits & ~Self.wantsAll }
  }

  /// The demand is known to come from no step of a list: no step drives anything below it.
  @inlinable var isOutermost: Bool {
    get { bits & Self.outermost != 0 }
    set { bits = newValue ? bits | Self.outermost : bits & ~Self.outermost }
  }

  /// The demand to pass on, one call deeper.
  @inlinable var deeper: Demand {
    var deeper = self
    deeper.bits &-= Self.level
    return deeper
  }

  /// The same demand for one element: a stage gives it to its sources.
  @inlinable var forOne: Demand {
    var one = self
    one.amount = .one
    return one
  }

  /// The failure that the reader waited for, if it was at this place.
  @inlinable @inline(__always)
  func failure(at place: @autoclosure () -> AnyObject, _ position: Int) -> (any Error)? {
    guard let told else { return nil }
    return told._withUnsafeGuaranteedRef { $0.give(at: place(), position) }
  }
}

/// The number of producers that may call one another before the stack is unwound and the rest is
/// evaluated from its top.
@usableFromInline
let fullDepth = 64

/// The closure that computes a list's next elements, and passes each to a sink.
///
/// The sink says whether it wants another. If not, the producer returns at once, with `stopped`, or
/// with the end if it knows that there is no other. A sink that wants one element pulls. A sink
/// that wants all is pushed to, with one call for each stage and element: only so can a chain of
/// stages keep up with a loop ("Collecting").
///
/// A producer is *restartable*: when it returns for a missing cell it has recorded all that it
/// consumed, and continues from there when run again. So one synchronous definition of an operator
/// serves sources that suspend and sources that do not.
///
/// The closure is in a class because a call through a borrowed object's `let` costs no reference
/// counting; a closure loaded from a variable is retained for each call ("First pass").
// Guard: the claim of the list that it computes; or the cursor that took it over.
// May touch it: `Evaluator.step`, and that cursor.
@usableFromInline
final class Producer<Element: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Sink = (Element) -> Bool
  @usableFromInline typealias Run = (_ demand: Demand, _ sink: Sink) -> Ending<Element>

  @usableFromInline let run: Run
  /// The rest of a concatenation, for others to continue with.
  @usableFromInline let concatenation: Concatenation<Element>?
  /// The stage's name, and its source. Read only by inspection.
  @usableFromInline let stage: StageName?
  @usableFromInline let upstream: AnyObject?
  /// Whether a demand for one element may be given several, because making them has no effect.
  @usableFromInline let givesAhead: Bool

  @inlinable
  init(
    _ run: @escaping Run, of concatenation: Concatenation<Element>? = nil,
    stage: StageName? = nil, upstream: AnyObject? = nil, givesAhead: Bool = false
  ) {
    self.run = run
    self.concatenation = concatenation
    self.givesAhead = givesAhead
    self.stage = stage
    self.upstream = upstream
  }

  /// A producer made from a single step.
  @inlinable @inline(__always)
  convenience init(
    stage: StageName? = nil, upstream: AnyObject? = nil,
    stepping step: @escaping (_ demand: Demand) -> Step<Element>
  ) {
    self.init(
      { (demand, sink) in
        while true {
          switch step(demand) {
          case .element(let element): if !sink(element) { return .stopped }
          case .last(let element):
            _ = sink(element)
            return .nothing(.end)
          case .become(let list): return .become(list)
          case .skip, .nothing(.paused): return .stopped
          case .nothing(let absence): return .nothing(absence)
          }
        }
      }, stage: stage, upstream: upstream)
  }

  @inlinable @inline(never)
  func callAsFunction(_ demand: Demand, _ sink: Sink) -> Ending<Element> {
    run(demand, sink)
  }

  /// One step.
  @inlinable
  func step(_ demand: Demand) -> Step<Element> {
    var element: Element?
    let ending = self(demand) {
      element = .some($0)
      return false
    }
    switch ending {
    case .stopped: return element.map { .element($0) } ?? .skip
    case .nothing(.end): return element.map { .last($0) } ?? .nothing(.end)
    case .nothing(let absence): return element.map { .element($0) } ?? .nothing(absence)
    case .become(let list): return .become(list)
    }
  }
}

/// Mutable state owned by a producer's closure.
// Guard: only one producer reaches it, so the producer's guard is this one's.
// May touch it: that producer's closure. Its accesses never overlap; the dynamic check of that
// costs 10 ns an element ("First pass").
@usableFromInline
final class Owned<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline var state: State

  @inlinable
  init(_ state: consuming State) { self.state = state }
}
