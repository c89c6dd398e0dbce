import TailraceSupport

/// One of several readers of a list that stay within a distance of one another.
///
/// ```swift
/// let readers = LazyList(1...3).lockstep(readers: 2, maxLead: 1)
/// let sums = await withTaskGroup { group in
///   for reader in readers {
///     group.addTask {
///       var sum = 0
///       for await number in reader { sum += number }
///       return sum
///     }
///   }
///   return await group.reduce(into: []) { $0.append($1) }
/// }
/// sums   // [6, 6]
/// ```
///
/// It has a list's folds, such as `reduce`, `count()` and `array()`, and the operators of
/// `AsyncSequence`, none of a list's. Apply operators to the list, before `lockstep`: a fold behind one of
/// `AsyncSequence`'s takes a cancellation for the end if `Failure` cannot say it.
///
/// Made by ``LazyList/lockstep(readers:maxLead:file:line:)``. It is read once, from the list's head
/// on, by one task at a time. A second iteration is a programmer's error, and traps.
///
/// The other readers wait for this one from the start, even before it is first read. They stop
/// waiting when its iteration ends, fails, is cancelled or is abandoned, or when it is released
/// unread. ``debugDescription`` shows which readers this one waits for.
///
/// - Isolation: no thread is blocked. A reader gets the elements in its own isolation.
/// - Failure: surfaces after the elements before it, and ends the reader. A failure that the list
///   retries does not end it: the readers that waited for that attempt get the failure, and the
///   next request tries again. Until then the others wait.
/// - Cancellation: in a cancelled task `next()` gives the elements that are computed and within
///   the distance. Then it throws `CancellationError` if `Failure` is `any Error`, `Failure.cancelled`
///   if it is a ``CancellableFailure``, and returns `nil` otherwise; and the reader has ended. A fold
///   throws the same; if the failure cannot say it, it waits for the true answer.
public struct LockstepReader<Element: Sendable, Failure: Error>: Sendable {
  /// The list to read, from its head on.
  @usableFromInline
  enum Source: Sendable {
    case counted(LazyList<Element, Failure>)
    case measured(LazyList<Measured<Element>, Failure>)
  }

  final class Start: Sendable {
    let place: Locked<(LockstepMember, Source)?>
    /// To be looked at. They do not retain the reader's place among the others.
    let (group, number): (LockstepGroup, Int)

    init(_ member: LockstepMember, _ source: Source) {
      (group, number) = (member.group, member.reader)
      place = Locked((member, source))
    }
  }

  let start: Start

  @usableFromInline
  init(_ member: LockstepMember, _ source: Source) { start = Start(member, source) }
}

// MARK: Iterating

extension LockstepReader: AsyncSequence {
  /// Returns the only iterator. A second call is a programmer's error, and traps.
  public func makeAsyncIterator() -> Iterator {
    guard let (member, source) = start.place.withLock({ $0.take() }) else {
      misuse(
        """
        LockstepReader<\(Element.self)> is read once, and was iterated a second time: ask for one more \
        of LazyList.lockstep(readers:maxLead:)
        """)
    }
    return Iterator(LockstepIteration(member, source))
  }

  /// Reads a list from its head on, in step with others. Its copies share its position.
  public struct Iterator: _FoldIteratorProtocol {
    @usableFromInline let iteration: LockstepIteration<Element, Failure>

    init(_ iteration: LockstepIteration<Element, Failure>) { self.iteration = iteration }

    /// Returns the next element, or `nil` at the end and ever after.
    @_alwaysEmitIntoClient
    public mutating func next() async throws(Failure) -> Element? {
      try await next(isolation: nil)
    }

    /// Returns the next element, or `nil` at the end and ever after, without leaving the caller's
    /// isolation.
    // The path without waiting is inlined into the loop: a call that might wait looks up its return
    // executor ("In step").
    @_alwaysEmitIntoClient @inline(__always)
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      if let element = iteration.nextNow() { return element }
      return try await iteration.nextWaiting(isolation: actor)
    }

