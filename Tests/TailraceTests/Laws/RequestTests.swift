import Tailrace
import TailraceSupport
import TailraceTesting
import Testing

/// Sources whose next step waits until all readers have read the element before.
///
/// They tell whether a wait has a position: a reader of an element that is there must get it, whatever
/// the list's task does meanwhile.
@Suite("Request and response: a step that waits for its readers", .inTurn)
struct RequestTests {
  #if DEBUG
    static let length = 300
  #else
    static let length = 5_000
  #endif

  /// How a reader takes the elements, and says that it has each.
  struct Reading: Sendable, CustomTestStringConvertible {
    typealias Read =
      @Sendable (LazyList<Int, Never>, @escaping @Sendable (Int) -> Void) async -> Void

    let testDescription: String
    let read: Read

    init(_ name: String, _ read: @escaping Read) {
      testDescription = name
      self.read = read
    }

    static let all = [
      Reading("for await") { list, took in for await element in list { took(element) } },
      Reading("forEach") { list, took in await list.forEach { took($0) } },
      Reading("a plain layer") { list, took in
        await list.map { took($0) }.forEach { _ in }
      },
      Reading("three plain layers") { list, took in
        for await element in list.map({ $0 + 1 }).filter({ $0 > 0 }).map({ $0 - 1 }) {
          took(element)
        }
      },
      Reading("an asynchronous layer") { list, took in
        for await _ in list.mapAsync({ took($0) }) {}
      },
      Reading("tails") { list, took in
        var rest = list
        while let (head, tail) = await rest.uncons() {
          took(head)
          rest = tail
        }
      },
      Reading("by position") { list, took in
        var position = 0
        while let element = await list.element(at: position) {
          took(element)
          position += 1
        }
      },
      Reading("everything, through a plain layer") { list, took in
        _ = await list.map { took($0) }.array()
      },
    ]
  }

  /// 0, 1, 2 …; each when the one before has been taken by so many.
  static func source(_ length: Int, readers: Int, _ taken: Probe<Int>) -> LazyList<Int, Never> {
    Steps<Int, Never>(length) { position in
      await taken.waitForCount(position * readers)
      return position
    }.memoized()
  }

  @Test(
    "every reader gets every element, though the next step waits for it",
    .timeLimit(.minutes(15)), arguments: Reading.all, [1, 2, 4, 8])
  func alike(_ reading: Reading, _ readers: Int) async {
    let (length, taken) = (Self.length / readers, Probe<Int>())
    let list = Self.source(length, readers: readers, taken)
    await withTaskGroup { group in
      for _ in 0..<readers { group.addTask { await reading.read(list) { taken.record($0) } } }
    }
    #expect(taken.values.sorted() == (0..<length * readers).map { $0 / readers })
  }

  @Test(
    "readers of all kinds together, beside some that want everything at once",
    .timeLimit(.minutes(15)), arguments: [1, 3])
  func mixed(_ collectors: Int) async {
    let (length, taken) = (Self.length / 8, Probe<Int>())
    let list = Self.source(length, readers: Reading.all.count, taken)
    await withTaskGroup { group in
      for _ in 0..<collectors {
        group.addTask { #expect(await list.array() == Array(0..<length)) }
        group.addTask { #expect(await list.count() == length) }
        group.addTask { #expect(await list.map { $0 + 1 }.array() == Array(1...length)) }
      }
      for reading in Reading.all {
        group.addTask { await reading.read(list) { taken.record($0) } }
      }
    }
    #expect(taken.count == length * Reading.all.count)
  }

  @Test(
    "a failed attempt reaches those who wait at its position, and nobody else",
    .timeLimit(.minutes(15)), arguments: [true, false])
  func failures(_ suspends: Bool) async {
    let length = Self.length / 3
    let attempts = Locked(Set<Int>())
    let list = LazyList<Int, any Error>(state: 0, retryingFailures: true) { state async throws in
      if state == length { return nil }
      if suspends { await Task.yield() }
      let position = state
      if attempts.withLock({ $0.insert(position).inserted }) { throw Mishap(position: position) }
      state += 1
      return position
    }
    await withTaskGroup { group in
      for reader in 0..<4 {
        group.addTask {
          let list = reader % 2 == 0 ? list : list.map { $0 }
          var (position, iterator) = (0, list.makeAsyncIterator())
          while true {
            do {
              guard let element = try await iterator.next() else { break }
              #expect(element == position)
              position += 1
            } catch {
              #expect(error as? Mishap == Mishap(position: position))
            }
          }
          #expect(position == length)
        }
      }
    }
  }
}
