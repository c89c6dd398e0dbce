import Tailrace

extension Diagram {
  /// Operators of signals.
  static let signals = [
    Diagram("signal-map", "map { $0 * 10 }") { $0.read($0.signal("-1-2-3-|").map { $0 * 10 }) },
    Diagram("signal-filter", "filter { $0 != 2 }") {
      $0.read($0.signal("-1-2-3-|").filter { $0 != 2 })
    },
    Diagram("signal-compactMap", "compactMap { $0 > 1 ? $0 * 10 : nil }") {
      $0.read($0.signal("-1-2-3-|").compactMap { $0 > 1 ? $0 * 10 : nil })
    },
    Diagram("signal-prefix", "prefix(2)") { $0.read($0.signal("-1-2-3-|").prefix(2)) },
    Diagram("signal-batches", "batches(upTo: 2)") {
      $0.read($0.signal("-1-(23)-(456)|").batches(upTo: 2))
    },
    Diagram("signal-merging", "first.merging(second)") { scene in
      let (first, second) = (scene.signal("-1---2---|"), scene.signal("---7--8-|"))
      scene.read(first.merging(second))
    },
    Diagram("signal-memoized", "memoized()") { scene in
      let list = scene.signal("-1-2-3-4-|").memoized()
      scene.read(list)
      scene.later(5) { scene.read(list, "a reader who is late") }
    },
    Diagram("signal-shared", "shared(replaying: 1)") { scene in
      let shared = scene.signal("-1-2-3-4-|").shared(replaying: 1)
      scene.read(shared)
      scene.later(4) { scene.read(shared, "a reader who is late") }
    },
  ]
}

extension Scene {
  /// Does something at a later tick.
  func later(_ ticks: Int, _ action: @escaping @Sendable () -> Void) {
    scheduler.schedule(after: .seconds(ticks), action)
  }
}
