import Tailrace

extension VirtualScheduler {
  /// A line of marbles whose elements are what their names say.
  ///
  /// <!-- not run: the comments say of what type it is -->
  /// ```swift
  /// scheduler.source("a-b-|").signal                         // Signal<String, Never>
  /// scheduler.source("1-2-'10'-|", of: Int.self).list        // LazyList<Int, Never>
  /// ```
  ///
  /// - Parameters:
  ///   - marbles: what happens at which tick.
  ///   - type: what the names are read as. One that cannot be is a programmer's error and traps, and
  ///     so is a failure in the line.
  ///   - tick: how long a tick takes.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public func source<Element: LosslessStringConvertible & Sendable>(
    _ marbles: Marbles, of type: Element.Type = String.self, every tick: Duration = .seconds(1),
    file: StaticString = #fileID, line: UInt = #line
  ) -> MarbleSource<Element, Never> {
    MarbleSource(marbles, on: self, every: tick, element: { Element($0) }, failure: nil, file, line)
  }

  /// A line of marbles whose elements are what their names say, and what it fails with.
  ///
  /// <!-- not run: the comments say of what type it is -->
  /// ```swift
  /// scheduler.source("1-2-#", of: Int.self, failure: Offline()).signal   // Signal<Int, Offline>
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
  /// scheduler.source("a-b-|", ["a": Order(1), "b": Order(2)]).list   // LazyList<Order, Never>
  /// ```
  public func source<Element: Sendable>(
    _ marbles: Marbles, _ elements: [String: Element], every tick: Duration = .seconds(1),
    file: StaticString = #fileID, line: UInt = #line
  ) -> MarbleSource<Element, Never> {
    MarbleSource(
      marbles, on: self, every: tick, element: { elements[$0] }, failure: nil, file, line)
  }

  /// A line of marbles, with an element for each name, and what it fails with.
  public func source<Element: Sendable, Failure: Error>(
    _ marbles: Marbles, _ elements: [String: Element], failure: Failure,
    every tick: Duration = .seconds(1), file: StaticString = #fileID, line: UInt = #line
  ) -> MarbleSource<Element, Failure> {
    MarbleSource(
      marbles, on: self, every: tick, element: { elements[$0] }, failure: failure, file, line)
  }

  /// Reads a signal, a stream or a list in a task on this scheduler, and records what it gives when.
  ///
  /// ```swift
  /// let recording = scheduler.record(list.map { $0 * 10 })
  /// scheduler.run()
  /// #expect(recording == "-'10'-'20'|")
  /// ```
  ///
  /// A hot signal is listened to from now on. Nothing else happens until the scheduler is advanced.
  ///
  /// - Parameters:
  ///   - sequence: what is read, from its beginning.
  ///   - tick: how long a tick takes. What happens between two ticks counts as happening at the one
  ///     before it.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///   - name: the name of an element, by default its description.
  /// - Cancellation: releasing the recording ends the reading, and so does ``MarbleRecording/stop()``.
  public func record<Sequence: AsyncSequence & Sendable>(
    _ sequence: Sequence, every tick: Duration = .seconds(1), file: StaticString = #fileID,
    line: UInt = #line,
    naming name: @escaping @Sendable (Sequence.Element) -> String = { String(describing: $0) }
  ) -> MarbleRecording where Sequence.Element: Sendable {
    MarbleRecording(sequence, on: self, every: tick, file, line, naming: name)
  }

  /// Records what a signal, a stream or a list gives, under the names of a dictionary.
  ///
  /// An element that has none is recorded under its description.
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
