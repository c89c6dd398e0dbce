import Tailrace

extension VirtualScheduler {
  /// A line of marbles whose elements are converted from their names.
  ///
  /// <!-- not run: the comments say of what type it is -->
  /// ```swift
  /// scheduler.source("a-b-|").signal
  /// // Signal<String, Never>
  /// scheduler.source("1-2-'10'-|", of: Int.self).list        // LazyList<Int, Never>
  /// ```
  ///
  /// - Parameters:
  ///   - marbles: the events of each tick.
  ///   - type: the type of the elements. A name that cannot be converted, or a failure in the
  ///     line, is a programmer's error and traps.
  ///   - tick: the duration of a tick.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public func source<Element: LosslessStringConvertible & Sendable>(
    _ marbles: Marbles, of type: Element.Type = String.self, every tick: Duration = .seconds(1),
    file: StaticString = #fileID, line: UInt = #line
  ) -> MarbleSource<Element, Never> {
    MarbleSource(marbles, on: self, every: tick, element: { Element($0) }, failure: nil, file, line)
  }

  /// A line of marbles whose elements are converted from their names, with its failure.
  ///
  /// <!-- not run: the comments say of what type it is -->
  /// ```swift
  /// scheduler.source("1-2-#", of: Int.self, failure: Offline()).signal
  /// // Signal<Int, Offline>
  /// ```
  public func source<Element: LosslessStringConvertible & Sendable, Failure: Error>(
    _ marbles: Marbles, of type: Element.Type = String.self, failure: Failure,
    every tick: Duration = .seconds(1), file: StaticString = #fileID, line: UInt = #line
  ) -> MarbleSource<Element, Failure> {
    MarbleSource(
      marbles, on: self, every: tick, element: { Element($0) }, failure: failure, file, line)
  }

  /// A line of marbles, with an element for each name.
  ///
  /// <!-- not run: the comments say of what type it is -->
  /// ```swift
  /// scheduler.source("a-b-|", ["a": Order(1), "b": Order(2)]).list
  /// // LazyList<Order, Never>
  /// ```
  public func source<Element: Sendable>(
    _ marbles: Marbles, _ elements: [String: Element], every tick: Duration = .seconds(1),
    file: StaticString = #fileID, line: UInt = #line
  ) -> MarbleSource<Element, Never> {
    MarbleSource(
      marbles, on: self, every: tick, element: { elements[$0] }, failure: nil, file, line)
  }

  /// A line of marbles, with an element for each name, and its failure.
  public func source<Element: Sendable, Failure: Error>(
    _ marbles: Marbles, _ elements: [String: Element], failure: Failure,
    every tick: Duration = .seconds(1), file: StaticString = #fileID, line: UInt = #line
  ) -> MarbleSource<Element, Failure> {
    MarbleSource(
      marbles, on: self, every: tick, element: { elements[$0] }, failure: failure, file, line)
  }

  /// Reads a signal, a stream or a list in a task on this scheduler, and records its events.
  ///
  /// ```swift
  /// let recording = scheduler.record(list.map { $0 * 10 })
  /// scheduler.run()
  /// #expect(recording == "-'10'-'20'|")
  /// ```
  ///
  /// A hot signal is subscribed at once. Nothing else happens until the scheduler is advanced.
  ///
  /// - Parameters:
  ///   - sequence: the sequence to read, from its beginning.
  ///   - tick: the duration of a tick. An event between two ticks counts for the earlier one.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///   - name: the name of an element, by default its description.
  /// - Cancellation: releasing the recording, or ``MarbleRecording/stop()``, ends the reading.
  public func record<Sequence: AsyncSequence & Sendable>(
    _ sequence: Sequence, every tick: Duration = .seconds(1), file: StaticString = #fileID,
    line: UInt = #line,
    naming name: @escaping @Sendable (Sequence.Element) -> String = { String(describing: $0) }
  ) -> MarbleRecording where Sequence.Element: Sendable {
    MarbleRecording(sequence, on: self, every: tick, file, line, naming: name)
  }

  /// Records a signal, a stream or a list, with the names of a dictionary.
  ///
  /// An element without a name is recorded by its description.
  public func record<Sequence: AsyncSequence & Sendable>(
    _ sequence: Sequence, _ elements: [String: Sequence.Element],
    every tick: Duration = .seconds(1),
    file: StaticString = #fileID, line: UInt = #line
  ) -> MarbleRecording where Sequence.Element: Equatable & Sendable {
    let names = elements.sorted { $0.key < $1.key }
    return record(sequence, every: tick, file: file, line: line) { element in
      names.first { $0.value == element }?.key ?? String(describing: element)
    }
  }
}
