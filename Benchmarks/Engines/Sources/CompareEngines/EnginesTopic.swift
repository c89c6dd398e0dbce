import Foundation
import Measuring

extension Topic {
  /// The same list in several engines, and each engine by hand.
  ///
  /// - Parameter ports: of the servers of Valkey or Redis, if there are any.
  static func engines(_ place: Place, _ ports: Place.Ports?) -> Topic {
    Topic(
      "Engines", about: "a list of texts of 60 bytes in several engines",
      rows: files(place) + tables(place) + (ports.map { streams(place, $0) } ?? []) + [feed(place)],
      quantities: delays(place, ports))
  }

  private static let sizesOfProcess = [100, 2000]
  private static let sizesOfMachine = [100, 400]
  private static let sizesOfArray = [100, 10_000]
  private static let sizesOfReplay = [100, 10_000]

  // MARK: Files

  private static func files(_ place: Place) -> [Row] {
    [
      Row(
        "file, one at a time, survives the process", sizes: sizesOfProcess,
        Contender(
          "LazyList", given: { Growing(Files(place.file(), .survivesProcess), by: $0) },
          Growing.appendOne),
        Contender(
          "`write`", given: { try FileByHand(place.file(), by: $0) }, FileByHand.appendOne),
        table("NORMAL", place)),
      Row(
        "file, one at a time, survives the machine", sizes: sizesOfMachine,
        Contender(
          "LazyList", given: { Growing(Files(place.file(), .survivesPowerLoss), by: $0) },
          Growing.appendOne),
        Contender(
          "`write` and `fdatasync`", given: { try FileByHand(place.file(), by: $0, syncing: true) },
          FileByHand.appendOne),
        table("FULL", place)),
      Row(
        "file, `array()`, survives the machine", sizes: sizesOfArray,
        Contender(
          "LazyList",
          given: { count in Fresh(count: count) { Files(place.file(), .survivesPowerLoss) } },
          Fresh.array),
        Contender("one `write` and `fdatasync`") { count in
          try FileByHand.appendAll(FileByHand(place.file(), by: count, syncing: true))
        }, tableAtOnce(place)),
      Row(
        "file, replay, `for await`", sizes: sizesOfReplay,
        Contender(
          "LazyList", given: { try await Complete(Files(place.file()), of: $0) },
          Complete.replayOne),
        Contender(
          "lines of a `String`", given: { try FileByHand.filled(place.file(), $0) },
          FileByHand.read),
        tableRead(place)),
      Row(
        "file, replay, `array()`", sizes: sizesOfReplay,
        Contender(
          "LazyList", given: { try await Complete(Files(place.file()), of: $0) },
          Complete.replayArray),
        Contender(
          "lines of a `String`", given: { try FileByHand.filled(place.file(), $0) },
          FileByHand.read),
        tableRead(place)),
    ]
  }

  // MARK: SQLite

  private static func tables(_ place: Place) -> [Row] {
    [
      tablesOne(place, "survives the process", .survivesProcess, sizesOfProcess),
      tablesOne(place, "survives the machine", .survivesPowerLoss, sizesOfMachine),
      Row(
        "SQLite, `array()`, survives the machine", sizes: sizesOfArray,
        Contender(
          "LazyList",
          given: { count in Fresh(count: count) { Tables(place.file(), .survivesPowerLoss) } },
          Fresh.array),
        tableAtOnce(place)),
      Row(
        "SQLite, replay, `for await`", sizes: sizesOfReplay,
        Contender(
          "LazyList", given: { try await Complete(Tables(place.file()), of: $0) },
          Complete.replayOne),
        tableRead(place)),
      Row(
        "SQLite, replay, `array()`", sizes: sizesOfReplay,
        Contender(
          "LazyList", given: { try await Complete(Tables(place.file()), of: $0) },
          Complete.replayArray),
        tableRead(place)),
    ]
  }

  private static func tablesOne(
    _ place: Place, _ survives: String, _ durability: Tables.Durability, _ sizes: [Int]
  ) -> Row {
    Row(
      "SQLite, one at a time, \(survives)", sizes: sizes,
      Contender(
        "LazyList", given: { Growing(Tables(place.file(), durability), by: $0) },
        Growing.appendOne),
      table(durability.rawValue, place),
      Contender(
        "GRDB, `await write`",
        given: { try SQLiteByHand(place.file(), by: $0, durability.rawValue) },
        SQLiteByHand.appendOneAwaiting))
  }

