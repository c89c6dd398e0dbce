import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Segment: a run of cells, and what follows it", .inTurn)
struct SegmentTests {
  private typealias Cells = Segment<InstanceCounter.Member>

  private let instances = InstanceCounter()

  private func open(_ capacity: Int) -> Cells {
    Cells(
      owner: Evaluator(Producer { _, _ in .nothing(.end) }), capacity: capacity)
  }

  private func elements(_ segment: Cells) -> [Int] {
    (0..<segment.published.load(ordering: .acquiring).count).map { segment[$0].number }
  }

  @Test("it is open and empty at first; a cell is there when it has been published")
  func appending() {
    let segment = open(4)
    var mark = segment.published.load(ordering: .acquiring)
    #expect(mark == Published(count: 0) && !mark.isClosed)
    for number in 0..<4 {
      #expect(segment.position(of: mark) == number && segment.isMissing(mark))
      segment.append(instances.member(number), to: mark)
      #expect(!segment.isMissing(mark))
      mark = mark.appended
      #expect(elements(segment) == Array(0...number))
    }
    segment.close(.end, at: mark)
    #expect(!segment.isMissing(mark))
    #expect(segment.published.load(ordering: .acquiring) == Published(count: 4, isClosed: true))
  }

  @Test("it releases the cells that it has, and no others", arguments: [0, 1, 3])
  func released(_ count: Int) {
    var segment: Cells? = open(4)
    for number in 0..<count {
      segment?.append(instances.member(number), to: Published(count: number))
    }
    #expect(instances.alive == count)
    segment = nil
    #expect(instances.alive == 0)
  }

  @Test("closed from the beginning: elements that are known, and a link")
  func evaluated() {
    let last = Cells(evaluated: [instances.member(2)], link: .end)
    let segment = Cells(evaluated: (0..<2).map { instances.member($0) }, link: .more(last, 0))
    #expect(elements(segment) == [0, 1] && segment.published.load(ordering: .relaxed).isClosed)
    guard case .more(let next, 0) = segment.link else {
      Issue.record("there is no link")
      return
    }
    #expect(elements(next) == [2])
    let numbers = segment.withCells(1..<2) { cells in cells.map(\.number) }
    #expect(numbers == [1])
  }

  @Test("a chain of segments is released without recursion, up to one that is held")
  func chain() {
    #if DEBUG
      let length = 100_000
    #else
      let length = 1_000_000
    #endif
    var middle: Cells?
    var chain = Cells(evaluated: [instances.member(0)], link: .end)
    for number in 1..<length {
      chain = Cells(evaluated: [instances.member(number)], link: .more(chain, 0))
      if number == length / 2 { middle = chain }
    }
    #expect(instances.alive == length)
    chain = Cells(evaluated: [], link: .end)
    #expect(instances.alive == length / 2 + 1)
    withExtendedLifetime(middle) {}
    middle = nil
    #expect(instances.alive == 0)
  }

  @Test("the elements of an array are where they are, and lent from there")
  func storage() {
    let array = (0..<100).map { $0 * 3 }
    let segment = Segment(storage: Storage(array[10..<90]))
    let mark = segment.published.load(ordering: .acquiring)
    #expect(mark == Published(count: 80, isClosed: true))
    #expect(segment[0] == 30 && segment[79] == 267)
    let (lent, address) = segment.withCells(5..<8) { (Array($0), $0.baseAddress) }
    #expect(lent == [45, 48, 51])
    #expect(array.withUnsafeBufferPointer { $0.baseAddress.map { $0 + 15 } } == address)
  }

  @Test("reading one by one copies runs of an array into cells", arguments: [0, 1, 500, 2_999])
  func copied(_ index: Int) {
    let segment = Segment(storage: Storage(Array(0..<3_000)[...]))
    var (copy, offset, expected) = (segment.copy(from: index), 0, index)
    while true {
      let count = copy.published.load(ordering: .acquiring).count
      #expect(copy.base != nil && count > 0 && count <= Capacity<Int>.mostCopied)
      for cell in offset..<count {
        if copy[cell] != expected { Issue.record("\(copy[cell]) and not \(expected)") }
        expected += 1
      }
      guard case .more(let next, let start) = copy.link else { break }
      #expect(next === segment && start == expected)
      (copy, offset) = (next.copy(from: start), 0)
    }
    #expect(expected == 3_000)
  }

  @Test("segments grow to about a kilobyte, and have eight cells at least")
  func capacity() {
    var (capacity, capacities) = (Capacity<Int>.first, [Int]())
    for _ in 0..<6 {
      capacities.append(capacity)
      capacity = Capacity<Int>.following(capacity)
    }
    #expect(capacities == [8, 16, 32, 64, 128, 128])
    #expect(Capacity<(Int, Int, Int, Int)>.most == 64)
    #expect(Capacity<InlineArray<1000, Int>>.most == 8)
    #expect(Capacity<Void>.most == 128)
  }
}
