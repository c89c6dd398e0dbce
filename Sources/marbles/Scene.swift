import Synchronization
import Tailrace
import TailraceTesting

/// One run on virtual time, and what was seen of it: the rows of a diagram.
///
/// A tick takes a second.
final class Scene: Sendable {
  let scheduler = VirtualScheduler()
  private let rows = Mutex([Row]())

  /// Something that was seen at an instant.
  struct Sight: Sendable {
    enum Kind: Sendable {
      case marble(Marbles.Marble)
      /// Work that takes time, until the instant at which it is over.
      case work(String, end: Int)
    }
    let tick: Int
    let kind: Kind
  }

  /// A line of a diagram.
  final class Row: Sendable {
    enum Role: Sendable { case source, work, result }
    let role: Role
    let label: String
    let start: Int
    private let sights = Mutex([Sight]())

    init(_ role: Role, _ label: String, start: Int) {
      (self.role, self.label, self.start) = (role, label, start)
    }

    var seen: [Sight] { sights.withLock { $0 } }

    func see(_ kind: Sight.Kind, at tick: Int) {
      sights.withLock { $0.append(Sight(tick: tick, kind: kind)) }
    }
  }

  var now: Int { Int(scheduler.now.offset.components.seconds) }

  /// The rows, after all has happened that happens.
  func finalRows() -> [Row] {
    scheduler.run()
    return rows.withLock { $0 }
  }

  func row(_ role: Row.Role, _ label: String = "") -> Row {
    let row = Row(role, label, start: now)
    rows.withLock { $0.append(row) }
    return row
  }

  // MARK: Sources

  /// A list whose elements appear in a row when they have been computed.
  func list(_ marbles: Marbles) -> LazyList<Int, Never> {
    let row = row(.source)
    return LazyList(state: scheduler.source(marbles, of: Int.self).list) { rest async in
      guard let (head, tail) = await rest.uncons() else {
        row.see(.marble(.completed), at: self.now)
        return nil
      }
      row.see(.marble(.element("\(head)")), at: self.now)
      rest = tail
      return head
    }
  }

  /// A list that may fail, whose elements appear in a row when they have been computed.
  func failing(_ marbles: Marbles) -> LazyList<Int, any Error> {
    let row = row(.source)
    let list = scheduler.source(marbles, of: Int.self, failure: Refusal() as any Error).list
    return LazyList(state: list) { rest async throws in
      do {
        guard let (head, tail) = try await rest.uncons() else {
          row.see(.marble(.completed), at: self.now)
          return nil
        }
        row.see(.marble(.element("\(head)")), at: self.now)
        rest = tail
        return head
      } catch {
        row.see(.marble(.failure), at: self.now)
        throw error
      }
    }
  }

  /// A signal whose events appear in a row when somebody gets them.
  func signal(_ marbles: Marbles) -> Signal<Int, Never> {
    let row = row(.source)
    return scheduler.source(marbles, of: Int.self).signal.events
      .map { event in
        switch event {
        case .next(let element): row.see(.marble(.element("\(element)")), at: self.now)
        case .completed: row.see(.marble(.completed), at: self.now)
        }
        return event
      }
      .dematerialized()
  }

  // MARK: Results

  /// Reads a sequence from now on, into a row of its own.
  func read<Sequence: AsyncSequence & Sendable>(
    _ sequence: Sequence, _ label: String = "", taking work: Int = 0,
    naming name: @escaping @Sendable (Sequence.Element) -> String = { "\($0)" }
  ) where Sequence.Element: Sendable {
    let row = row(.result, label)
    let lane = work > 0 ? self.row(.work) : nil
    scheduler.schedule {
      do {
        for try await element in sequence {
          row.see(.marble(.element(name(element))), at: self.now)
          if let lane { await self.work("", work, in: lane) }
        }
        row.see(.marble(.completed), at: self.now)
      } catch {
        row.see(.marble(.failure), at: self.now)
      }
    }
  }

  /// Work that takes that many ticks, as a bar in a row.
  func work(_ label: String, _ ticks: Int, in row: Row) async {
    row.see(.work(label, end: now + ticks), at: now)
    try? await scheduler.sleep(for: .seconds(ticks))
  }
}

struct Refusal: Error {}
