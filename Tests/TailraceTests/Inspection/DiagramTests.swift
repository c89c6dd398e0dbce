import Tailrace
import TailraceTesting
import Testing

@testable import TailraceInspection

@Suite("A diagram", .inTurn)
struct DiagramTests {
  @Test("shows what a list is made of", arguments: Picture.all)
  func table(_ picture: Picture) async {
    let text = await picture.draw()
    #expect(text == (["flowchart TD"] + picture.lines).joined(separator: "\n") + "\n", "\(text)")
  }

  /// Of the others, a closure makes the list that they are, or their elements are read from a store.
  private static let rows = Row.all.filter { row in
    !["deferred", "head and tail", "recursive", "stored", "reading"].contains {
      row.name.hasPrefix($0)
    }
  }

  @Test("reaches the source through every operator", arguments: rows, SourceKind.allCases)
  func source(_ row: Row, _ kind: SourceKind) async throws {
    let pulls = Probe<Int>()
    let list = row.apply(kind.make(pulls).named("the source"), Calls())
    #expect(list.diagram().contains("the source"), "\(list.diagram())")
    _ = try? await list.head()
    let count = pulls.count
    _ = list.diagram()
    if row.ahead == 0 { #expect(pulls.count == count, "looking demands nothing") }
  }

  @Test("is taken while a step is held", .hangLimit)
  func computing() async {
    let gate = Gate()
    let source = LazyList(1...).named("numbers")
    let list = source.map { (number: Int) async -> Int in
      await gate.wait()
      return number
    }.named("held")
    let derived = list.map { $0 + 1 }
    let reader = Task { await derived.head() }
    await gate.waitForArrivals(1)
    #expect(list.diagram().split(separator: "\n") == Self.held)
    let text = derived.diagram()
    #expect(text.contains(#"["held<br/>0 evaluated, computing"]"#), "\(text)")
    #expect(!text.contains("numbers"), "the source of a step in flight is not shown")
    gate.open()
    #expect(await reader.value == 2)
    #expect(derived.diagram().contains("numbers<br/>1 evaluated"))
  }

  private static let held: [Substring] = [
    "flowchart TD", #"  subgraph list0["held<br/>0 evaluated, computing"]"#,
    #"    stage0["map"]"#, #"    value1(["computing"])"#, "  end", "  value1 --> stage0",
  ]

  @Test("shows that something is pulled ahead", .hangLimit)
  func ahead() async {
    let gate = Gate()
    let source = LazyList(1...).map { (number: Int) async -> Int in
      if number > 1 { await gate.wait() }
      return number
    }
    let list = source.prefetching(2)
    #expect(await list.head() == 1)
    await gate.waitForArrivals(1)
    #expect(list.diagram().contains(#"value1(["computing"])"#))
    gate.open()
    #expect(await list.element(at: 1) == 2)
  }

  @Test(
    "escapes what means something in Mermaid",
    arguments: [
      ("plain words, 1: (2)", "plain words, 1: (2)"), ("a\"b", "a#34;b"), ("#35;", "#35;35#59;"),
      ("<b>&amp", "#60;b#62;#38;amp"), ("`x`", "#96;x#96;"), ("1. x", "1#46; x"),
      ("- x", "#45; x"), ("a\nb\tc", "a<br/>b c"), ("[x]{y}|z|", "#91;x#93;#123;y#125;#124;z#124;"),
      ("%%{init}%%", "#37;#37;#123;init#125;#37;#37;"), ("\\n", "#92;n"), ("_a_*", "#95;a#95;#42;"),
      ("Grüße 日本", "Grüße 日本"), ("\u{7}", "\u{FFFD}"),
    ])
  func escapes(_ text: String, _ label: String) {
    #expect(text.mermaid == label)
    #expect(LazyList(1...).named(text).diagram().contains("list0[\"\(label)<br/>"))
  }

  @Test("cuts long labels, and says where many stages end")
  func limits() {
    #expect(String(repeating: "x", count: 300).mermaid.count == 201)
    var list = LazyList(1...3)
    for _ in 0..<10_000 { list = list.map { $0 } }
    #expect(list.diagram().hasSuffix("cut([\"more than 400 stages: the rest is left out\"])\n"))
    var sum = LazyList(1...3)
    for _ in 0..<10_000 { sum = sum + LazyList(1...3) }
    #expect(sum.diagram().contains("cut(["))
  }

  @Test("disturbs nobody who reads", .hangLimit)
  func stress() async {
    let pulls = Probe<Int>()
    let source = LazyList(1...3000).map { pulls.pass($0) }.named("source")
    let tail = source.map { (number: Int) async -> Int in
      if number % 64 == 0 { await Task.yield() }
      return number
    }.prefetching(3)
    let list = zip(source.filter { $0 > 0 } + [0], tail).map { $0 + $1 }
    await withTaskGroup { group in
      for _ in 0..<3 { group.addTask { #expect(await list.reduce(0, +) == 9_003_000) } }
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<2000 { #expect(list.diagram().contains(#"["map"]"#)) }
        }
      }
    }
    #expect(pulls.count == 3000)
    #expect(list.diagram().contains("3000 evaluated, ended"))
  }

  @Test("keeps nothing that it has looked at")
  func space() async {
    let instances = InstanceCounter()
    do {
      let list = LazyList(state: instances.member()) { _ in 1 }.map { $0 }.named("list")
      _ = await list.head()
      _ = list.diagram()
      #expect(instances.alive == 1)
    }
    #expect(instances.alive == 0)
  }

  @Test("shows which values by key were computed from which, and which are out of date")
  func memos() async throws {
    let memos = Memos<Int, Int, any Error>.recursive { memos, key in
      key < 10 ? key : try await memos.value(for: 1) % 2
    }
    _ = try await memos.value(for: 10)
    memos.forget(1)
    #expect(
      memos.diagram() == """
        flowchart TD
          subgraph list0["Memos"]
            stage0["10<br/>out of date"]
            stage1["1<br/>out of date"]
          end
          stage1 --> stage0

        """)
  }
}
