import Tailrace

extension Diagram {
  /// Operators that work ahead, or at the same time.
  static let times = [
    Diagram("prefetching", "prefetching(2)") { scene in
      scene.read(scene.list("-1-2-3-4-5|").prefetching(2), "a slow reader", taking: 4)
    },
    Diagram("concurrentMap", "concurrentMap(limit: 2) { n in await work(n) }") { scene in
      let list = scene.list("-(1234)|")
      let lane = scene.row(.work)
      scene.read(
        list.concurrentMap(limit: 2) { n in
          await scene.work("\(n)", n.isMultiple(of: 2) ? 2 : 5, in: lane)
          return n * 10
        })
    },
    Diagram(
      "concurrentMapUnordered", "concurrentMapUnordered(limit: 2) { n in await work(n) }"
    ) { scene in
      let list = scene.list("-(1234)|")
      let lane = scene.row(.work)
      scene.read(
        list.concurrentMapUnordered(limit: 2) { n in
          await scene.work("\(n)", n.isMultiple(of: 2) ? 2 : 5, in: lane)
          return n * 10
        })
    },
    Diagram("lists-merging", "first.merging(second)") { scene in
      let (first, second) = (scene.list("-1---2---|"), scene.list("---7--8-|"))
      scene.read(first.merging(second))
    },
  ]
}
