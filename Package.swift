// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Tailrace",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Tailrace", targets: ["Tailrace"]),
    .library(name: "TailraceFoundation", targets: ["TailraceFoundation"]),
    .library(name: "TailraceTesting", targets: ["TailraceTesting"]),
    .library(name: "TailraceObservation", targets: ["TailraceObservation"]),
    .executable(name: "textscan", targets: ["textscan"]),
    .executable(name: "recrawl", targets: ["recrawl"]),
  ],
  targets: [
    .target(name: "Tailrace"),
    .target(name: "FileReading"),
    .target(name: "TailraceFoundation", dependencies: ["FileReading", "Tailrace"]),
    .target(name: "TailraceTesting", dependencies: ["Tailrace"]),
    .target(name: "TailraceObservation", dependencies: ["Tailrace"]),
    .executableTarget(name: "textscan", dependencies: ["FileReading", "Tailrace"]),
    .executableTarget(
      name: "recrawl", dependencies: ["FileReading", "Tailrace", "TailraceFoundation"]),
    // Draws the pictures of the catalogue.
    .executableTarget(name: "marbles", dependencies: ["Tailrace", "TailraceTesting"]),
    // What tests of recordings and of textscan read a trace with.
    .target(name: "TraceReading", path: "Tests/TraceReading"),
    .testTarget(
      name: "TailraceTests",
      dependencies: ["Tailrace", "TailraceFoundation", "TailraceTesting", "TraceReading"]),
    .testTarget(
      name: "ObservationTests",
      dependencies: ["Tailrace", "TailraceObservation", "TailraceTesting"]),
    // Clients in other modes of the language than the library's.
    .testTarget(
      name: "MainActorClientTests", dependencies: ["Tailrace"],
      swiftSettings: [
        .defaultIsolation(MainActor.self), .enableUpcomingFeature("InferIsolatedConformances"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
    .testTarget(
      name: "Swift5ClientTests", dependencies: ["Tailrace"],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    // Every Swift block of the documentation is a test.
    .executableTarget(name: "SnippetTool", path: "Tests/SnippetTool"),
    .plugin(
      name: "SnippetPlugin", capability: .buildTool(), dependencies: ["SnippetTool"],
      path: "Tests/SnippetPlugin"),
    .testTarget(
      name: "SnippetTests",
      dependencies: ["Tailrace", "TailraceFoundation", "TailraceObservation", "TailraceTesting"],
      // Examples name what they do not use; and it takes minutes to optimise so many.
      swiftSettings: [.unsafeFlags(["-suppress-warnings", "-Onone"])], plugins: ["SnippetPlugin"]),
    .testTarget(name: "MarblesTests", dependencies: ["Tailrace", "TailraceTesting", "marbles"]),
    .testTarget(
      name: "TextscanTests", dependencies: ["FileReading", "Tailrace", "textscan", "TraceReading"]),
    .testTarget(
      name: "RecrawlTests", dependencies: ["Tailrace", "TailraceFoundation", "recrawl"]),
    // Kills processes that write stored lists: the test starts the program beside it.
    .executableTarget(
      name: "crashwalk", dependencies: ["Tailrace", "TailraceFoundation"], path: "Tests/CrashWalk"),
    .testTarget(name: "CrashTests", dependencies: ["crashwalk"]),
  ],
  swiftLanguageModes: [.v6]
)
