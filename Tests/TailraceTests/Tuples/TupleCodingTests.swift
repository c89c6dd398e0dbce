import Foundation
import Tailrace
import Testing

@Suite("Tuple, coded", .inTurn)
struct TupleCodingTests {
  private func json<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }

  private func encoded(_ value: some Encodable) throws -> String {
    String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
  }

  @Test("an array, there and back")
  func roundTrip() throws {
    #expect(try encoded(Tuple("foo", 5, Int?.none)) == #"["foo",5,null]"#)
    #expect(try encoded(Tuple()) == "[]")
    #expect(try encoded([Tuple(1, Tuple("a", 2))]) == #"[[1,["a",2]]]"#)
    #expect(
      try json(Tuple<String, Int, Int?>.self, #"["foo", 5, null]"#) == Tuple("foo", 5, nil))
    #expect(try json(type(of: Tuple()), "[]") == Tuple())
    #expect(
      try json([Tuple<Int, Tuple<String, Int>>].self, #"[[1,["a",2]]]"#)
        == [Tuple(1, Tuple("a", 2))])
    let list = try PropertyListEncoder().encode(Tuple("foo", 5, true))
    #expect(
      try PropertyListDecoder().decode(Tuple<String, Int, Bool>.self, from: list)
        == Tuple("foo", 5, true))
  }

  private struct Address: Decodable, Equatable, Sendable {
    struct Refused: Error {}

    init(from decoder: any Decoder) throws { throw Refused() }
  }

  @Test("an element's own error is thrown as it is")
  func ownError() {
    #expect(throws: Address.Refused.self) { try json(Tuple<Int, Address>.self, #"[1, "x"]"#) }
  }

  @Test("too few, too many, or wrong: the error names the position")
  func errors() {
    func expect<Value: Decodable>(
      _ type: Value.Type, _ text: String, at path: [Int], words: String
    ) {
      do {
        _ = try json(type, text)
        Issue.record("\(text) was decoded as \(type)")
      } catch let error as DecodingError {
        let context: DecodingError.Context
        switch error {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found),
          .keyNotFound(_, let found):
          context = found
        @unknown default: return
        }
        #expect(context.codingPath.map(\.intValue) == path)
        #expect(context.debugDescription.contains(words), "\(context.debugDescription)")
      } catch {
        Issue.record("\(error)")
      }
    }
    expect(Tuple<Int, String>.self, "[1]", at: [1], words: "position 1")
    expect(Tuple<Int, String>.self, "[]", at: [0], words: "position 0")
    expect(Tuple<Int>.self, "[1, 2]", at: [1], words: "position 1")
    expect(type(of: Tuple()), "[1]", at: [0], words: "position 0")
    expect(Tuple<Int, String>.self, "[1, 2]", at: [1], words: "position 1")
    expect(Tuple<Int, String>.self, "[null, 2]", at: [0], words: "position 0")
    expect(Tuple<Int, UInt8>.self, "[1, 300]", at: [1], words: "position 1")
    expect([Tuple<Int, Int>].self, "[[1, 2], [3]]", at: [1, 1], words: "position 1")
    expect(
      Tuple<Int, Tuple<Int, Int>>.self, #"[1, [2, "x"]]"#, at: [1, 1], words: "position 1")
    expect(Tuple<Int, [Int]>.self, #"[1, [2, 3, "x"]]"#, at: [1, 2], words: "position 1")
    expect(Tuple<Int>.self, "{}", at: [], words: "dictionary")
  }
}
