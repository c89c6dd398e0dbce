import Tailrace
import TailraceTesting
import Testing

@Suite("EagerList", .inTurn)
struct EagerListTests {
  private func expectEager<T>(_ list: EagerList<T>) {}

  @Test("everything at once, in order")
  func eager() async {
    let probe = Probe<Int>()
    let list = EagerList(1...5).map { probe.pass($0) }
    #expect(probe.values == [1, 2, 3, 4, 5])
    #expect(list == [1, 2, 3, 4, 5])
    #expect(await list.lazyList.eager() == list)
    #expect(await LazyList(1...5).eager() == list)
  }

  @Test("slices are eager, share storage and indices")
  func slices() {
    let list = EagerList(0..<10)
    expectEager(list.prefix(3))
    expectEager(list.dropFirst())
    expectEager(list.prefix { $0 < 3 })
    expectEager(list.drop { $0 < 3 })
    expectEager(list.suffix(2))
    expectEager(list[2..<4])
    expectEager(list[2...])
    let part = list.dropFirst(3).dropLast(2)
    #expect(part == [3, 4, 5, 6, 7])
    #expect(part.startIndex == 3 && part.endIndex == 8)
    #expect(part[3] == 3 && part.first == 3 && part.last == 7)
    #expect(part.array == [3, 4, 5, 6, 7])
    #expect(part.map { $0 }.startIndex == 0)
    #expect(part.hashValue == EagerList(3...7).hashValue)
    #expect("\(part)" == "[3, 4, 5, 6, 7]")
    #expect(EagerList(part) == part)
    let whole = list.array.withUnsafeBufferPointer(\.baseAddress)
    #expect(list.array.withUnsafeBufferPointer(\.baseAddress) == whole)
    let slice = list.dropFirst(2).withContiguousStorageIfAvailable { $0.baseAddress }
    #expect(slice == whole.map { $0 + 2 })
  }

