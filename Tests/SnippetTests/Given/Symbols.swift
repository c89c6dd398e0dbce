import Foundation
import Tailrace
import TailraceStored
import TailraceTesting

// MARK: Lists

struct LazyListGiven: Given {
  func load(page: Int) async throws -> [String]? { page <= 3 ? ["order \(page)"] : nil }
  func index(_ page: [String]) {}
}

struct LazyListBuildingGiven: Given {
  let socket = Socket()
}

struct LazyListConcurrencyGiven: Given {
  let pages = LazyList(1...3).setFailureType(to: (any Error).self)
  let urls = ["one", "two", "three", "four", "five"].lazyList
}

struct LazyListDeferringGiven: Given {
  func readDirectory() -> [String] { [] }
}

struct LazyListUnfoldingGiven: Given {
  let api = PagedAPI()
}

struct LazyListUnorderedGiven: Given {
  let urls = ["one", "two", "three", "four", "five"].lazyList

  func load(_ url: String) async -> String { url }
}

struct MemoGiven: Given {
  func load() async throws -> Settings { Settings() }
}

struct SharedIteratorGiven: Given {
  let list = LazyList(1...8)

  func run(_ job: Int) async {}
}

struct MemosGiven: Given {
  let pages = Memos { (number: Int) in "page \(number)" }

  func download(page: Int) async throws -> String { "page \(page)" }
  func thumbnail(of name: String) async throws -> Data { Data(name.utf8) }
}

// MARK: Operators

struct ThrowingCancellationGiven: Given {
  let naturals = LazyList(1...)
  let settings = Memo { "settings" }
  var presses: Signal<Int, Never> { CommonGiven().presses }

  func isMersennePrime(_ number: Int) -> Bool { number == 7 }
}

struct ConcurrentForEachGiven: Given {
  let urls = ["one", "two"].lazyList

  func store(_ url: String) async {}
}

struct FailingGiven: Given {
  struct ParseError: Error {}

  let parsed = LazyList<String, ParseError>.just("tea, 5")
}

struct FailingAsGiven: Given {
  struct ParseError: Error {}

  let words = ["1", "2", "three"]

  func parse(_ word: String) throws(ParseError) -> Int {
    guard let number = Int(word) else { throw ParseError() }
    return number
  }
}

struct OnEachGiven: Given {
  let loaded = LazyList([PagedAPI.Page(title: "First")])
}

struct RecoverGiven: Given {
  enum OrderError: Error { case notLoaded(because: any Error) }

  let onlineOrders = LazyList<String, any Error>.failing(Offline())
  let storedOrders = LazyList(["order 1a"])
  let pages = LazyList<String, any Error>.failing(Offline())
}

struct RetryGiven: Given {
  let urls = LazyList(0...5)
  private let failures = Counter()

  /// The function of the article *Failures*.
  func load(_ number: Int) async throws -> String {
    if number == 3, failures.increment() == 1 { throw FailuresGiven.NotThere(number: number) }
    return "page \(number)"
  }
}

// MARK: Signals

struct LazyListPushingGiven: Given {
  let orders = LazyList(["order 1a", "order 1b"])
}

struct MergingGiven: Given {
  let accesses = LazyList(["GET /"])
  let errors = LazyList(["404"])
  let presses = Signal<Int, Never> { $0.complete() }
  let keys = Signal<Int, Never> { $0.complete() }
  let gestures = Signal<Int, Never> { $0.complete() }
}

struct SignalGiven: Given {
  let model = Model()

  struct Model: Sendable {
    struct Observation: Sendable { func stop() {} }

    func observe(_ handler: @Sendable (Int) -> Void) -> Observation { Observation() }
  }
}

struct SignalBatchesGiven: Given {
  let client = Client()
  let feed = Signal<String, Never> { subscriber in
    for event in ["opened", "paid", "sent"] { subscriber.send(event) }
    subscriber.complete()
  }

  struct Client: Sendable { func write(_ events: [String]) {} }
}

struct SignalDeliveringGiven: Given {
  let downloads = Signal<Int, any Error> { $0.complete() }
}

struct SignalFailuresGiven: Given {
  let downloads = Signal<Int, any Error> { $0.complete() }
  var presses: Signal<Int, Never> { CommonGiven().presses }
}

