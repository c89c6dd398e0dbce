import Testing

/// The words that a list's task and a reader share without a lock, as programs of two threads.
///
/// These are models: they say which order of stores, loads and fences the engine needs. `PublicationTests`
/// looks at the engine itself.
@Suite("Published cells, the claim, and take-over: every order of loads and stores", .inTurn)
struct PublicationOrdersTests {
  private enum Word: Int, CaseIterable { case published, awaited, lock, queued, woken }
  private typealias Instruction = WeakMemory<Word>.Instruction

  /// Where a sequentially consistent fence stands.
  struct Fences: CustomTestStringConvertible, Sendable {
    var publisher = false
    var waiter = false
    /// Whether the mark on the claim is an update that works as a fence, as on x86. On ARM it does not.
    var isMarkFence = false

    var testDescription: String {
      let places = [(publisher, "publisher"), (waiter, "waiter"), (isMarkFence, "mark")]
      return places.filter(\.0).map(\.1).joined(separator: ", ")
    }
  }

  /// The holder of the claim publishes a cell, looks whether somebody waits, and if so wakes it. Meanwhile a
  /// reader that did not find the cell enters the queue: it marks the claim, looks once more, and waits.
  private func publication(_ fences: Fences) -> WeakMemory<Word> {
    let publisher: [Instruction] =
      [.store("publishes the cell", .published) { _ in 1 }]
      + (fences.publisher ? [.fence] : [])
      + [
        .load("looks whether somebody waits", .awaited, into: 0),
        .jump("goes on with the next step if nobody does") { $0[0] == 1 ? nil : .max },
      ] + Instruction.lock(.lock) + [
        .load("looks into the queue", .queued, into: 1),
        .store("wakes who is there", .woken) { $0[1] },
        .unlock(.lock),
      ]
    let waiter: [Instruction] =
      Instruction.lock(.lock)
      + [
        fences.isMarkFence
          ? .update("marks the claim", .awaited) { _, _ in 1 }
          : .store("marks the claim", .awaited) { _ in 1 }
      ]
      + (fences.waiter ? [.fence] : [])
      + [
        .load("looks whether the cell is there", .published, into: 0),
        .store("waits if it is not", .queued) { 1 - $0[0] },
        .unlock(.lock),
      ]
    return WeakMemory([publisher, waiter]) { state in
      state[.queued] == 1 && state[.woken] == 0
        ? "the cell is published, and its reader sleeps" : nil
    }
  }

  @Test(
    "a published cell and its reader do not miss each other, where both have a fence",
    arguments: [
      Fences(publisher: true, waiter: true), Fences(publisher: true, isMarkFence: true),
      Fences(publisher: true, waiter: true, isMarkFence: true),
    ])
  func published(_ fences: Fences) {
    publication(fences).expectSafe()
  }

  @Test(
    "without a fence on one side they do: the wake-up is lost",
    arguments: [
      Fences(), Fences(publisher: true), Fences(waiter: true), Fences(isMarkFence: true),
      Fences(waiter: true, isMarkFence: true),
    ])
  func missed(_ fences: Fences) {
    let exploration = publication(fences).explored()
    if RandomCases.areFull { print(fences.testDescription, exploration) }
    #expect(exploration.violation == "the cell is published, and its reader sleeps")
    // The loads of both, and none of the stores that they miss.
    #expect(exploration.order.contains { $0.description.contains("looks whether somebody waits") })
    #expect(exploration.order.contains { $0.description.contains("looks whether the cell is") })
  }

  // MARK: Take-over

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
  func takenOver(_ goesOn: Bool) {
    takeOver(looksAgain: true, goesOn: goesOn).expectSafe()
  }

  @Test(
    "by a count that was read before, elements are lost, or the other reader is trapped",
    arguments: [false, true])
  func stale(_ goesOn: Bool) {
    let exploration = takeOver(looksAgain: false, goesOn: goesOn).explored()
    if RandomCases.areFull { print(exploration) }
    #expect(exploration.violation != nil)
    let violations = Set([
      exploration.violation ?? "",
      takeOver(looksAgain: false, goesOn: true).explored().violation ?? "",
    ])
    #expect(violations.contains { $0.contains("goes on at 2 after 1") || $0.contains("trapped") })
  }
}
