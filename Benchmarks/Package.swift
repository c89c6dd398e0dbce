// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v26)],
  products: [
    // For comparisons in other packages: rows, races and tables, without a dependency.
    .library(name: "Measuring", targets: ["Measuring"])
  ],
  dependencies: [
    .package(name: "Tailrace", path: ".."),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
    .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    // Without its traits it needs no library that a machine with Swift does not have.
    .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
  ],
  targets: [
    .target(name: "Allocations"),
    // The measured work: a topic is a file in `Sources/Works/Topics`.
    .target(
      name: "Works",
      dependencies: [
        "Allocations", "Measuring", "OpenCombine",
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceFoundation", package: "Tailrace"),
        .product(name: "TailraceInspection", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
      ]),
    // That it compiles is its test: a list's operators stay ours beside another package's.
    .target(
      name: "Neighbours",
      dependencies: [
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
      ]),
    // How it is measured: rows whose contenders take turns, and tables of what came out.
    .target(name: "Measuring"),
    .executableTarget(
      name: "compare", dependencies: ["Measuring", "Works"], path: "Sources/Compare"),
    .testTarget(name: "InsideTests", dependencies: ["Measuring", "Works"]),
    // The plugin takes those targets alone whose folder is in one named Benchmarks.
    .executableTarget(
      name: "Benchmarks",
      dependencies: ["Measuring", "Works", .product(name: "Benchmark", package: "benchmark")],
      path: "Sources/Benchmarks/All",
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
  ],
  swiftLanguageModes: [.v6]
)
