import Measuring
import Tailrace

extension Topic {
  /// The layout of Tailrace beside those that lost.
  ///
  /// The losers hold only Ints, are compiled with what measures them, and know neither failure nor
  /// cancellation: nothing that they lose is lost to generics or to a module's border.
  public static let layouts = Topic(
    "Layouts", about: "how memo cells can be laid out and isolated",
    rows: [
      Row(
        "first pass", sizes: sizes,
        tailrace.firstPass, list.firstPass, segment.firstPass, cell.firstPass, array.firstPass),
      Row(
        "read again", sizes: sizes,
        tailrace.again, list.again, segment.again, cell.again, array.again),
      Row(
        "8 readers", per: "element and reader", times: 8, sizes: sizes,
        tailrace.readers, list.readers, segment.readers, cell.readers, array.readers),
    ],
    quantities: [tailrace.memory, list.memory, segment.memory, cell.memory, array.memory])
}

private let sizes = [4, 100, 10_000]

private let tailrace = Layout("Tailrace: segments, one evaluator, claimed inline") { step in
  LazyList<Int, Never>(state: 0) { position in
    defer { position += 1 }
    return step(position)
  }
}

private let list = Layout("segments, one default actor per list") { ActorPerList($0) }

private let segment = Layout("segments, each a default actor") { ActorPerSegment($0) }

private let cell = Layout("cells, each a default actor") { ActorPerCell($0) }

private let array = Layout("an actor around an array, a task per step") { TaskPerStep($0) }
