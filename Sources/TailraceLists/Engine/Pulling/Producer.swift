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
package final class Producer<Element: Sendable>: @unchecked Sendable {
  @usableFromInline typealias Sink = (Element) -> Bool
  @usableFromInline typealias Run = (_ demand: Demand, _ sink: Sink) -> Ending<Element>

  @usableFromInline let run: Run
  /// The rest of a concatenation, for others to continue with.
  @usableFromInline let concatenation: Concatenation<Element>?
  /// The stage's name, and its source. Read only by inspection.
  @usableFromInline package let stage: StageName?
  @usableFromInline package let upstream: AnyObject?
  /// Whether a demand for one element may be given several, because making them has no effect.
  @usableFromInline let givesAhead: Bool
  /// Whether the closure reports its runs to the ``Recorder``.
  @usableFromInline let isRecorded: Bool
  /// The steps that the closure takes, if they are asynchronous.
  @usableFromInline let steps: AsyncSteps<Element>?

  @inlinable
  init(
    _ run: @escaping Run, of concatenation: Concatenation<Element>? = nil,
    stage: StageName? = nil, upstream: AnyObject? = nil, givesAhead: Bool = false,
    steps: AsyncSteps<Element>? = nil, isRecorded: Bool = false
  ) {
    self.run = run
    self.steps = steps
    self.isRecorded = isRecorded
    self.concatenation = concatenation
    self.givesAhead = givesAhead
    self.stage = stage
    self.upstream = upstream
  }

  @inlinable
  deinit { steps?.abandon() }

  /// A producer of asynchronous steps.
  @inlinable
  package convenience init(_ steps: AsyncSteps<Element>, upstream: AnyObject? = nil) {
    self.init(
      { (demand, sink) in steps.next(demand, sink) }, stage: steps.stage, upstream: upstream,
      steps: steps)
  }

  /// A producer made from a single step.
  @inlinable @inline(__always)
  package convenience init(
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
}

/// Mutable state owned by a producer's closure.
// Guard: only one producer reaches it, so the producer's guard is this one's.
// May touch it: that producer's closure. Its accesses never overlap; the dynamic check of that
// costs 10 ns an element ("First pass").
@usableFromInline
package final class Owned<State>: @unchecked Sendable {
  @exclusivity(unchecked) @usableFromInline package var state: State

  @inlinable
  package init(_ state: consuming State) { self.state = state }
}