  @Test("bind: stop ends after the whole inner list, nil at once, and nothing runs after")
  func bind() throws {
    let probe = Probe<Int>()
    let stopped = EagerList(1...9).bind { number, stop in
      stop = probe.pass(number) == 2
      return [number, number]
    }
    #expect(stopped == [1, 1, 2, 2])
    #expect(probe.values == [1, 2])
    let ended = EagerList(1...9).bind { number, _ in
      number == 2 ? nil : EagerList([number])
    }
    #expect(ended == [1])
    #expect(throws: Mishap(position: 2)) {
      try EagerList(1...9).bind { number, _ throws -> EagerList<Int>? in
        if number == 2 { throw Mishap(position: number) }
        return [number]
      }
    }
  }

  @Test("in an asynchronous function, plain calls need no await, whatever they are given")
  func kinds() async throws {
    let list = EagerList(1...3)
    func plain(_ number: Int) -> Int { number * 2 }
    func throwing(_ number: Int) throws -> Int { number * 2 }
    func asynchronous(_ number: Int) async -> Int { number * 2 }
    func both(_ number: Int) async throws -> Int { number * 2 }
    expectEager(list.map { $0 * 2 })
    expectEager(list.map(plain))
    expectEager(list.filter { $0 > 1 })
    expectEager(list.compactMap { Int?.some($0) })
    expectEager(list.flatMap { [$0] })
    #expect(list.reduce(0, +) == 6)
    #expect(try list.map(throwing) == [2, 4, 6])
    #expect(await list.map(asynchronous) == [2, 4, 6])
    #expect(try await list.map(both) == [2, 4, 6])
    #expect(await list.map { await asynchronous($0) } == [2, 4, 6])
    #expect(await list.compactMap { await asynchronous($0) > 2 ? $0 : nil } == [2, 3])
    #expect(await list.filter { await asynchronous($0) > 2 } == [2, 3])
    #expect(await list.flatMap { [await asynchronous($0), 0] } == [2, 0, 4, 0, 6, 0])
    await #expect(throws: Mishap(position: 2)) {
      try await list.map { number async throws in
        if number == 2 { throw Mishap(position: number) }
        return number
      }
    }
  }

  @Test("plain calls in a plain function")
  func plainKinds() throws {
    let list = EagerList(1...3)
    #expect(list.map { $0 * 2 } == [2, 4, 6])
    #expect(list.map(\.description) == ["1", "2", "3"])
    #expect(list.compactMap { $0 > 1 ? $0 : nil } == [2, 3])
    #expect(list.flatMap { [$0, $0] } == [1, 1, 2, 2, 3, 3])
    #expect(list + list == [1, 2, 3, 1, 2, 3] && list + [] == list && [] + list == list)
    let array: [Int] = list.map { $0 }
    #expect(array == [1, 2, 3])
    #expect(throws: Mishap.self) {
      try list.map { number throws in throw Mishap(position: number) }
    }
    #expect(throws: Mishap.self) {
      try list.filter { number throws in
        if number == 2 { throw Mishap(position: number) }
        return true
      }
    }
  }

  @Test("without a type annotation, a result is an eager list, not the standard library's array")
  func inferred() throws {
    let numbers = EagerList(1...3)
    let filtered = numbers.filter { $0 > 1 }
    let mapped = numbers.map { $0 * 2 }.filter { $0 > 2 }
    let compacted = numbers.filter { $0 > 1 }.compactMap { $0 > 2 ? $0 : nil }
    let flattened = numbers.flatMap { [$0, $0] }.prefix { $0 < 2 }
    let thrown = try numbers.filter { number in
      if number > 3 { throw Mishap(position: number) }
      return number > 2
    }
    for list in [filtered, mapped, compacted, flattened, thrown] { expectEager(list) }
    #expect([filtered, mapped, compacted] == [[2, 3], [4, 6], [3]])
    #expect([flattened, thrown] == [[1, 1], [3]])
  }

  @Test("zip of two, of three, of more, with an array")
  func zips() {
    let (numbers, letters) = (EagerList(1...3), EagerList(["a", "b"]))
    expectEager(numbers.zip(letters))
    #expect(numbers.zip(letters).map { "\($0)\($1)" } == ["1a", "2b"])
    expectEager(numbers.zip(letters, numbers.dropFirst()))
    #expect(numbers.zip(letters.dropFirst()).map { "\($0)\($1)" } == ["1b"])
    let sums = numbers.zip(letters, numbers.dropFirst()).map { $0.0 + $0.2 }
    #expect(sums == [3, 5])
    let four = numbers.zip(letters, numbers, [7, 8, 9])
    expectEager(four)
    #expect(four.map { $0.0 + $0.2 + $0.3 } == [9, 12])
    let five = numbers.zip(letters, numbers, [7, 8, 9], ["x"])
    #expect(five.map { "\($0)\($1)\($2)\($3)\($4)" } == ["1a17x"])
    let pairs = Array(zip(numbers, [7, 8]))
    #expect(pairs.map { $0 + $1 } == [8, 10])
    #expect(numbers.zip(EagerList<Int>([]), numbers).isEmpty)
    #expect(zip(numbers, letters).map { "\($0)\($1)" } == ["1a", "2b"])
  }

  @Test("elements that cannot be sent")
  func unsendable() {
    final class Box { var number = 0 }
    let boxes = EagerList([Box(), Box()])
    for box in boxes { box.number += 1 }
    #expect(boxes.map { $0.number } == [1, 1])
    #expect(boxes.map(\.number) == [1, 1])
  }

  @Test("indices that do not exist trap")
  func traps() async {
    await #expect(processExitsWith: .failure) { _ = EagerList(0..<9).prefix(3)[3] }
    await #expect(processExitsWith: .failure) { _ = EagerList(0..<9).dropFirst(3)[2] }
    await #expect(processExitsWith: .failure) { _ = EagerList(0..<9).prefix(3)[2..<4] }
  }
}
