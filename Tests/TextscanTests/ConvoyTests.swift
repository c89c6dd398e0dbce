import Tailrace
import Testing

@testable import textscan

@Suite("A convoy")
struct ConvoyTests {
  @Test("keeps nobody waiting who is not too far ahead")
  func slowest() async {
    let convoy = Convoy(members: 2, distance: 10)
    await convoy.advance(0, to: 10)
    await convoy.advance(1, to: 20)
    await convoy.advance(0, to: 30)
  }

  @Test("waits for the slowest, and for nobody who has left")
  func leaving() async {
    let convoy = Convoy(members: 3, distance: 10)
    async let first: Void = convoy.advance(0, to: 100)
    await convoy.advance(1, to: 5)
    await convoy.leave(1)
    await convoy.leave(2)
    await first
  }

  @Test("keeps its members together", arguments: [1, 2, 5])
  func distance(members: Int) async {
    let convoy = Convoy(members: members, distance: 10)
    let march = March(members: members)
    await withTaskGroup { group in
      for member in 0..<members {
        group.addTask {
          for position in 1...1000 {
            await convoy.advance(member, to: position)
            march.note(member, at: position)
          }
          await convoy.leave(member)
        }
      }
    }
    // The slowest may have been told of a step that it has not noted yet.
    #expect(march.spread <= 11)
  }

  /// How far apart the members of a convoy were.
  private final class March: Sendable {
    private let state: Locked<(positions: [Int], spread: Int)>

    init(members: Int) { state = Locked((Array(repeating: 0, count: members), 0)) }

    var spread: Int { state.withLock { $0.spread } }

    func note(_ member: Int, at position: Int) {
      state.withLock { state in
        state.positions[member] = position
        let slowest = state.positions.min() ?? 0
        state.spread = max(state.spread, position - slowest)
      }
    }
  }
}
