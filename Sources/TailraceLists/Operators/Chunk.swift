import TailraceSupport

// Operators that group elements.
extension LazyList {
  /// Returns the arrays of `count` consecutive elements; each begins one element after the array
  /// before.
  ///
  /// ```swift
  /// await LazyList(1...4).windows(ofCount: 2).array()   // [[1, 2], [2, 3], [3, 4]]
  /// ```
  /// ![From the second element on, a window with each.](marbles-windows)
  ///
  /// - Laziness: stepwise; the first window needs `count` elements. A shorter list gives no window.
  /// - Complexity: O(`count`) for each window.
  /// - Parameters:
  ///   - count: 1 or more; any other count is a programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func windows(
    ofCount count: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> LazyList<[Element], Failure> {
    require(
      count > 0, "LazyList.windows(ofCount:) takes a count of 1 or more, not \(count)", file: file,
      line: line)
    return transform([Element]()) { (window, element) throws(Failure) in
      if window.count == count { window.removeFirst() }
      window.append(element)
      return window.count == count ? .element(window) : .skip
    }
  }

  /// Returns the elements in arrays; a new array begins where a predicate does not hold between neighbours.
  ///
  /// ```swift
  /// await LazyList([1, 2, 1, 3]).chunked { $0 < $1 }.array()   // [[1, 2], [1, 3]]
  /// ```
  /// ![A chunk comes with the first element of the next one.](marbles-chunked)
  ///
  /// - Laziness: searching, for the first element of the next array.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func chunked(
    @_CheckedAlone<Bool> by belongInSameGroup: @escaping @Sendable (Element, Element) -> Bool
  ) -> LazyList<[Element], Failure> {
    gather { $0.add($1, $0?.last.satisfies(belongInSameGroup, with: $1) ?? false) }
  }

  /// Returns the elements in arrays; a new one begins where a throwing or asynchronous predicate
  /// does not hold between neighbours.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func chunked(
    @_CheckedAlone<Bool> by belongInSameGroup:
      @escaping @Sendable (Element, Element) async throws -> Bool
  ) -> LazyList<[Element], any Error> {
    widened().gatherInTask {
      $0.add($1, try await $0?.last.satisfies(belongInSameGroup, with: $1) ?? false)
    }
  }

  /// Returns each result of a closure with the array of consecutive elements that give it.
  ///
  /// ```swift
  /// await LazyList(["ada", "bob", "al"]).chunked(on: \.count).array()
  /// // [(3, ["ada", "bob"]), (2, ["al"])]
  /// ```
  ///
  /// - Laziness: searching, for the first element of the next array.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func chunked<Subject: Equatable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) -> Subject
  ) -> LazyList<(Subject, [Element]), Failure> {
    gather { $0.add($1, subject($1)) }
  }

  /// Returns each result of a throwing or asynchronous closure with the array of consecutive
  /// elements that give it.
  @_alwaysEmitIntoClient @inline(__always)
  public consuming func chunked<Subject: Equatable & Sendable>(
    @_CheckedAlone<Subject> on subject: @escaping @Sendable (Element) async throws -> Subject
  ) -> LazyList<(Subject, [Element]), any Error> {
    widened().gatherInTask { $0.add($1, try await subject($1)) }
  }
}

// MARK: Bodies

extension LazyList {
  /// Gathers elements in groups. Adding an element returns the former group if the element begins
  /// another.
  @_alwaysEmitIntoClient
  consuming func gather<Group>(
    stage: StageName = #function,
    _ add: @escaping @Sendable (inout Group?, Element) throws(Failure) -> Group?
  ) -> LazyList<Group, Failure> {
    self.stage(Group?.none, stage: stage) { (group, source) in
      var patience = Patience()
      while let element = source.next() {
        do throws(Failure) {
          if let former = try add(&group, element) { return .element(former) }
        } catch {
          return .nothing(.failed(error))
        }
        if !patience.lasts() { return .skip }
      }
      return source.ending(with: group)
    }
  }

  /// As `gather`, with an asynchronous closure.
  @_alwaysEmitIntoClient @inline(__always)
  consuming func gatherInTask<Group>(
    stage: StageName = #function,
    _ add:
      nonisolated(nonsending) @escaping @Sendable (inout Group?, Element) async throws(Failure) ->
      Group?
  ) -> LazyList<Group, Failure> {
    stageInTask(Group?.none, stage: stage) { (group, source, steps) async in
      var patience = Patience()
      while let element = steps.pull(&source) {
        do throws(Failure) {
          if let former = try await add(&group, element) { return .element(former) }
        } catch {
          return .nothing(.failed(error))
        }
        if Task.isCancelled { return .nothing(.cancelled) }
        if !patience.lasts() { return .skip }
      }
      return source.ending(with: group)
    }
  }
}

extension Optional {
  /// The rule of `chunked(by:)`: emits the chunk before, if the element begins another.
  @_alwaysEmitIntoClient
  mutating func add<Element>(_ element: Element, _ belongs: Bool) -> [Element]?
  where Wrapped == [Element] {
    guard belongs else {
      defer { self = [element] }
      return self
    }
    self?.append(element)
    return nil
  }

  /// The rule of `chunked(on:)`, for a chunk and its common result.
  @_alwaysEmitIntoClient
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
