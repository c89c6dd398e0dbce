import Tailrace

/// Keeps the readers of one list together: nobody gets further ahead of the slowest than a distance.
///
/// A list remembers what lies between its fastest and its slowest reader. On a machine with fewer
/// cores than readers that would soon be the whole input.
actor Convoy {
  private var state: State

  init(members: Int, distance: Int) {
    state = State(positions: Array(repeating: 0, count: members), distance: distance)
  }

  /// Says how far a member has come, and waits while that is too far ahead.
  func advance(_ member: Int, to position: Int) async {
    await withCheckedContinuation { continuation in
      state.waiting.append((position, continuation))
      for released in state.move(member, to: position) { released.resume() }
    }
  }

  /// Waits no more for a member that goes no further.
  func leave(_ member: Int) {
    for released in state.move(member, to: .max) { released.resume() }
  }

  private struct State {
    var positions: [Int]
    let distance: Int
    var waiting: [(position: Int, CheckedContinuation<Void, Never>)] = []

    /// Moves a member, and returns who need not wait any longer.
    mutating func move(_ member: Int, to position: Int) -> [CheckedContinuation<Void, Never>] {
      positions[member] = position
      let (limit, isUnlimited) = (positions.min() ?? 0).addingReportingOverflow(distance)
      let split = waiting.partition { isUnlimited || $0.position <= limit }
      defer { waiting.removeSubrange(split...) }
      return waiting[split...].map(\.1)
    }
  }
}

/// A reader on its way along the list, in a convoy.
struct Traveler: Sendable {
  private(set) var reader: any LineReader
  /// How many lines it has read.
  private(set) var lines = 0
  private let member: Int
  private let convoy: Convoy

  init(_ reader: any LineReader, _ member: Int, _ convoy: Convoy) {
    self.reader = reader
    self.member = member
    self.convoy = convoy
  }

  /// Reads lines until the reader is satisfied or the list ends.
  mutating func walk(_ list: consuming LazyList<Line, any Error>) async throws {
    do {
      try await Self.walk(&reader, &lines, list, member, convoy)
    } catch {
      await convoy.leave(member)
      throw error
    }
    await convoy.leave(member)
  }

  private static func walk(
    _ reader: inout some LineReader, _ lines: inout Int,
    _ list: consuming LazyList<Line, any Error>, _ member: Int, _ convoy: Convoy
  ) async throws {
    var position = 0
    var milestone = 0
    for try await line in list {
      lines += 1
      reader.read(line)
      if reader.isSatisfied { return }
      position += line.weight
      if position >= milestone {
        await convoy.advance(member, to: position)
        milestone = position + 65_536
      }
    }
  }
}
