// Several elements as one.
extension LazyList {
  /// Returns arrays of a number of elements in a row, each of which begins one element later than
  /// the one before.
  ///
  /// ```swift
  /// await LazyList(1...4).windows(ofCount: 2).array()   // [[1, 2], [2, 3], [3, 4]]
  /// ```
  /// ![From the second element on, a window with each.](marbles-windows)
  ///
  /// - Laziness: stepwise; the first window needs `count` elements. Fewer give no window.
  /// - Complexity: O(`count`) for each window.
  /// - Parameters:
  ///   - count: 1 or more; anything else is a programmer's error and traps.
  ///   - file: the caller's, for the words of a trap.
  ///   - line: the caller's, too.
  @inlinable
  public consuming func windows(
    ofCount count: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> LazyList<[Element], Failure> {
    require(
      count > 0, "LazyList.windows(ofCount:) takes a count of 1 or more, not \(count)", file: file,
      line: line)
    return transform([Element]()) { (window, element) throws(Failure) in
      if window.count == count { window.removeFirst() }
      window.append(element)
      return window.count == count ? .emit(window) : .skip
    }
  }

  /// Returns the elements in arrays, each as long as a predicate holds between neighbours.
  ///
  /// ```swift
  /// await LazyList([1, 2, 1, 3]).chunked { $0 < $1 }.array()   // [[1, 2], [1, 3]]
  /// ```
  /// ![A chunk comes with the first element of the next one.](marbles-chunked)
  ///
  /// - Laziness: searching, for the element that begins the next array.
  @inlinable
  public consuming func chunked(
    @_CheckedAlone<Bool> by belongInSameGroup: @escaping @Sendable (Element, Element) -> Bool
  ) -> LazyList<[Element], Failure> {
    gather([Element]()) { (chunk, element) throws(Failure) in
      guard let last = chunk.last, !belongInSameGroup(last, element) else {
        chunk.append(element)
        return nil
      }
      return chunk.replaced(with: [element])
    } finish: {
      $0.isEmpty ? nil : $0
    }
  }

  /// Returns the elements in arrays, each as long as a throwing predicate holds between neighbours.
  @inlinable @_disfavoredOverload
  public consuming func chunked(
    @_CheckedAlone<Bool> by belongInSameGroup: @escaping @Sendable (Element, Element) throws -> Bool
  ) -> LazyList<[Element], any Error> {
    widened().gather([Element]()) { (chunk, element) throws in
      guard let last = chunk.last, !(try belongInSameGroup(last, element)) else {
        chunk.append(element)
        return nil
      }
      return chunk.replaced(with: [element])
    } finish: {
      $0.isEmpty ? nil : $0
    }
  }

  /// Returns the elements in arrays, each as long as an asynchronous predicate holds between
  /// neighbours.
  @inlinable
  public consuming func chunked(
    @_CheckedAlone<Bool> by belongInSameGroup: @escaping @Sendable (Element, Element) async -> Bool
  ) -> LazyList<[Element], Failure> {
    gatherInTask([Element]()) { (chunk, element) async throws(Failure) in
      guard let last = chunk.last, !(await belongInSameGroup(last, element)) else {
        chunk.append(element)
        return nil
      }
      return chunk.replaced(with: [element])
    } finish: {
      $0.isEmpty ? nil : $0
    }
  }

  /// Returns the elements in arrays, each as long as an asynchronous throwing predicate holds
  /// between neighbours.
  @inlinable
  public consuming func chunked(
    @_CheckedAlone<Bool> by belongInSameGroup:
      @escaping @Sendable (Element, Element) async throws -> Bool
  ) -> LazyList<[Element], any Error> {
    widened().gatherInTask([Element]()) { (chunk, element) async throws in
      guard let last = chunk.last, !(try await belongInSameGroup(last, element)) else {
        chunk.append(element)
        return nil
      }
      return chunk.replaced(with: [element])
    } finish: {
      $0.isEmpty ? nil : $0
    }
  }

  /// Returns the elements in arrays, each as long as a closure gives the same, with what it gave.
  ///
  /// ```swift
  /// await LazyList(["ada", "bob", "al"]).chunked(on: \.count).array()
  /// // [(3, ["ada", "bob"]), (2, ["al"])]
  /// ```
  ///
  /// - Laziness: searching, for the element that begins the next array.
  @inlinable
  public consuming func chunked<Subject: Equatable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) -> Subject
  ) -> LazyList<(Subject, [Element]), Failure> {
    gather((Subject, [Element])?.none) { (chunk, element) throws(Failure) in
      chunk.add(element, subject(element))
    } finish: {
      $0
    }
  }

  /// Returns the elements in arrays, each as long as a throwing closure gives the same, with what
  /// it gave.
  @inlinable @_disfavoredOverload
  public consuming func chunked<Subject: Equatable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) throws -> Subject
  ) -> LazyList<(Subject, [Element]), any Error> {
    widened().gather((Subject, [Element])?.none) { (chunk, element) throws in
      chunk.add(element, try subject(element))
    } finish: {
      $0
    }
  }

  /// Returns the elements in arrays, each as long as an asynchronous closure gives the same, with
  /// what it gave.
  @inlinable
  public consuming func chunked<Subject: Equatable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) async -> Subject
  ) -> LazyList<(Subject, [Element]), Failure> {
    gatherInTask((Subject, [Element])?.none) { (chunk, element) async throws(Failure) in
      let subject = await subject(element)
      return chunk.add(element, subject)
    } finish: {
      $0
    }
  }

  /// Returns the elements in arrays, each as long as an asynchronous throwing closure gives the
  /// same, with what it gave.
  @inlinable
  public consuming func chunked<Subject: Equatable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) async throws -> Subject
  ) -> LazyList<(Subject, [Element]), any Error> {
    widened().gatherInTask((Subject, [Element])?.none) { (chunk, element) async throws in
      let subject = try await subject(element)
      return chunk.add(element, subject)
    } finish: {
      $0
    }
  }
}

