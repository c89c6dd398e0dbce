import Testing

/// The words that a cursor and a reader share without a lock, as programs of two threads.
///
/// These are models: they say which order of stores and loads the engine needs. `TakeOverTests` looks at
/// the engine itself.
@Suite("Take-over: every order of loads and stores", .inTurn)
struct TakeOverOrdersTests {
  private enum Cells: Int, CaseIterable {
    /// Twice the number of published cells, and one more if the segment is closed.
    case published
    case claim
    /// References to the segment.
    case references
    /// The element that the producer gives next; -1 when it has been taken.
    case next
    case trapped
  }
  private typealias Step = WeakMemory<Cells>.Instruction

  /// A cursor takes the producer over, and closes the segment where it has read its count. Another reader
  /// demands one element, or two of which the second is in a new segment, and leaves.
  private func takeOver(looksAgain: Bool, goesOn: Bool) -> WeakMemory<Cells> {
    // Registers: 0 the count that was seen, 1 what was found, 2 the element from the producer.
    let start = 2
    var cursor: [Step] = [
      .load("cursor: reads the count", .published, into: 0),
      .jump("cursor: if the segment is closed, it follows the link") {
        $0[0] & 1 == 0 ? nil : .max
      },
      .load("cursor: looks whether it is alone", .references, into: 1),
      .jump("cursor: if not, it is over for this model") { $0[1] == 1 ? nil : .max },
      .update("cursor: takes the claim", .claim, into: 1) { _, _ in 1 },
      .jump("cursor: if somebody has it, it is over") { $0[1] == 0 ? nil : .max },
    ]
    if looksAgain {
      cursor += [
        .load("cursor: reads the count again", .published, into: 1),
        .jump("cursor: if it is another, it reads on from there") {
          $0[1] == $0[0] ? nil : .max
        },
      ]
    }
    cursor += [
      .update("cursor: takes the producer", .next, into: 2) { _, _ in -1 },
      .store("cursor: lets go of the claim", .claim) { _ in 0 },
      .store("cursor: closes the segment", .published) { $0[0] | 1 },
    ]
    func demand(closing isFull: Bool) -> [Step] {
      Step.lock(.claim) + [
        .load("other: reads the count again", .published, into: 1),
        .load("other: looks for the producer", .next, into: 2),
        .update("other: computes an element", .next, into: 3) { next, _ in
          next < 0 ? -1 : next + 1
        },
        .update("other: is trapped if there is none", .trapped) { trapped, registers in
          registers[3] < 0 && registers[1] & 1 == 0 ? 1 : trapped
        },
        .store("other: publishes it", .published) { registers in
          registers[3] < 0 ? registers[1] : isFull ? registers[1] | 1 : registers[1] + 2
        },
        .store("other: lets go of the claim", .claim) { _ in 0 },
      ]
    }
    let other =
      demand(closing: goesOn)
      + [.update("other: leaves the segment", .references) { count, _ in count - 1 }]
      + (goesOn
        ? Step.lock(.claim) + [
          .load("other: looks for the producer, in the new segment", .next, into: 2),
          .update("other: is trapped if there is none", .trapped) { trapped, registers in
            registers[2] < 0 ? 1 : trapped
          },
          .store("other: lets go of the claim", .claim) { _ in 0 },
        ] : [])
    return WeakMemory(
      [cursor, other], words: [.published: start, .references: 2, .next: 1],
      check: { state in
        let registers = state.registers(of: 0)
        // It has read the cells below its count, and goes on with what the producer gives.
        return state[.next] == -1 && registers[2] != registers[0] / 2
          ? "the cursor goes on at \(registers[2]) after \(registers[0] / 2)" : nil
      },
      invariant: { $0[.trapped] == 1 ? "the other reader finds no producer, and is trapped" : nil })
  }

  @Test(
    "a producer is taken over safely by who looks again under the claim", arguments: [false, true])
  func takenOver(_ goesOn: Bool) async {
    await takeOver(looksAgain: true, goesOn: goesOn).expectSafe()
  }

  @Test(
    "by a count that was read before, elements are lost, or the other reader is trapped",
    arguments: [false, true])
  func stale(_ goesOn: Bool) async {
    let exploration = await takeOver(looksAgain: false, goesOn: goesOn).explored()
    if RandomCases.areFull { print(exploration) }
    #expect(exploration.violation != nil)
    let violations = Set([
      exploration.violation ?? "",
      await takeOver(looksAgain: false, goesOn: true).explored().violation ?? "",
    ])
    #expect(violations.contains { $0.contains("goes on at 2 after 1") || $0.contains("trapped") })
  }
}
