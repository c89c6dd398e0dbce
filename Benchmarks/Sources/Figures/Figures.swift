/// Prints what Tailrace costs beside its alternatives, as ratios measured in one process.
///
/// ```
/// swift run -c release --package-path Benchmarks figures           # the tables
/// swift run -c release --package-path Benchmarks figures --long    # memory of 100 million elements
/// ```
@main
struct Figures {
  static func main() async {
    switch CommandLine.arguments.dropFirst() {
    case []: await printTables()
    case ["--long"]: await printGrowth()
    default: print("usage: figures [--long]")
    }
  }

  private static func printTables() async {
    // Memory comes first: it is measured best in a heap that nothing else has used.
    let bytes = await layoutMemory()
    print("| work | Tailrace, ns | peer | peer, ns | ratio | floor |")
    print("|---|---|---|---|---|---|")
    for row in passes() + sharing() { print(await row.measured()) }
    print("\nAn evaluated `LazyList<Int, Never>`: \(decimal(bytes[0])) bytes per element.\n")
    print("| layout, plain steps | first pass | again | 8 readers | bytes per element |")
    print("|---|---|---|---|---|")
    for line in await layoutLines(bytes) { print(line) }
    print("\n(checksum \(checksum.load(ordering: .relaxed)))")
  }

  private static func printGrowth() async {
    let count = 100_000_000
    guard let growth = await growthOfLongPass(count) else { return print("this needs /proc") }
    print("\(count) elements, head not held: \(decimal(growth / 1e6)) MB of growth")
  }
}
