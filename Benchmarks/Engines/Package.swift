// swift-tools-version: 6.2
import PackageDescription

// Products that several targets depend on.
let tailrace = Target.Dependency.product(name: "Tailrace", package: "Tailrace")
let foundation = Target.Dependency.product(name: "TailraceFoundation", package: "Tailrace")
let stored = Target.Dependency.product(name: "TailraceStored", package: "Tailrace")
let testing = Target.Dependency.product(name: "TailraceTesting", package: "Tailrace")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let httpClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")

let package = Package(
  name: "Engines",
  platforms: [.macOS(.v26)],
  products: [
    .library(name: "SQLiteStore", targets: ["SQLiteStore"]),
    .library(name: "ValkeyStore", targets: ["ValkeyStore"]),
    .executable(name: "feed", targets: ["feed"]),
    .executable(name: "watch", targets: ["watch"]),
    .executable(name: "tokens", targets: ["tokens"]),
    .executable(name: "compare-engines", targets: ["compare-engines"]),
  ],
  dependencies: [
    .package(name: "Tailrace", path: "../.."),
    // How things are measured: rows, races and tables.
    .package(name: "Benchmarks", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.24.0"),
    // Parts of what Hummingbird is made of.
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .target(
      name: "SQLiteStore",
      dependencies: [tailrace, stored, grdb]),
    .target(
      name: "ValkeyStore",
      dependencies: [tailrace, stored, nioCore, nioPosix]),
    // Lists in routers of Hummingbird.
    .target(
      name: "HummingbirdLists",
      dependencies: [tailrace, foundation, stored, hummingbird, httpTypes, lifecycle]),
    // Serves a stored list over HTTP, with a page that shows it.
    .executableTarget(
      name: "feed",
      dependencies: [
        "HummingbirdLists",
        tailrace, foundation, stored, hummingbird, httpTypes, logging, lifecycle,
      ]),
    // Prints a list of a server as it grows.
    .executableTarget(
      name: "watch",
      dependencies: [
        tailrace, foundation, stored, httpClient, nioCore,
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
      ]),
    // Generates tokens in one process, for any number of readers: an example.
    .executableTarget(
      name: "tokens",
      dependencies: [
        "HummingbirdLists",
        tailrace, foundation, stored, hummingbird, httpTypes, logging, lifecycle,
      ]),
    // The stores beside their engines by hand; writes tables into README.md.
    .executableTarget(
      name: "compare-engines",
      dependencies: [
        "SQLiteStore", "ValkeyStore", "feed",
        .product(name: "Measuring", package: "Benchmarks"),
        tailrace, foundation, stored, grdb, nioCore, nioPosix, hummingbird,
      ], path: "Sources/CompareEngines"),
    // Shared by the tests of programs that are killed.
    .target(
      name: "Walking",
      dependencies: [tailrace, stored],
      path: "Tests/Walking"),
    // A program to be killed: it writes a stored list, or follows one.
    .executableTarget(
      name: "enginewalk", dependencies: ["SQLiteStore", "ValkeyStore", "Walking"],
      path: "Tests/EngineWalk"),
    .testTarget(
      name: "SQLiteStoreTests",
      dependencies: [
        "SQLiteStore", "Walking", "enginewalk",
        grdb, tailrace, stored, testing,
      ]),
    .testTarget(
      name: "ValkeyStoreTests",
      dependencies: [
        "ValkeyStore", "Walking", "enginewalk",
        nioCore, nioPosix, tailrace, stored, testing,
      ]),
    // The handler that `feed` is compared with.
    .executableTarget(
      name: "feedbyhand",
      dependencies: [hummingbird, logging], path: "Tests/FeedByHand"),
    .testTarget(
      name: "FeedTests",
      dependencies: [
        "feed", "watch", "tokens", "feedbyhand", "HummingbirdLists",
        tailrace, foundation, stored, testing, httpClient, httpTypes, hummingbird,
        .product(name: "HummingbirdTesting", package: "hummingbird"),
        lifecycle,
      ]),
  ],
  swiftLanguageModes: [.v6]
)