  /// A table by hand, with the mode of `synchronous`.
  private static func table(_ mode: String, _ place: Place) -> Contender {
    Contender(
      "GRDB, `write`", given: { try SQLiteByHand(place.file(), by: $0, mode) },
      SQLiteByHand.appendOne)
  }

  private static func tableAtOnce(_ place: Place) -> Contender {
    Contender("GRDB, one transaction") { count in
      try SQLiteByHand.appendAll(SQLiteByHand(place.file(), by: count, "FULL"))
    }
  }

  private static func tableRead(_ place: Place) -> Contender {
    Contender(
      "GRDB, `fetchAll`", given: { try SQLiteByHand.filled(place.file(), $0) },
      SQLiteByHand.read)
  }

  // MARK: Valkey

  private static func streams(_ place: Place, _ ports: Place.Ports) -> [Row] {
    let (process, machine) = (ports.process, ports.machine)
    let replay = Contender(
      "`XRANGE`", given: { try await ValkeyByHand.filled(key(), port: process, $0) },
      ValkeyByHand.read)
    return [
      streamsOne("survives the process", process, sizesOfProcess),
      streamsOne("survives the machine", machine, sizesOfMachine),
      Row(
        "Valkey, `array()`, survives the machine", sizes: sizesOfArray,
        Contender(
          "LazyList",
          given: { count in Fresh(count: count) { Streams(key(), port: machine) } }, Fresh.array),
        Contender("`XADD`, all sent at once") { count in
          try await ValkeyByHand.appendAll(ValkeyByHand(key(), port: machine, by: count))
        }),
      Row(
        "Valkey, replay, `for await`", sizes: sizesOfReplay,
        Contender(
          "LazyList", given: { try await Complete(Streams(key(), port: process), of: $0) },
          Complete.replayOne),
        replay),
      Row(
        "Valkey, replay, `array()`", sizes: sizesOfReplay,
        Contender(
          "LazyList", given: { try await Complete(Streams(key(), port: process), of: $0) },
          Complete.replayArray),
        replay),
    ]
  }

  private static func streamsOne(_ survives: String, _ port: Int, _ sizes: [Int]) -> Row {
    Row(
      "Valkey, one at a time, \(survives)", sizes: sizes,
      Contender(
        "LazyList", given: { Growing(Streams(key(), port: port), by: $0) }, Growing.appendOne),
      Contender(
        "`XADD`", given: { try await ValkeyByHand(key(), port: port, by: $0) },
        ValkeyByHand.appendOne))
  }

  private static func key() -> String { UUID().uuidString }

  // MARK: The server

  private static func feed(_ place: Place) -> Row {
    Row(
      "feed, one reader of events", sizes: [100, 10_000],
      Contender("ListEndpoint", given: { try await Feeding.feed($0, place) }, Feeding.read),
      Contender(
        "an array, 1000 events for each write",
        given: { try await Feeding.byHand($0, gathering: true, place) }, Feeding.read),
      Contender(
        "an array, a write for each event",
        given: { try await Feeding.byHand($0, gathering: false, place) }, Feeding.read))
  }

  // MARK: Followers

  private static func delays(_ place: Place, _ ports: Place.Ports?) -> [Quantity] {
    var engines: [(String, @Sendable () -> Followed)] = [
      ("FileStore", { .file(place.file()) }), ("SQLiteStore", { .sqlite(place.file()) }),
    ]
    if let ports {
      engines.append(("ValkeyStore", { .valkey(key: key(), port: ports.process) }))
    }
    return engines.flatMap { who, followed in
      [(300, 0), (100, 50)].map { size, pause in
        Quantity(
          "until another process has an element, "
            + (pause == 0 ? "one after the other" : "\(pause) ms apart") + ", median",
          who: who, unit: "µs", size: size
        ) { try await followed().delay($0, pause: .milliseconds(pause), place) }
      }
    }
  }
}
