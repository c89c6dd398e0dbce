import Foundation
import Tailrace
import TailraceObservation
import TailraceTesting
import Testing

extension Orders {
  fileprivate var isLoading: Bool {
    switch phase {
    case .loadingMore, .refreshing: true
    case .idle, .failed, .ended: false
    }
  }
}

@MainActor
@Suite("The model by hand, which the article shows beside ListModel", .timeLimit(.minutes(15)))
struct ByHandTests {
  struct Refused: Error {}

  /// Pages of two, of which the second has moved by one when it is loaded. The third attempt fails.
  nonisolated static func orders(_ page: Int) -> [Order]? {
    switch page {
    case 1: [Order(id: 1), Order(id: 2)]
    case 2: [Order(id: 2), Order(id: 3)]
    case 3: [Order(id: 4), Order(id: 5)]
    default: nil
    }
  }

  /// What a program of calls leads to, of either model.
  struct Seen: Equatable {
    var states: [String] = []
    mutating func note(_ elements: [Order], _ phase: String) {
      states.append("\(elements.map(\.id)) \(phase.prefix(while: \.isLetter))")
    }
  }

  @Test("both give the same elements and phases")
  func same() async {
    let (attempts, listAttempts) = (Probe<Int>(), Probe<Int>())
    let byHand = Orders { page in
      attempts.record(page)
      if attempts.count == 3 { throw Refused() }
      return Self.orders(page)
    }
    let model = ListModel(pageSize: 2) {
      LazyList(state: 1, retryingFailures: true) { page async throws -> [Order]? in
        listAttempts.record(page)
        if listAttempts.count == 3 { throw Refused() }
        defer { page += 1 }
        return Self.orders(page)
      }.flatMap { $0 }
    }
    var (seen, seenOfList) = (Seen(), Seen())
    func settle() async {
      while byHand.isLoading { await Task.yield() }
      seen.note(byHand.elements, "\(byHand.phase)")
      while model.phase.isLoading { await Task.yield() }
      seenOfList.note(model.elements, "\(model.phase)")
    }
    for _ in 0..<3 {
      byHand.loadMore()
      model.loadMore()
    }
    await settle()
    byHand.loadMore()
    model.loadMore()
    await settle()
    byHand.loadMore()
    model.loadMore()
    await settle()
    byHand.retry()
    model.retry()
    await settle()
    byHand.loadMore()
    model.loadMore()
    await settle()
    byHand.refresh()
    model.refresh()
    await settle()
    #expect(
      seen.states == [
        "[1, 2] idle", "[1, 2, 3] idle", "[1, 2, 3] failed", "[1, 2, 3, 4, 5] idle",
        "[1, 2, 3, 4, 5] ended", "[1, 2] idle",
      ])
    #expect(seen == seenOfList)
    #expect(attempts.values == listAttempts.values)
  }

  @Test("the article shows this code, and counts its lines")
  func shown() throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let file = try String(
      contentsOf: here.appending(path: "OrdersByHand.swift"), encoding: .utf8)
    let article = try String(
      contentsOf: here.appending(
        path: "../../Sources/TailraceObservation/TailraceObservation.docc/TailraceObservation.md"),
      encoding: .utf8)
    let code = try #require(file.range(of: "@MainActor @Observable").map { file[$0.lowerBound...] })
    #expect(article.contains("```swift\n" + code + "```"))
    let lines = code.split(separator: "\n").filter { $0.contains { !$0.isWhitespace } }.count
    #expect(article.contains("one way to page | \(lines) |"))
  }
}
