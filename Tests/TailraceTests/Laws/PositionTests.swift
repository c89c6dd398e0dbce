import Tailrace
import TailraceTesting
import Testing

@Suite("Positions: evaluated elements can be read, from any starting point", .inTurn)
struct PositionTests {
  static let length = 300

  /// Lists of 0, 1, 2 … that are evaluated in different ways.
  enum Making: CaseIterable, Sendable {
    case plain, asynchronous, stream, derived, concatenated

    func make<Failure: Error>(_: Failure.Type) async throws(Failure) -> LazyList<Int, Failure> {
      let range = 0..<PositionTests.length
      let list: LazyList<Int, Failure> =
        switch self {
        case .plain: LazyList(range)
        case .asynchronous: LazyList(range).mapAsync { $0 }
        case .stream: Steps<Int, Failure>(range.count) { $0 }.memoized()
        case .derived: LazyList(range).map { $0 + 1 }.map { $0 - 1 }
        case .concatenated: LazyList(0..<100) + LazyList(100..<101) + LazyList(101..<300)
        }
      // Step by step, as a reader does.
      var iterator = list.makeAsyncIterator()
      while try await iterator.next(isolation: nil) != nil {}
      return list
    }
  }

  @Test("every tail of an evaluated list is evaluated", arguments: Making.allCases)
  func tails(_ making: Making) async {
    let list = await making.make(Never.self)
    var tail = list
    for position in 0..<Self.length {
      let rest = Array(position..<Self.length)
      for part in [tail, list.dropFirst(position)] {
        guard part.evaluatedCount == rest.count, part.evaluatedPrefix == rest,
          part.description == "\(rest)"
        else {
          Issue.record("position \(position): \(part.evaluatedCount), \(part)")
          return
        }
      }
      tail = tail.tail
    }
    #expect(tail.description == "[]" && list.dropFirst(Self.length).description == "[]")
    #expect(list.dropFirst(Self.length + 7).description == "[]")
  }

  @Test("a cancelled task reads all of it", arguments: Making.allCases)
  func cancelled(_ making: Making) async {
    let (never, failing) = (
      await making.make(Never.self), try! await making.make((any Error).self)
    )
    let reader = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      for position in 0..<Self.length {
        let rest = Array(position..<Self.length)
        var seen: [Int] = []
        for await element in never.dropFirst(position) { seen.append(element) }
        #expect(seen == rest)
        seen = []
        for try await element in failing.dropFirst(position) { seen.append(element) }
        #expect(seen == rest)
        #expect(try await failing.element(at: position) == position)
        #expect(try await failing.dropFirst(position).head() == position)
        #expect(try await failing.dropFirst(position).count() == rest.count)
        #expect(try await failing.dropFirst(position).array() == rest)
      }
      #expect(try await failing.element(at: Self.length) == nil)
      #expect(try await failing.dropFirst(Self.length).isEmpty())
    }
    await #expect(throws: Never.self) { try await reader.value }
  }

  @Test("so are the elements before a failure, and then the failure", arguments: [0, 1, 7, 8, 200])
  func failing(_ count: Int) async {
    let plain = LazyList(0..<Self.length).map { (number: Int) throws -> Int in
      if number == count { throw Mishap(position: number) }
      return number
    }
    let asynchronous = Steps<Int, any Error>(Self.length) { position in
      if position == count { throw Mishap(position: position) }
      return position
    }.memoized()
    for list in [plain, asynchronous] {
      await #expect(throws: Mishap(position: count)) { _ = try await list.count() }
      await Task {
        withUnsafeCurrentTask { $0?.cancel() }
        for position in 0...count {
          let rest = list.dropFirst(position)
          #expect(rest.evaluatedPrefix == Array(position..<count))
          await #expect(throws: Mishap(position: count)) { _ = try await rest.count() }
        }
        for position in [count, count + 1, count + 100] {
          await #expect(throws: Mishap(position: count)) {
            _ = try await list.dropFirst(position).head()
          }
          await #expect(throws: Mishap(position: count)) {
            _ = try await list.element(at: position)
          }
        }
      }.value
    }
  }
}