// MARK: Bodies

extension LazyList {
  /// The list of what elements are gathered into, when a closure says that something is complete, and of
  /// what is left at the end.
  @inlinable
  consuming func gather<State, Output>(
    _ state: consuming State, stage: StageName = #function,
    _ add: @escaping @Sendable (inout State, Element) throws(Failure) -> Output?,
    finish: @escaping @Sendable (State) -> Output?
  ) -> LazyList<Output, Failure> {
    self.stage(state, stage: stage) { (state, source) in
      var patience = Patience()
      while let element = source.next() {
        do throws(Failure) {
          if let output = try add(&state, element) { return .element(output) }
        } catch {
          return .nothing(.failed(error))
        }
        if !patience.lasts() { return .nothing(.paused) }
      }
      let absence = source.absence
      if case .end = absence, let output = finish(state) { return .last(output) }
      return .nothing(absence)
    }
  }

  /// As `gather`, with an asynchronous closure, in a task that belongs to the list.
  @inlinable
  consuming func gatherInTask<State, Output>(
    _ state: consuming State, stage: StageName = #function,
    _ add:
      nonisolated(nonsending) @escaping @Sendable (inout State, Element) async throws(Failure) ->
      Output?,
    finish: @escaping @Sendable (State) -> Output?
  ) -> LazyList<Output, Failure> {
    let owned = Owned(Pulling(self, state, drives: true))
    return LazyList<Output, Failure>(
      upstream: owned, stage: stage,
      inTask: { steps in
        await steps.take {
          while let element = await owned.state.source.nextInStep() {
            do throws(Failure) {
              if let output = try await add(&owned.state.state, element) { return .element(output) }
            } catch {
              return .nothing(.failed(error))
            }
            if Task.isCancelled { return .nothing(.cancelled) }
          }
          let absence = owned.state.source.absence
          if case .end = absence, let output = finish(owned.state.state) { return .last(output) }
          return .nothing(absence)
        }
      })
  }
}

extension Array {
  /// What was there before.
  @inlinable
  mutating func replaced(with elements: [Element]) -> [Element] {
    defer { self = elements }
    return self
  }
}

extension Optional {
  /// One more element, and what it has in common with others. Gives the array before it, if it is the
  /// first of another one.
  @inlinable
  mutating func add<Subject: Equatable, Element>(
    _ element: Element, _ subject: Subject
  ) -> (Subject, [Element])? where Wrapped == (Subject, [Element]) {
    guard self?.0 == subject else {
      defer { self = (subject, [element]) }
      return self
    }
    self?.1.append(element)
    return nil
  }
}
