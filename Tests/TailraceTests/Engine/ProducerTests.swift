import TailraceTesting
import Testing

@testable import Tailrace

@Suite("Producer: pushed to a sink, or pulled one by one", .inTurn)
struct ProducerTests {
  /// Counts up to a number, and then says how it goes on.
  private func counting(to end: Int, then ending: Ending<Int>) -> Producer<Int> {
    let next = Owned(0)
    return Producer { (_, sink) in
      while next.state < end {
        next.state += 1
        if !sink(next.state) { return .stopped }
      }
      return ending
    }
  }

  private func name(_ step: Step<Int>) -> String {
    switch step {
    case .element(let element): "\(element)"
    case .last(let element): "\(element) is the last"
    case .become: "goes on elsewhere"
    case .skip: "skips"
    case .nothing(.end): "end"
    case .nothing(.paused): "paused"
    case .nothing(.failed): "failed"
    case .nothing: "nothing"
    }
  }

  @Test("a sink gets all that it wants, in order", arguments: 1...4)
  func pushed(_ wanted: Int) {
    let producer = counting(to: 3, then: .nothing(.end))
    var elements: [Int] = []
    let ending = producer(Demand()) {
      elements.append($0)
      return elements.count < wanted
    }
    #expect(elements == Array(1...min(wanted, 3)))
    if case .stopped = ending { #expect(wanted <= 3) } else { #expect(wanted > 3) }
  }

  @Test("pulled, it gives an element at a time, and then its ending")
  func pulled() {
    let producer = counting(to: 2, then: .nothing(.failed(Mishap(position: 2))))
    #expect((0..<3).map { _ in name(producer.step(Demand())) } == ["1", "2", "failed"])
    let other = counting(to: 1, then: .become(.just(7)))
    #expect((0..<2).map { _ in name(other.step(Demand())) } == ["1", "goes on elsewhere"])
  }

  @Test("an end that comes with an element makes it the last; a pause without one is a pause")
  func last() {
    let producer = Producer<Int> { (_, sink) in
      _ = sink(5)
      return .nothing(.end)
    }
    #expect(name(producer.step(Demand())) == "5 is the last")
    #expect(name(Producer<Int> { (_, _) in .stopped }.step(Demand())) == "skips")
  }

  @Test("made from single steps, it goes on until its sink wants no more")
  func stepping() {
    let steps = Owned([Step.element(1), .element(2), .nothing(.paused), .element(3), .last(4)])
    let producer = Producer<Int>(stepping: { _ in steps.state.removeFirst() })
    var elements: [Int] = []
    func run(_ count: Int) -> String {
      elements = []
      let ending = producer(Demand()) {
        elements.append($0)
        return elements.count < count
      }
      switch ending {
      case .stopped: return "stopped"
      case .nothing(.end): return "end"
      case .nothing, .become: return "other"
      }
    }
    #expect(run(1) == "stopped" && elements == [1])
    #expect(run(9) == "stopped" && elements == [2])
    #expect(run(9) == "end" && elements == [3, 4])
  }

  @Test("a step that threw: its fate, or for now")
  func fate() {
    let fate = Absence.fate(Mishap(position: 0), false)
    let now = Absence.fate(Mishap(position: 0), true)
    if case .failed(let failure) = fate { #expect(failure is Mishap) } else { Issue.record("fate") }
    if case .failedTransiently = now {} else { Issue.record("\(now)") }
  }
}
