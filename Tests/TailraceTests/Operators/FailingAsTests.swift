import Tailrace
import Testing

@Suite("Failures of one type", .inTurn)
struct FailingAsTests {
  enum ParseError: Error, Equatable { case bad(String) }

  @Sendable static func parse(_ word: String) throws(ParseError) -> Int {
    guard let number = Int(word) else { throw .bad(word) }
    return number
  }

  @Sendable static func parseLater(_ word: String) async throws(ParseError) -> Int {
    await Task.yield()
    return try parse(word)
  }

  static let words: LazyList<String, Never> = ["1", "2", "x", "4"]
  static let failing = words.setFailureType(to: ParseError.self)

  static let numbers: [(String, LazyList<Int, ParseError>)] = [
    ("map", words.map(failingAs: ParseError.self, parse)),
    ("map, later", words.map(failingAs: ParseError.self, parseLater)),
    ("map of a list that fails", failing.map(failingAs: ParseError.self, parse)),
    ("map of a list that fails, later", failing.map(failingAs: ParseError.self, parseLater)),
    (
      "map, compacted",
      failing.map(failingAs: ParseError.self) { (word) async throws(ParseError) -> Int? in
        try await parseLater(word)
      }.compacted()
    ),
    (
      "state",
      LazyList(state: ["1", "2", "x", "4"][...]) { (rest) throws(ParseError) -> Int? in
        guard let word = rest.first else { return nil }
        rest = rest.dropFirst()
        return try parse(word)
      }
    ),
    (
      "deferred",
      .deferred { () throws(ParseError) in words.map(failingAs: ParseError.self, parse) }
    ),
  ]

  @Test("the closure's error is the list's, at its position", arguments: numbers.indices)
  func typed(row: Int) async {
    let (_, list) = Self.numbers[row]
    var seen: [Int] = []
    do throws(ParseError) {
      for try await number in list { seen.append(number) }
      Issue.record("it did not fail")
    } catch {
      #expect(error == .bad("x"))
    }
    #expect(seen == [1, 2])
  }

  @Test("unfolding from the element before, a head and a tail, a memo")
  func sources() async {
    let down = LazyList(first: 2) { (number) throws(ParseError) -> Int? in
      if number == 0 { throw .bad("0") }
      return number - 1
    }
    let parts = LazyList(
      head: { () throws(ParseError) in 2 },
      tail: { () throws(ParseError) -> LazyList<Int, ParseError> in throw .bad("tail") })
    let memo = Memo { () throws(ParseError) -> Int in throw .bad("memo") }
    let first: LazyList<Int, ParseError> = down
    await #expect(throws: ParseError.bad("0")) { try await first.array() }
    await #expect(throws: ParseError.bad("tail")) { try await parts.array() }
    await #expect(throws: ParseError.bad("memo")) { try await memo.value() }
  }

  @Test("a source whose closure throws nothing cannot fail, and one that throws anything can")
  func untyped() async throws {
    let plain: LazyList<Int, Never> = LazyList(state: 0) { number in
      number += 1
      return number < 3 ? number : nil
    }
    let throwing = LazyList(state: 0) { number in
      number += 1
      return try Self.parse("\(number)") < 3 ? number : nil
    }
    let any: LazyList<Int, any Error> = throwing
    let told: LazyList<Int, any Error> = LazyList(first: 1) { $0 < 3 ? $0 + 1 : nil }
    #expect(await plain.array() == [1, 2])
    #expect(try await any.array() == [1, 2])
    #expect(try await told.array() == [1, 2, 3])
  }
}
