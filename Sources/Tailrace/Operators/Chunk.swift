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
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
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
    gather(by: { $0.add($1, $2) }) { $0?.last.satisfies(belongInSameGroup, with: $1) ?? false }
  }

  /// Returns the elements in arrays, each as long as a throwing predicate holds between neighbours.
  @inlinable @_disfavoredOverload
  public consuming func chunked(
    @_CheckedAlone<Bool> by belongInSameGroup: @escaping @Sendable (Element, Element) throws -> Bool
  ) -> LazyList<[Element], any Error> {
    widened().gather(by: { $0.add($1, $2) }) {
      try $0?.last.satisfies(belongInSameGroup, with: $1) ?? false
    }
  }

  /// Returns the elements in arrays, each as long as an asynchronous predicate holds between
  /// neighbours.
  @inlinable
  public consuming func chunked(
    @_CheckedAlone<Bool> by belongInSameGroup: @escaping @Sendable (Element, Element) async -> Bool
  ) -> LazyList<[Element], Failure> {
    gatherInTask(by: { $0.add($1, $2) }) {
      await $0?.last.satisfies(belongInSameGroup, with: $1) ?? false
    }
  }

  /// Returns the elements in arrays, each as long as an asynchronous throwing predicate holds
  /// between neighbours.
  @inlinable
  public consuming func chunked(
    @_CheckedAlone<Bool> by belongInSameGroup:
      @escaping @Sendable (Element, Element) async throws -> Bool
  ) -> LazyList<[Element], any Error> {
    widened().gatherInTask(by: { $0.add($1, $2) }) {
      try await $0?.last.satisfies(belongInSameGroup, with: $1) ?? false
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
    gather(by: { $0.add($1, $2) }) { subject($1) }
  }

  /// Returns the elements in arrays, each as long as a throwing closure gives the same, with what
  /// it gave.
  @inlinable @_disfavoredOverload
  public consuming func chunked<Subject: Equatable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) throws -> Subject
  ) -> LazyList<(Subject, [Element]), any Error> {
    widened().gather(by: { $0.add($1, $2) }) { try subject($1) }
  }

  /// Returns the elements in arrays, each as long as an asynchronous closure gives the same, with
  /// what it gave.
  @inlinable
  public consuming func chunked<Subject: Equatable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) async -> Subject
  ) -> LazyList<(Subject, [Element]), Failure> {
    gatherInTask(by: { $0.add($1, $2) }) { await subject($1) }
  }

  /// Returns the elements in arrays, each as long as an asynchronous throwing closure gives the
  /// same, with what it gave.
  @inlinable
  public consuming func chunked<Subject: Equatable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) async throws -> Subject
  ) -> LazyList<(Subject, [Element]), any Error> {
    widened().gatherInTask(by: { $0.add($1, $2) }) { try await subject($1) }
  }
}

// MARK: Bodies

extension LazyList {
  /// The list of the groups that elements are gathered into: a rule adds an element to a group by the
  /// answer of a closure, and gives the group before it when the element begins another one.
  @inlinable
  consuming func gather<Group, Answer>(
    stage: StageName = #function,
    by add: @escaping @Sendable (inout Group?, Element, Answer) -> Group?,
    _ ask: @escaping @Sendable (inout Group?, Element) throws(Failure) -> Answer
  ) -> LazyList<Group, Failure> {
    self.stage(Group?.none, stage: stage) { (group, source) in
      var patience = Patience()
      while let element = source.next() {
        do throws(Failure) {
          let answer = try ask(&group, element)
          if let former = add(&group, element, answer) { return .element(former) }
        } catch {
          return .nothing(.failed(error))
        }
        if !patience.lasts() { return .nothing(.paused) }
      }
      return source.ending(with: group)
    }
  }

  /// As `gather`, with an asynchronous closure, in a task that belongs to the list.
  @inlinable
  consuming func gatherInTask<Group, Answer>(
    stage: StageName = #function,
    by add: @escaping @Sendable (inout Group?, Element, Answer) -> Group?,
    _ ask:
      nonisolated(nonsending) @escaping @Sendable (inout Group?, Element) async throws(Failure) ->
      Answer
  ) -> LazyList<Group, Failure> {
    stageInTask(Group?.none, stage: stage) { (group, source) async in
      while let element = await source.nextInStep() {
        do throws(Failure) {
          let answer = try await ask(&group, element)
          if let former = add(&group, element, answer) { return .element(former) }
        } catch {
          return .nothing(.failed(error))
        }
        if Task.isCancelled { return .nothing(.cancelled) }
      }
      return source.ending(with: group)
    }
  }
}

extension Optional {
  /// The rule of `chunked(by:)`, for a chunk: gives the one before, if the element begins another.
  @inlinable
  mutating func add<Element>(_ element: Element, _ belongs: Bool) -> [Element]?
  where Wrapped == [Element] {
    guard belongs else {
      defer { self = [element] }
      return self
    }
    self?.append(element)
    return nil
  }

  /// The rule of `chunked(on:)`, for a chunk and what its elements have in common.
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
