import Foundation

/// Two named pipes between the comparison, which asks for samples, and a test, which takes them.
///
/// Lines go through them: the names of a topic, of its row and of a stopwatch there, nanoseconds
/// back.
public struct SamplePipes: ~Copyable {
  private let folder: URL
  private let requests: UnsafeMutablePointer<FILE>
  private let samples: UnsafeMutablePointer<FILE>

  /// Tells a test where they are.
  public static let variable = "TAILRACE_SAMPLES"

  /// Makes them.
  public init() throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "samples-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for pipe in ["requests", "samples"] {
      guard mkfifo(folder.appending(path: pipe).path, 0o600) == 0 else {
        throw Flaw("cannot make a pipe in \(folder.path)")
      }
    }
    // Opened both ways, it does not wait for the other side.
    try self.init(folder, requests: "r+")
  }

  /// Those that the comparison has made.
  public init(in folder: URL) throws {
    // Opened for reading only, it ends when the comparison does.
    try self.init(folder, requests: "r")
  }

  private init(_ folder: URL, requests mode: String) throws {
    self.folder = folder
    guard let requests = fopen(folder.appending(path: "requests").path, mode),
      let samples = fopen(folder.appending(path: "samples").path, "r+")
    else { throw Flaw("there are no pipes in \(folder.path)") }
    (self.requests, self.samples) = (requests, samples)
  }

  deinit {
    fclose(requests)
    fclose(samples)
  }

  public var path: String { folder.path }

  // MARK: The comparison's side

  public func sample(_ topic: Topic, _ row: Row, by stopwatch: Stopwatch) throws -> Double {
    Self.write("\(stopwatch)\t\(topic.name)\t\(row.name)", to: requests)
    guard let nanoseconds = Double(Self.line(of: samples)) else {
      throw Flaw("\(topic.name) · \(row.name): there is no sample from inside a test")
    }
    return nanoseconds
  }

  public func end() {
    Self.write("", to: requests)
    try? FileManager.default.removeItem(at: folder)
  }

  // MARK: The test's side

  /// Takes samples of topics until no more are wanted. Each row is set up and warmed up at its first
  /// one.
  public func serve(_ topics: [Topic]) async throws {
    var last: (names: Substring, entrant: Entrant)?
    while case let request = Self.line(of: requests), let tab = request.firstIndex(of: "\t") {
      let names = request[tab...].dropFirst()
      if last?.names != names { last = (names, try await Self.entrant(names, of: topics)) }
      guard let last, let stopwatch = Stopwatch(rawValue: String(request[..<tab])) else { continue }
      Self.write(String(try await last.entrant.sample(by: stopwatch)), to: samples)
    }
  }

  private static func entrant(
    _ names: Substring, of topics: [Topic]
  ) async throws -> Entrant {
    for topic in topics {
      for row in topic.rows where names == "\(topic.name)\t\(row.name)" {
        var entrant = try await Entrant(row.ours, of: row, at: row.sizeInside)
        try await entrant.warm()
        return entrant
      }
    }
    throw Flaw("no row is called \(names)")
  }

  // MARK: Lines

  /// Says instead of the test that there will be no sample.
  public static func giveUp(in folder: String) {
    guard let samples = fopen(folder + "/samples", "r+") else { return }
    write("", to: samples)
    fclose(samples)
  }

  private static func write(_ line: String, to pipe: UnsafeMutablePointer<FILE>) {
    fputs(line + "\n", pipe)
    fflush(pipe)
  }

  private static func line(of pipe: UnsafeMutablePointer<FILE>) -> String {
    var buffer = [CChar](repeating: 0, count: 1_000)
    guard fgets(&buffer, Int32(buffer.count), pipe) != nil else { return "" }
    let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Row {
  /// The size at which it is timed inside a test.
  public var sizeInside: Int { sizes.last { $0 <= 10_000 } ?? sizes[0] }
}
