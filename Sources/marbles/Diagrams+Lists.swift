import Tailrace

extension Diagram {
  /// Operators that give an element when they have got what they need for it.
  static let lists = [
    Diagram("map", "map { $0 * 10 }") { $0.read($0.list("-1-2-3-|").map { $0 * 10 }) },
    Diagram("filter", "filter { $0.isMultiple(of: 2) }") {
      $0.read($0.list("-1-2-3-4-|").filter { $0.isMultiple(of: 2) })
    },
    Diagram("compactMap", "compactMap { $0 > 1 ? $0 * 10 : nil }") {
      $0.read($0.list("-1-2-3-|").compactMap { $0 > 1 ? $0 * 10 : nil })
    },
    Diagram("flatMap", "flatMap { n in [n, n * 10] }") {
      $0.read($0.list("-1--2--3-|").flatMap { n in [n, n * 10] })
    },
    Diagram("joined", "joined()") { scene in
      let first = scene.list("-1-2|")
      let second = scene.list("-3-4|")
      scene.read(LazyList([first, second]).joined())
    },
    Diagram("plus", "first + second") { scene in
      let (first, second) = (scene.list("-1-2|"), scene.list("-3-4|"))
      scene.read(first + second)
    },
    Diagram("prepending", "prepending(0)") { $0.read($0.list("--1-2-|").prepending(0)) },
    Diagram("interspersed", "interspersed(with: 0)") {
      $0.read($0.list("-1--2--3-|").interspersed(with: 0))
    },
    // Endless, and the second round takes no time.
    Diagram("cycled", "cycled().prefix(5)") { $0.read($0.list("-1-2-|").cycled().prefix(5)) },
    Diagram("prefix", "prefix(2)") { $0.read($0.list("-1-2-3-4-|").prefix(2)) },
    Diagram("prefix-while", "prefix(while: { $0 < 3 })") {
      $0.read($0.list("-1-2-3-4-|").prefix(while: { $0 < 3 }))
    },
    Diagram("dropFirst", "dropFirst(2)") { $0.read($0.list("-1-2-3-4-|").dropFirst(2)) },
    Diagram("drop-while", "drop(while: { $0 < 3 })") {
      $0.read($0.list("-1-2-3-1-|").drop(while: { $0 < 3 }))
    },
    Diagram("dropLast", "dropLast(1)") { $0.read($0.list("-1-2-3-|").dropLast(1)) },
    Diagram("suffix", "suffix(2)") { $0.read($0.list("-1-2-3-|").suffix(2)) },
    Diagram("removeDuplicates", "removeDuplicates()") {
      $0.read($0.list("-1-1-2-2-1-|").removeDuplicates())
    },
    Diagram("uniqued", "uniqued()") { $0.read($0.list("-1-1-2-2-1-|").uniqued()) },
    Diagram("reductions", "reductions(0, +)") {
      $0.read($0.list("-1-2-3-4-|").reductions(0) { $0 + $1 })
    },
    Diagram("enumerated", "enumerated()") {
      $0.read($0.list("-7--8--9-|").enumerated(), naming: { "(\($0), \($1))" })
    },
    Diagram("adjacentPairs", "adjacentPairs()") {
      $0.read($0.list("-1--2--3-|").adjacentPairs(), naming: { "(\($0), \($1))" })
    },
    Diagram("chunks", "chunks(ofCount: 2)") {
      $0.read($0.list("-1-2-3-4-5-|").chunks(ofCount: 2))
    },
    Diagram("windows", "windows(ofCount: 2)") {
      $0.read($0.list("-1--2--3--4-|").windows(ofCount: 2))
    },
    Diagram("chunked", "chunked { $0 < $1 }") {
      $0.read($0.list("-1-2-1-3-|").chunked { $0 < $1 })
    },
    Diagram("zip", "zip(first, second)") { scene in
      let (first, second) = (scene.list("-1-2-3-|"), scene.list("---7---8|"))
      scene.read(zip(first, second), naming: { "(\($0), \($1))" })
    },
    Diagram("catch", "catch { _ in [8, 9] }") {
      $0.read($0.failing("-1-2-#").catch { _ in [8, 9] })
    },
    Diagram("replacingFailure", "replacingFailure(with: 0)") {
      $0.read($0.failing("-1-2-#").replacingFailure(with: 0))
    },
    Diagram("endingAtFailure", "endingAtFailure()") {
      $0.read($0.failing("-1-2-#").endingAtFailure())
    },
  ]
}
