import Tailrace

extension Topic {
  /// The layout of Tailrace beside those that lost.
  ///
  /// The losers hold only Ints, are compiled with what measures them, and know neither failure nor
  /// cancellation: nothing that they lose is lost to generics or to a module's border.
  public static let layouts = Topic(
    "Layouts", about: "how memo cells can be laid out and isolated",
    works: [
      Work("first pass", contenders: everyLayout { $0.firstPass }),
      Work("read again", contenders: everyLayout { $0.again }),
      Work("8 readers", readers: 8, contenders: everyLayout { $0.readers }),
    ],
    quantities: everyLayout { $0.memory })
}

private func everyLayout<T>(_ measure: (any Measurable) -> T) -> [T] {
  [tailrace, perList, perSegment, perCell, straightforward].map(measure)
}

private let tailrace = Layout(name: "Tailrace: segments, one evaluator, claimed inline") { step in
  LazyList<Int, Never>(state: 0) { position in
    defer { position += 1 }
    return step(position)
  }
}
private let perList = Layout(name: "segments, one default actor per list") { ActorPerList($0) }
private let perSegment = Layout(name: "segments, each a default actor") { ActorPerSegment($0) }
private let perCell = Layout(name: "cells, each a default actor") { ActorPerCell($0) }
private let straightforward = Layout(name: "an actor around an array, a task per step") {
  TaskPerStep($0)
}
