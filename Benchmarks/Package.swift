// swift-tools-version: 6.2
import PackageDescription

/// A topic is a file in `Sources/Works/Topics` and a target of three lines in `Sources/Benchmarks`.
let topics = [
  "Iteration", "FirstPass", "Collecting", "FanOut", "Contention", "AsyncSteps", "Operators",
  "Streams", "Depth", "Memory", "Memos", "Collections", "Schedulers", "Signals", "WorkingAhead",
  "Layouts",
]

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Tailrace", path: ".."),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    // Without its traits it needs no library that a machine with Swift does not have.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "Allocations"),
    .target(
      name: "Works",
      dependencies: [
        "Allocations", "OpenCombine",
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceFoundation", package: "Tailrace"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
      ]),
    .executableTarget(name: "compare", dependencies: ["Works"], path: "Sources/Compare"),
    .target(
      name: "Registering",
      dependencies: ["Works", .product(name: "Benchmark", package: "benchmark")]),
  ]
    + topics.map { topic in
      .executableTarget(
        name: topic + "Benchmarks",
        dependencies: ["Registering", .product(name: "Benchmark", package: "benchmark")],
        path: "Sources/Benchmarks/" + topic,
        plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    },
  swiftLanguageModes: [.v6]
)
