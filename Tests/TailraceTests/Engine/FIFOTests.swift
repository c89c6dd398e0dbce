import Tailrace
import TailraceSupport
import Testing

@testable import TailraceLists

/// A queue, and beside it what it should hold.
private struct FIFOModel: Explorable, Hashable {
  enum Event: Hashable {
    case append, popFirst, removeLast(downTo: Int), removeLastOdd, removeAll(Int)
  }

  var queue = FIFO<Int>()
  var elements: [Int] = []
  var appended = 0
  var violation: String?

  static func == (left: FIFOModel, right: FIFOModel) -> Bool {
    left.queue.arrived == right.queue.arrived && left.queue.leaving == right.queue.leaving
      && left.elements == right.elements && left.appended == right.appended
      && left.violation == right.violation
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(queue.arrived)
    hasher.combine(queue.leaving)
    hasher.combine(elements)
    hasher.combine(appended)
    hasher.combine(violation)
  }

  var events: [Event] {
    let changes: [Event] =
      [.popFirst, .removeLastOdd] + (0...5).map { .removeLast(downTo: $0) }
      + (0..<5).map { .removeAll($0) }
    return appended < 5 ? changes + [.append] : changes
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .append:
      queue.append(appended)
      elements.append(appended)
      appended += 1
    case .popFirst:
      let expected = elements.isEmpty ? nil : elements.removeFirst()
      let first = queue.popFirst()
      if first != expected { violation = "took \(first.map(String.init) ?? "nothing")" }
    case .removeLast(downTo: let least):
      let removed = queue.removeLast { $0 >= least }
      var expected: [Int] = []
      while let last = elements.last, last >= least { expected.append(elements.removeLast()) }
      if removed != expected { violation = "removed \(removed) and not \(expected)" }
    case .removeLastOdd:
      let removed = queue.removeLast { $0 % 2 == 1 }
      var expected: [Int] = []
      while let last = elements.last, last % 2 == 1 { expected.append(elements.removeLast()) }
      if removed != expected { violation = "removed \(removed) and not \(expected)" }
    case .removeAll(let element):
      queue.removeAll { $0 == element }
      elements.removeAll { $0 == element }
    }
    if queue.count != elements.count || queue.isEmpty != elements.isEmpty
      || queue.first != elements.first
    {
      violation = "\(queue.count) elements, the first \(queue.first ?? -1)"
    }
  }
}

@Suite("FIFO: first in, first out", .inTurn)
struct FIFOTests {
  @Test("every order of events, with five elements")
  func orders() async { await FIFOModel().expectSafe() }

  @Test("elements that have been taken out are not kept")
  func released() {
    final class Object {}
    var queue = FIFO<Object>()
    weak var taken: Object?
    for _ in 0..<3 { queue.append(Object()) }
    taken = queue.first
    #expect(taken != nil)
    _ = queue.popFirst()
    #expect(taken == nil && queue.count == 2)
    taken = queue.first
    #expect(queue.removeLast { _ in true }.count == 2)
    #expect(taken == nil)
  }

  // At a cost that grows with the square, this would not end.
  @Test("both ends are cheap, however long it is")
  func long() {
    var queue = FIFO<Int>()
    for number in 0..<1_000_000 { queue.append(number) }
    #expect(queue.popFirst() == 0)
    for number in 1_000_000..<1_000_100 { queue.append(number) }
    #expect(queue.removeLast { $0 >= 500_000 }.count == 500_100)
    for number in 1..<500_000 where queue.popFirst() != number {
      Issue.record("\(number)")
      return
    }
    #expect(queue.isEmpty)
  }
}
