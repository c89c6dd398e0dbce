import TailraceSupport

// Several readers of one list, in bounded memory.

extension LazyList {
  /// Returns readers of this list; none gets further ahead of the slowest than a distance.
  ///
  /// A list retains the elements between its slowest and its fastest reader. If one of several
  /// readers is slow, that may be the whole list. Readers in step retain no more than the distance,
  /// however long the list is.
  ///
  /// ```swift
  /// let readers = LazyList(1...100_000).lockstep(readers: 2, maxLead: 1_000)
  /// async let sum = readers[0].reduce(0, +)
  /// async let largest = readers[1].max()
  /// print(await sum, await largest ?? 0)   // 5000050000 100000
  /// ```
  ///
  /// Each reader is a ``LockstepReader``, an `AsyncSequence` that is read once, from the head of
  /// this list on. A reader at the distance waits until the slowest continues. A reader that ends,
  /// fails, is cancelled or is released keeps no other waiting. A reader that is retained but not
  /// read keeps all others waiting:
  ///
  /// - Read each in a task of its own, concurrently. Reading one to its end before the next begins
  ///   waits forever.
  /// - A task that reads several takes elements in turns, and needs no more of one before it continues
  ///   with another than the distance. It waits for itself otherwise, forever: it is not known to
  ///   be the task that would have to continue, since it could have handed an iterator to another.
  /// - Release readers that will not be read.
  ///
  /// The debug descriptions of the readers show who waits for whom: `print(readers)`.
  ///
  /// The distance bounds the elements *taken*: whoever reads, in how many tasks, a reader that has
  /// taken as many elements more than the slowest as the distance takes no other. What it does not
  /// bound are elements that you keep, elements retained by other copies of the list, and the rest
  /// of a segment: cells are released in pieces of up to 128.
  ///
  /// The readers retain this list. Keep no copy of it, because a copy retains everything.
  ///
  /// - Parameters:
  ///   - count: the number of readers; 1 or more.
  ///   - distance: how many elements more than the slowest a reader may have taken; 1 or more.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Laziness: deferred. Each element is computed once, for all readers, when the first one
  ///   requests it. Nothing is computed without a request. A reader must be nearer than the distance
  ///   to get the end, too.
  /// - Failure: reaches each reader at its position, after the elements before it.
  /// - Cancellation: ends the reader whose task is cancelled, and no other.
  /// - Complexity: a reader that is not at the distance takes no lock. Waiting, waking and leaving
  ///   are O(*readers*).
  ///
  /// Replaces nothing of ReactiveObjC: there, a reader of a sequence retains all of it.
  public consuming func lockstep(
    readers count: Int, maxLead distance: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> [LockstepReader<Element, Failure>] {
    let group = Self.group(count, distance, file, line)
    return group.members().map { [self] in LockstepReader($0, .counted(self)) }
  }

  /// Returns readers of this list; none gets further ahead of the slowest than a distance, measured
  /// by the cost of the elements.
  ///
  /// ```swift
  /// let lines = ["one", "three", "five"].lazyList
  /// let readers = lines.lockstep(readers: 3, maxLead: 1_048_576) { line in line.utf8.count }
  /// print(readers.count)   // 3
  /// ```
  ///
  /// - Parameters:
  ///   - count: the number of readers; 1 or more.
  ///   - distance: how much more the elements that a reader has taken may cost than those of the
  ///     slowest; 1 or more. The last one may exceed it, so no element costs too much.
  ///   - cost: the cost of an element, such as its bytes; 0 or more. It is called once for each
  ///     element, when that is computed; never for a single reader, which waits for no other.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  @_alwaysEmitIntoClient
  public consuming func lockstep(
    readers count: Int, maxLead distance: Int, file: StaticString = #fileID, line: UInt = #line,
    @_CheckedAlone<Int> cost: @escaping @Sendable (Element) -> Int
  ) -> [LockstepReader<Element, Failure>] {
    let group = Self.group(count, distance, file, line)
    if count == 1 { return group.members().map { LockstepReader($0, .counted(self)) } }
    let measured = transform(0, stage: "lockstep") { (total, element) throws(Failure) in
      let cost = cost(element)
      require(
        cost >= 0,
        "the cost of an element in LazyList.lockstep(readers:maxLead:cost:) is 0 or more, not "
          + "\(cost)", file: file, line: line)
      // Far beyond any distance: a reader that gets there does not wait.
      total = Swift.min(total &+ Swift.min(cost, .max / 4), .max / 4)
      return .element(Measured(element: element, total: total))
    }
    return group.members().map { LockstepReader($0, .measured(measured)) }
  }

  @usableFromInline
  static func group(
    _ count: Int, _ distance: Int, _ file: StaticString, _ line: UInt
  ) -> LockstepGroup {
    require(
      count >= 1, "LazyList.lockstep(readers:maxLead:) makes 1 or more readers, not \(count)",
      file: file, line: line)
    require(
      distance >= 1,
      "LazyList.lockstep(readers:maxLead:) keeps readers within a distance of 1 or more, not \(distance)",
      file: file, line: line)
    return LockstepGroup(readers: count, distance: distance)
  }
}

/// An element, and the cost of it and all elements before it.
@usableFromInline
struct Measured<Element: Sendable>: Sendable {
  @usableFromInline let element: Element
  @usableFromInline let total: Int

  @_alwaysEmitIntoClient
  init(element: Element, total: Int) { (self.element, self.total) = (element, total) }
}