    @_alwaysEmitIntoClient @inline(__always)
    public mutating func _nextForFold(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      if let element = iteration.nextNow() { return element }
      return try await iteration.nextWaiting(isolation: actor, orNilWhenCancelled: false)
    }
  }
}

extension LockstepReader: _FoldableSequence {}

@available(*, unavailable)
extension LockstepReader.Iterator: Sendable {}

/// An iteration, while its iterator is retained.
@usableFromInline
final class LockstepIteration<Element: Sendable, Failure: Error> {
  @usableFromInline let place: LockstepPosition
  /// `nil` when it is over: the others go on.
  @exclusivity(unchecked) @usableFromInline var member: LockstepMember?
  // One of them, until it is over.
  @exclusivity(unchecked) @usableFromInline var counted: Cursor<Element>?
  @exclusivity(unchecked) @usableFromInline var measured: Cursor<Measured<Element>>?
  /// The cost of the elements taken.
  @exclusivity(unchecked) @usableFromInline var position = 0
  /// No other reader needs to be asked before this position.
  @exclusivity(unchecked) @usableFromInline var end = 0

  init(_ member: LockstepMember, _ source: LockstepReader<Element, Failure>.Source) {
    place = member.position
    self.member = member
    switch source {
    case .counted(let list):
      counted = Cursor(list, takesOver: false, stopsWhenCancelled: true)
    case .measured(let list):
      measured = Cursor(list, takesOver: false, stopsWhenCancelled: true)
    }
  }

  /// The next element, if no other reader has to be waited for.
  @_alwaysEmitIntoClient @inline(__always)
  func nextNow() -> Element? {
    guard position < end else { return nil }
    if let element = counted?.next() { return moved(to: element, by: 1) }
    if let next = measured?.next() { return moved(to: next.element, by: next.total &- position) }
    return nil
  }

  /// The next element, after an attempt that found none.
  ///
  /// - Parameter isNil: whether this is an iteration, which ends with `nil` if its task is cancelled
  ///   and the failure cannot say so.
  @usableFromInline
  func nextWaiting(
    isolation actor: isolated (any Actor)?, orNilWhenCancelled isNil: Bool = true
  ) async throws(Failure) -> Element? {
    if position >= end {
      guard try await mayGoOn(isolation: actor, orNilWhenCancelled: isNil) else { return nil }
      if let element = nextNow() { return element }
    }
    do throws(Failure) {
      if let element = try await counted?.nextOrFailure(Failure.self, orNilWhenCancelled: isNil) {
        return moved(to: element, by: 1)
      }
      if let next = try await measured?.nextOrFailure(Failure.self, orNilWhenCancelled: isNil) {
        return moved(to: next.element, by: next.total &- position)
      }
    } catch {
      if !isFailedForNow { finish() }
      throw error
    }
    finish()
    return nil
  }

  @_alwaysEmitIntoClient @inline(__always)
  func moved(to element: Element, by cost: Int) -> Element {
    position &+= cost
    if place.advance(by: cost) { member?.moved() }
    return element
  }

  /// Waits until the next element is within the distance. False if there is none for this reader.
  private func mayGoOn(
    isolation actor: isolated (any Actor)?, orNilWhenCancelled isNil: Bool
  ) async throws(Failure) -> Bool {
    guard let member else { return false }
    let cancellation = Failure.cancellation
    if let end = await member.demand(at: position, cancellable: isNil || cancellation != nil) {
      self.end = end
      return true
    }
    finish()
    if let cancellation { throw cancellation }
    return false
  }

  /// Whether the next attempt may not meet the same failure.
  private var isFailedForNow: Bool {
    if case .failedTransiently = counted?.absence ?? measured?.absence {
      true
    } else {
      false
    }
  }

  /// Releases the list, and the other readers.
  private func finish() {
    (counted, measured, member) = (nil, nil, nil)
    end = 0
  }
}
