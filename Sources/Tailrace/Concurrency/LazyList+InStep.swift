// Several readers of one list, in bounded memory.

extension LazyList {
  /// Returns readers of this list of which none gets further ahead of the slowest than a distance.
  ///
  /// A list remembers what lies between its slowest and its fastest reader. Read by several tasks of
  /// which one is slow, that may be all of it. Readers in step hold no more than the distance, however
  /// long the list is.
  ///
  /// ```swift
  /// let readers = LazyList(1...100_000).inStep(readers: 2, within: 1_000)
  /// async let sum = readers[0].reduce(0, +)
  /// async let largest = readers[1].max()
  /// print(await sum, await largest ?? 0)   // 5000050000 100000
  /// ```
  ///
  /// Each of them is an ``InStepReader``, an `AsyncSequence` that is read once, from the head of this list
  /// on. A reader that has come to the distance waits until the slowest goes on. One that ends, fails,
  /// is cancelled or is let go of keeps nobody waiting. One that is held and not read keeps all others:
  ///
  /// - Read each in a task of its own, side by side. To read one to its end before the next begins waits
  ///   for ever.
  /// - Let go of those that nobody will read.
  ///
  /// The readers hold this list, and nobody else should: a copy of it that is kept holds everything.
  ///
  /// - Parameters:
  ///   - count: how many readers; 1 or more.
  ///   - distance: how many elements a reader may have taken more than the slowest; 1 or more.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  /// - Laziness: deferred. Each element is computed for the first reader that gets there, and for all.
  ///   Nothing is computed that no reader has asked for. To be told of the end, too, a reader has to
  ///   be nearer than the distance.
  /// - Failure: reaches each reader at its position, after the elements before it.
  /// - Cancellation: ends the reader whose task is cancelled, and no other.
  /// - Complexity: a reader that is not at the distance takes no lock. To wait, to be woken and to leave are
  ///   O(log *readers*).
  ///
  /// Replaces nothing of ReactiveObjC: there, who reads a sequence holds all of it.
  public consuming func inStep(
    readers count: Int, within distance: Int, file: StaticString = #fileID, line: UInt = #line
  ) -> [InStepReader<Element, Failure>] {
    let group = Self.group(count, distance, file, line)
    return group.members().map { [self] in InStepReader($0, .counted(self)) }
  }

  /// Returns readers of this list of which none gets further ahead of the slowest than a distance, which
  /// is measured in what the elements cost.
  ///
  /// ```swift
  /// let lines = ["one", "three", "five"].lazyList
  /// let readers = lines.inStep(readers: 3, within: 1_048_576) { line in line.utf8.count }
  /// print(readers.count)   // 3
  /// ```
  ///
  /// - Parameters:
  ///   - count: how many readers; 1 or more.
  ///   - distance: by how much the elements that a reader has taken may cost more than those that the
  ///     slowest has taken; 1 or more. The last of them may reach beyond it, so that there is no element
  ///     that costs too much.
  ///   - cost: what an element costs, its bytes for one; 0 or more. It is called once for each element, when
  ///     that is computed.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  @inlinable
  public consuming func inStep(
    readers count: Int, within distance: Int, file: StaticString = #fileID, line: UInt = #line,
    @_CheckedAlone<Int> cost: @escaping @Sendable (Element) -> Int
  ) -> [InStepReader<Element, Failure>] {
    let group = Self.group(count, distance, file, line)
    let measured = transform(0, stage: "inStep") { (total, element) throws(Failure) in
      let cost = cost(element)
      require(
        cost >= 0,
        "the cost of an element in LazyList.inStep(readers:within:cost:) is 0 or more, not "
          + "\(cost)", file: file, line: line)
      // Far beyond any distance: who gets there waits for nobody.
      total = Swift.min(total &+ Swift.min(cost, .max / 4), .max / 4)
      return .emit(Measured(element: element, total: total))
    }
    return group.members().map { InStepReader($0, .measured(measured)) }
  }

  @usableFromInline
  static func group(
    _ count: Int, _ distance: Int, _ file: StaticString, _ line: UInt
  ) -> InStepGroup {
    require(
      count >= 1, "LazyList.inStep(readers:within:) makes 1 or more readers, not \(count)",
      file: file, line: line)
    require(
      distance >= 1,
      "LazyList.inStep(readers:within:) keeps readers within a distance of 1 or more, not \(distance)",
      file: file, line: line)
    return InStepGroup(readers: count, distance: distance)
  }
}

/// An element, and what it and those before it cost.
@usableFromInline
struct Measured<Element: Sendable>: Sendable {
  @usableFromInline let element: Element
  @usableFromInline let total: Int

  @inlinable
  init(element: Element, total: Int) { (self.element, self.total) = (element, total) }
}
