// swift-tools-version: 6.2
import PackageDescription

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
      dependencies: [
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ]),
    .target(
      name: "ValkeyStore",
      dependencies: [
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),
    // Lists in routers of Hummingbird.
    .target(
      name: "HummingbirdLists",
      dependencies: [
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceFoundation", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    // Serves a stored list over HTTP, with a page that shows it.
    .executableTarget(
      name: "feed",
      dependencies: [
        "HummingbirdLists",
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceFoundation", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    // Prints a list of a server as it grows.
    .executableTarget(
      name: "watch",
      dependencies: [
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceFoundation", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
      ]),
    // Generates tokens in one process, for any number of readers: an example.
    .executableTarget(
      name: "tokens",
      dependencies: [
        "HummingbirdLists",
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceFoundation", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    // The stores beside their engines by hand; writes tables into README.md.
    .executableTarget(
      name: "compare-engines",
      dependencies: [
        "SQLiteStore", "ValkeyStore", "feed",
        .product(name: "Measuring", package: "Benchmarks"),
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceFoundation", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Hummingbird", package: "hummingbird"),
      ], path: "Sources/CompareEngines"),
    // Shared by the tests of programs that are killed.
    .target(
      name: "Walking",
      dependencies: [
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
      ],
      path: "Tests/Walking"),
    // A program to be killed: it writes a stored list, or follows one.
    .executableTarget(
      name: "enginewalk", dependencies: ["SQLiteStore", "ValkeyStore", "Walking"],
      path: "Tests/EngineWalk"),
    .testTarget(
      name: "SQLiteStoreTests",
      dependencies: [
        "SQLiteStore", "Walking", "enginewalk",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "TailraceTesting", package: "Tailrace"),
      ]),
    .testTarget(
      name: "ValkeyStoreTests",
      dependencies: [
        "ValkeyStore", "Walking", "enginewalk",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "TailraceTesting", package: "Tailrace"),
      ]),
    // The handler that `feed` is compared with.
    .executableTarget(
      name: "feedbyhand",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
      ], path: "Tests/FeedByHand"),
    .testTarget(
      name: "FeedTests",
      dependencies: [
        "feed", "watch", "tokens", "feedbyhand", "HummingbirdLists",
        .product(name: "Tailrace", package: "Tailrace"),
        .product(name: "TailraceFoundation", package: "Tailrace"),
        .product(name: "TailraceStored", package: "Tailrace"),
        .product(name: "TailraceTesting", package: "Tailrace"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdTesting", package: "hummingbird"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
