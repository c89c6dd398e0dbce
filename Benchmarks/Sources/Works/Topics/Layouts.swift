import Tailrace

extension Topic {
  /// The layout of Tailrace beside those that lost.
  ///
  /// The losers hold only Ints, are compiled with what measures them, and know neither failure nor
  /// cancellation: nothing that they lose is lost to generics or to a module's border.
  public static let layouts = Topic(
    "Layouts", about: "how memo cells can be laid out and isolated",
    works: [
      Work("first pass", contenders: candidates.map(\.firstPass)),
      Work("read again", contenders: candidates.map(\.again)),
      Work("8 readers", readers: 8, contenders: candidates.map(\.readers)),
    ],
    quantities: candidates.map(\.memory))
}

private let candidates: [Layout] = [
  Layout("Tailrace: segments, one evaluator, claimed inline") { step in
    LazyList<Int, Never>(state: 0) { position in
      defer { position += 1 }
      return step(position)
    }
  },
  Layout("segments, one default actor per list") { ActorPerList($0) },
  Layout("segments, each a default actor") { ActorPerSegment($0) },
  Layout("cells, each a default actor") { ActorPerCell($0) },
  Layout("an actor around an array, a task per step") { TaskPerStep($0) },
]