struct SignalOperatorsGiven: Given {
  private let common = CommonGiven()
  var presses: Signal<Int, Never> { common.presses }
  var ticks: Signal<Int, Never> { common.ticks }
  let words = Signal<String, Never> { subscriber in
    for word in ["1", "x", "3"] { subscriber.send(word) }
    subscriber.complete()
  }
}

struct SignalSharingGiven: Given {
  let feed = Signal<Int, Never> { subscriber in
    for price in 1...3 { subscriber.send(price) }
    subscriber.complete()
  }
}

struct SignalSourcesGiven: Given {
  struct Notification: Sendable { let title: String }

  let exchange = "exchange"
  let notifications = LazyList([Notification(title: "News")])
}

struct SubscriberGiven: Given {
  struct Updates: Sendable { func stop() {} }

  let socket = Socket()
  let updates = Updates()
  let subscriber = Signal<Int, Never>.makeSignal().1
}

// MARK: Schedulers

@MainActor
final class Label {
  var text = ""
}

struct QueueSchedulerGiven: Given {
  let label = LabelBox()

  /// A label is made on the main actor.
  struct LabelBox: Sendable {
    @MainActor static let label = Label()
    @MainActor var text: String {
      get { Self.label.text }
      nonmutating set { Self.label.text = newValue }
    }
  }
}

struct ScheduledWorkGiven: Given {
  let scheduler = VirtualScheduler()
}

// MARK: Tuples and collections

struct TupleGiven: Given {
  let names = ["tea", "milk"].lazyList
  let counts = [5, 2].lazyList
}

struct Countdown: IteratorProtocol, Sendable {
  private var next_: Int

  init(from start: Int) { next_ = start }

  mutating func next() -> Int? {
    guard next_ > 0 else { return nil }
    defer { next_ -= 1 }
    return next_
  }
}

struct EnumeratorsGiven: Given {
  var directory: NSDictionary { NSDictionary(dictionary: ["a": "Ada"]) }
}

/// A file of two lines.
struct FileErrorGiven: Given {
  private let file = SnippetFile()
  var url: URL { file.url }

  init() {
    do { try Data("one\ntwo\n".utf8).write(to: url) } catch { fatalError("\(error)") }
  }
}

struct FileListsGiven: Given {
  let url = URL(filePath: #filePath)
}

// MARK: Stored lists

struct FileStoreGiven: Given {
  private let file = SnippetFile()
  var url: URL { file.url }
}

struct StoredListsEndpointGiven: Given {
  private let place = SnippetFile()
  var directory: URL { place.url }
}

struct Token: Codable, Sendable { let text: String }

private let tokens = ListEndpoint(
  MemoryStore<Token, Int>([Token(text: "Hello"), Token(text: "world")], isEnded: true))

struct ListEventsGiven: Given {
  struct Connection: Sendable { func write(_ bytes: Data) async throws {} }

  let endpoint = tokens
  let connection = Connection()
}

struct RemoteListGiven: Given {
  let transport = tokens.transport
}

struct LazyListMirroringGiven: Given {
  let url = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID())")
  let remote = RemoteList<Token>(tokens.transport, path: "/runs/7", element: .json)
}

typealias ByteCodingGiven = FileStoreGiven

/// Stands for a table of a database.
actor Table {
  func rows(from position: Int, upTo count: Int) -> ([String], Bool) { ([], false) }
  func grows(beyond position: Int) async throws {}
  var checkpoint: ListCheckpoint<Int>? { nil }
  var extent: ListExtent { ListExtent(identity: nil, count: 0, isEnded: false) }
  func append(_ commit: ListCommit<String, Int>, ifCountIs count: Int) -> Bool { false }
}

// MARK: Testing

struct VirtualSchedulerGiven: Given {
  let scheduler = VirtualScheduler()

  func poll(every interval: Duration, on clock: VirtualScheduler.Clock) async {
    try? await clock.sleep(for: interval)
  }
}

// MARK: Marbles

struct MarbleRecordingGiven: Given {
  let scheduler = VirtualScheduler()

  var signal: Signal<String, Never> { scheduler.source("a-b-----|").signal }
}

struct MarblesGiven: Given {
  let marbles: Marbles = "a-b-|"
}

struct VirtualSchedulerMarblesGiven: Given {
  let scheduler = VirtualScheduler()

  struct Order: Sendable {
    let number: Int

    init(_ number: Int) { self.number = number }
  }

  var list: LazyList<Int, Never> { scheduler.source("-1-2|", of: Int.self).list }
}
