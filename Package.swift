// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Tailrace",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    // Lists, memos, signals, schedulers and tuples; each is a product of its own, too.
    .library(name: "Tailrace", targets: ["Tailrace"]),
    .library(name: "TailraceLists", targets: ["TailraceLists"]),
    .library(name: "TailraceMemos", targets: ["TailraceMemos"]),
    .library(name: "TailraceSignals", targets: ["TailraceSignals"]),
    .library(name: "TailraceSchedulers", targets: ["TailraceSchedulers"]),
    .library(name: "TailraceTuples", targets: ["TailraceTuples"]),
    .library(name: "TailraceStored", targets: ["TailraceStored"]),
    .library(name: "TailraceFoundation", targets: ["TailraceFoundation"]),
    .library(name: "TailraceTesting", targets: ["TailraceTesting"]),
    // For tests: to link it is to replace the executors of the process.
    .library(name: "TailraceTestingProcess", targets: ["TailraceTestingProcess"]),
    .library(name: "TailraceObservation", targets: ["TailraceObservation"]),
    .library(name: "TailraceInspection", targets: ["TailraceInspection"]),
  ],
  targets: [
    // What several need and none owns.
    .target(name: "TailraceSupport"),
    .target(name: "FileReading", dependencies: ["TailraceSupport"]),
    .target(name: "TailraceLists", dependencies: ["TailraceSupport"]),
    .target(name: "TailraceMemos", dependencies: ["TailraceLists", "TailraceSupport"]),
    .target(name: "TailraceSchedulers", dependencies: ["TailraceSupport"]),
    .target(
      name: "TailraceSignals",
      dependencies: ["TailraceLists", "TailraceSchedulers", "TailraceSupport"]),
    .target(name: "TailraceTuples", dependencies: ["TailraceLists", "TailraceSupport"]),
    .target(
      name: "Tailrace",
      dependencies: [
        "TailraceLists", "TailraceMemos", "TailraceSchedulers", "TailraceSignals", "TailraceTuples",
      ]),
    .target(
      name: "TailraceStored",
      dependencies: ["FileReading", "TailraceFoundation", "TailraceLists", "TailraceSupport"]),
    .target(
      name: "TailraceFoundation",
      // The last three for the words of their errors.
      dependencies: [
        "FileReading", "TailraceLists", "TailraceMemos", "TailraceSchedulers", "TailraceSignals",
        "TailraceTuples",
      ]),
    .target(
      name: "TailraceTesting", dependencies: ["Tailrace", "TailraceStored", "TailraceSupport"]),
    .target(name: "CProcessExecutors"),
    .target(
      name: "TailraceTestingProcess",
      dependencies: ["CProcessExecutors", "TailraceSupport", "TailraceTesting"]),
    .target(name: "TailraceObservation", dependencies: ["TailraceLists"]),
    .target(
      name: "TailraceInspection",
      dependencies: ["TailraceLists", "TailraceMemos", "TailraceSupport"]),
    .executableTarget(
      name: "textscan", dependencies: ["FileReading", "Tailrace", "TailraceInspection"]),
    .executableTarget(
      name: "recrawl",
      dependencies: ["FileReading", "Tailrace", "TailraceFoundation", "TailraceStored"]),
    // Draws the pictures of the catalogue.
    .executableTarget(name: "marbles", dependencies: ["Tailrace", "TailraceTesting"]),
    // What tests of recordings and of textscan read a trace with.
    .target(name: "TraceReading", path: "Tests/TraceReading"),
    .testTarget(
      name: "TailraceTests",
      dependencies: [
        "Tailrace", "TailraceFoundation", "TailraceInspection", "TailraceStored", "TailraceSupport",
        "TailraceTesting", "TailraceTestingProcess", "TraceReading",
      ]),
    .testTarget(
      name: "ObservationTests",
      dependencies: ["Tailrace", "TailraceObservation", "TailraceTesting"]),
    // Beside ordinary tests, which it must not change.
    .testTarget(
      name: "ProcessTests",
      dependencies: [
        "Tailrace", "TailraceObservation", "TailraceSupport", "TailraceTesting",
        "TailraceTestingProcess",
      ]),
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
      dependencies: [
        "Tailrace", "TailraceFoundation", "TailraceInspection", "TailraceObservation",
        "TailraceStored", "TailraceTesting", "TailraceTestingProcess",
      ],
      // Examples name what they do not use; and it takes minutes to optimise so many.
      swiftSettings: [.unsafeFlags(["-suppress-warnings", "-Onone"])], plugins: ["SnippetPlugin"]),
    // What the documents link to, answer and show.
    .testTarget(name: "DocumentTests"),
    .testTarget(name: "MarblesTests", dependencies: ["Tailrace", "TailraceTesting", "marbles"]),
    .testTarget(
      name: "TextscanTests", dependencies: ["FileReading", "Tailrace", "textscan", "TraceReading"]),
    .testTarget(
      name: "RecrawlTests",
      dependencies: ["Tailrace", "TailraceFoundation", "TailraceStored", "recrawl"]),
    // Kills processes that write stored lists: the test starts the program beside it.
    .executableTarget(
      name: "crashwalk", dependencies: ["Tailrace", "TailraceStored"], path: "Tests/CrashWalk"),
    .testTarget(name: "CrashTests", dependencies: ["crashwalk"]),
  ],
  swiftLanguageModes: [.v6]
)
