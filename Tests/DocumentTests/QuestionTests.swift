import Foundation
import Testing

/// What people ask, and where it is answered: on README, or on a page that README links to.
@Suite("Questions that people ask")
struct QuestionTests {
  struct Question: CustomTestStringConvertible, Sendable {
    let text: String
    let page: String
    let words: [String]

    init(_ text: String, _ page: String, _ words: String...) {
      (self.text, self.page, self.words) = (text, page, words)
    }

    var testDescription: String { text }
  }

  static let lists = "Sources/Tailrace/Tailrace.docc/"
  static let stored = "Sources/TailraceStored/TailraceStored.docc/"
  static let screens = "Sources/TailraceObservation/TailraceObservation.docc/"

  static let questions = [
    Question(
      "How do I cache an API call for five minutes?", "README.md", "lifetime: .seconds(300)",
      "kept for five minutes"),
    Question(
      "How do I avoid duplicate requests, with a cache that expires?", lists + "ValuesByKey.md",
      "no duplicate request", "lifetime: .seconds(300)", "expire a value that was not used"),
    Question(
      "How do I return a stale value while it is renewed, or if its server fails?",
      lists + "ValuesByKey.md", "stale while revalidate", "stale if error"),
    Question(
      "How do I test that a cached value expires?", lists + "ValuesByKey.md",
      "clock: scheduler.clock"),
    Question(
      "How are values computed from other values of the cache?", lists + "DependentKeys.md",
      "What depends on a key", "dynamic programming"),
    Question(
      "How do I limit the requests of a whole program?", lists + "ConcurrencyLimits.md",
      "One limit for a whole program", "RequestLimit(4)"),
    Question(
      "How do two processes share a stored list?", stored + "StoringLists.md", "Two processes",
      "atTail: .computeOrFollow"),
    Question("How do I come from RxSwift?", lists + "ComingFromAsyncSequences.md", "RxSwift"),
    Question("Where do I report a fault of security?", ".github/SECURITY.md", "Report privately"),
    Question("How do I cache one value that expires?", lists + "WhichType.md", "with one key"),
    Question(
      "How do I invalidate a value?", lists + "WhichType.md", "To invalidate", "forget it",
      "make another one"),
    Question(
      "How do I show progress?", lists + "InAnApp.md", "Show progress", "evaluatedCount", "onEach"),
    Question(
      "How do I limit concurrency?", lists + "ConcurrencyLimits.md", "concurrentMap(limit: 4)",
      "concurrentForEach(limit: 4)"),
    Question(
      "How do I debounce a search field?", lists + "RecipesForStreams.md",
      "Debounce a search field",
      "flatMapLatest", "only the newest query counts"),
    Question(
      "How do I test with fake time?", lists + "TestingYourOwnCode.md", "VirtualScheduler",
      "scheduler.advance(by:"),
    Question(
      "How do I use it with SwiftUI?", screens + "Pagination.md", "In SwiftUI",
      "ListModel(pageSize: 20)", ".refreshable"),
    Question(
      "How do I bound memory?", lists + "Performance.md", "avoid keeping all its elements",
      "consuming"),
    Question(
      "What happens in the background?", lists + "InAnApp.md", "goes to the background",
      "0xdead10cc", "memory warning"),
    Question(
      "How do I keep values across launches?", stored + "StoringLists.md", "In another process"),
    Question(
      "Can memos be stored on disk?", lists + "WhichType.md", "Lists can be stored",
      "``Memos`` cannot"),
    Question(
      "Is it safe to share between tasks?", "README.md",
      "Lists, memos, signals and shared iterators are `Sendable`"),
    Question(
      "How do I convert an AsyncStream, or from Combine?", lists + "ComingFromAsyncSequences.md",
      "`AsyncStream", "CurrentValueSubject", "flatMapLatest"),
    Question(
      "How do I set a timeout?", lists + "RecipesForRequests.md", "Give a request a timeout",
      "withTimeout(.seconds(1))"),
    Question(
      "How do I retry with backoff?", lists + "RecipesForRequests.md",
      "Retry with exponential backoff",
      "retrying {"),
    Question(
      "How do I log?", lists + "RecipesForRequests.md", "Log elements and failed attempts",
      "onEach",
      "reporting:"),
    Question(
      "How do I cancel a request when its screen is left?", lists + "InAnApp.md",
      "screen disappears", "cancelsUnobservedSteps: true"),
    Question(
      "How do I paginate with a cursor?", lists + "RecipesForRequests.md",
      "Resume a paginated API from a saved cursor"),
    Question(
      "What is a CurrentValueSubject here?", lists + "Bridge.md", "CurrentValueSubject",
      "Replay the last values"),
    Question(
      "How do I broadcast live events to many?", lists + "Bridge.md", "Broadcast events",
      "shared(replaying: 1"),
    Question(
      "How do I resume an LLM response?", lists + "RecipesForJobs.md",
      "Resume an LLM response after a reload", "reading: store, from: position"),
    Question("Which import do I need?", "README.md", "| `TailraceStored` |", "| product |"),
    Question(
      "Why does my memory grow?", lists + "Troubleshooting.md", "memory grows",
      "evaluatedCount"),
    Question(
      "Why does it hang?", lists + "Troubleshooting.md", "a request hangs", "What is not detected"),
    Question(
      "How do I use it with Vapor?", stored + "ListsOverHTTP.md", "Vapor"),
    Question(
      "What happens to an error by default?", lists + "Failures.md",
      "What happens to an error, by default"),
  ]

  @Test("is answered within one step of README", arguments: questions)
  func answered(_ question: Question) throws {
    let isNear =
      try question.page == "README.md" || Documents.links(in: "README.md").contains(question.page)
    #expect(isNear, "README does not link to \(question.page)")
    let text = try Documents.text(question.page).split(separator: /\s+/).joined(separator: " ")
    for words in question.words {
      #expect(text.contains(words), "\(question.page) does not say \"\(words)\"")
    }
  }

  /// README and its neighbors are no pages of the site.
  @Test("is answered within one step of the landing page", arguments: questions)
  func answeredOnSite(_ question: Question) throws {
    guard question.page.hasPrefix("Sources/") else { return }
    let landing = Self.lists + "Tailrace.md"
    let text = try Documents.text(landing)
    let name = question.page.split(separator: "/").last?.dropLast(3) ?? ""
    #expect(
      try Documents.links(in: landing).contains(question.page) || text.contains("<doc:\(name)>"),
      "the landing page does not link to \(question.page)")
  }

  /// What people type into a search.
  @Test(
    "README has the word",
    arguments: [
      "duplicate requests", "in flight", "task coalescing", "cache", "expires", "consumers",
      "replay", "late subscribers", "broadcast", "paginated", "cursor", "next token",
      "infinite scroll", "LLM response", "survive a reload", "resume", "backpressure",
      "tests of concurrent code that sleep",
    ])
  func words(_ word: String) throws {
    let text = try Documents.text("README.md").split(separator: /\s+/).joined(separator: " ")
    #expect(text.contains(word))
  }
}
