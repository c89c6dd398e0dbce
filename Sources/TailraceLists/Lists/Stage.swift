/// A source and the state of the operator that pulls from it.
@usableFromInline
package struct Pulling<Element: Sendable, State> {
  @usableFromInline package var source: Cursor<Element>
  @usableFromInline package var state: State

  @inlinable
  init<Failure: Error>(_ list: consuming LazyList<Element, Failure>, _ state: consuming State) {
    source = Cursor(list)
    self.state = state
  }
}

// The pulling interface, with which every operator is written.
extension LazyList {
  /// The list whose elements `pull` makes from this one.
  ///
  /// `pull` must be restartable: if `source.next()` gives nothing it returns
  /// `.nothing(source.takeAbsence())`, and is run again later with the state that it has recorded.
  @_alwaysEmitIntoClient @inline(__always)
  consuming func stage<State, Output>(
    _ state: consuming State, stage: StageName = #function,
    _ pull: @escaping (inout State, inout Cursor<Element>) -> Step<Output>
  ) -> LazyList<Output, Failure> {
    let owned = Owned(Pulling(self, state))
    return LazyList<Output, Failure>(
      upstream: owned, stage: stage,
      stepping: { demand in
        owned.state.source.demand = demand.forOne
        return pull(&owned.state.state, &owned.state.source)
      })
  }

  /// The list whose elements an asynchronous `pull` makes from this one, in a task of the list.
  ///
  /// It pulls elements with `steps.pull(&source)`, and is restartable at each: if there is none, it
  /// returns `.nothing(source.takeAbsence())`.
  @_alwaysEmitIntoClient @inline(__always)
  consuming func stageInTask<State, Output>(
    _ state: consuming State, stage: StageName = #function,
    _ pull:
      nonisolated(nonsending) @escaping (
        inout State, inout Cursor<Element>, _ steps: AsyncSteps<Output>
      ) async -> Step<Output>
  ) -> LazyList<Output, Failure> {
    let owned = Owned(Pulling(self, state))
    return LazyList<Output, Failure>(
      upstream: owned, stage: stage,
      inTask: { steps in
        await steps.take { await pull(&owned.state.state, &owned.state.source, steps) }
      })
  }

  /// The list that a rule makes: a step for each element.
  ///
  /// With `retryingFailures` an element whose step has failed is put back, and the next demand takes
  /// the step again.
  ///
  /// Inlined into the operator's caller, so that its closures are part of the sink ("Collecting").
  @_alwaysEmitIntoClient @inline(__always)
  consuming func transform<State, Output>(
    _ state: consuming State, retryingFailures: Bool = false, stage: StageName = #function,
    _ rule: @escaping @Sendable (inout State, Element) throws(Failure) -> Step<Output>
  ) -> LazyList<Output, Failure> {
    if retryingFailures { return retrying(state, stage: stage, rule) }
    let source = Owned(Cursor(self))
    let state = Owned(state)
    return LazyList<Output, Failure>(
      upstream: source, stage: stage,
      producer: { (demand, sink) in
        var over: Ending<Output>?
        var patience = Patience()
        // The source is asked for single elements: the rule may end the list.
        let ending: Ending<Output> = source.state.push(demand.forOne) {
          element in
          do throws(Failure) {
            switch try rule(&state.state, element) {
            case .element(let output): return sink(output)
            case .skip: return patience.lasts()
            case .last(let output):
              _ = sink(output)
              over = .nothing(.end)
            case .become(let list): over = .become(list)
            case .nothing(let absence): over = .nothing(absence)
            }
          } catch {
            over = .nothing(.failed(error))
          }
          return false
        }
        return over ?? ending
      })
  }

  /// As `transform`, pulling: a push could not put an element back.
  @_alwaysEmitIntoClient
  consuming func retrying<State, Output>(
    _ state: consuming State, stage: StageName,
    _ rule: @escaping @Sendable (inout State, Element) throws(Failure) -> Step<Output>
  ) -> LazyList<Output, Failure> {
    self.stage(state, stage: stage) { (state, source) in
      var patience = Patience()
      while let element = source.next() {
        do throws(Failure) {
          let step = try rule(&state, element)
          guard case .skip = step else { return step }
        } catch {
          source.pushBack(element)
          return .nothing(.failedTransiently(error))
        }
        if !patience.lasts() { return .skip }
      }
      return .nothing(source.takeAbsence())
    }
  }

  /// The list that an asynchronous rule makes: a step for each element, in a task of the list.
  @_alwaysEmitIntoClient @inline(__always)
  consuming func transformInTask<State, Output>(
    _ state: consuming State, retryingFailures: Bool = false, stage: StageName = #function,
    _ rule:
      nonisolated(nonsending) @escaping @Sendable (inout State, Element) async throws(Failure) ->
      Step<Output>
  ) -> LazyList<Output, Failure> {
    stageInTask(state, stage: stage) { (state, source, steps) async in
      var patience = Patience()
      while let element = steps.pull(&source) {
        do throws(Failure) {
          let step = try await rule(&state, element)
          guard case .skip = step else { return step }
        } catch {
          if retryingFailures { source.pushBack(element) }
          return .nothing(.fate(error, retryingFailures))
        }
        if Task.isCancelled { return .nothing(.cancelled) }
        if !patience.lasts() { return .skip }
      }
      return .nothing(source.takeAbsence())
    }
  }

  /// This list with failures of any type: the engine's form of every list, also for operators whose
  /// closures throw.
  @_alwaysEmitIntoClient
  consuming func widened() -> LazyList<Element, any Error> { retyped() }

  /// The same cells, in a list with another failure type. Failures in them must be of that type.
  @_alwaysEmitIntoClient
  consuming func retyped<E: Error>() -> LazyList<Element, E> {
    LazyList<Element, E>(segment: segment, offset: offset)
  }
}

extension Cursor {
  /// A cursor at a list's head.
  @_alwaysEmitIntoClient @inline(__always)
  package init<Failure: Error>(
    _ list: consuming LazyList<Element, Failure>, takesOver: Bool = true,
    stopsWhenCancelled: Bool = false, wants amount: Amount = .one, isInTask: Bool = false
  ) {
    self.init(
      at: list.place, takesOver: takesOver, stopsWhenCancelled: stopsWhenCancelled, wants: amount,
      isInTask: isInTask)
  }

  /// The result of a step without an element: at the end, one that is made last.
  @_alwaysEmitIntoClient
  mutating func ending<Output>(with last: @autoclosure () -> Output?) -> Step<Output> {
    let absence = takeAbsence()
    if case .end = absence, let output = last() { return .last(output) }
    return .nothing(absence)
  }

  /// Puts an element back before the unpulled rest.
  @_alwaysEmitIntoClient @inline(never)
  mutating func pushBack(_ element: Element) {
    let wasTakingOver = takesOver
    putBack()
    // Without these the cell of each former attempt would stay, empty.
    skipLinks()
    let list = LazyList<Element, any Error>(rest).prepending(element)
    takesOver = wasTakingOver
    move(to: list.segment, at: list.offset)
  }
}

/// How long a search without a find goes on before it pauses, so that a cancelled reader can leave
/// it.
@usableFromInline
struct Patience {
  @usableFromInline var rejected = 0

  @inlinable
  init() {}

  /// Another element was rejected.
  @inlinable @inline(__always)
  mutating func lasts() -> Bool {
    rejected &+= 1
    return rejected & 1023 != 0
  }
}
