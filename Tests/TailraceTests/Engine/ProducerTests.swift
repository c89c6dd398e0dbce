import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

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

  /// One element, and how the producer returns.
  private func pull(_ producer: Producer<Int>) -> String {
    var element: Int?
    let ending = producer(Demand()) {
      element = $0
      return false
    }
    let name =
      switch ending {
      case .stopped: "stopped"
      case .become: "another list"
      case .nothing(.end): "end"
      case .nothing(.failed): "failed"
      case .nothing: "nothing"
      }
    return "\(element.map { "\($0), " } ?? "")\(name)"
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
    #expect((0..<3).map { _ in pull(producer) } == ["1, stopped", "2, stopped", "failed"])
    let other = counting(to: 1, then: .become(LazyList<Int, any Error>.just(7).place))
    #expect((0..<2).map { _ in pull(other) } == ["1, stopped", "another list"])
  }

  @Test("a last step comes with the end; one that skips stops without an element")
  func last() {
    let steps = Owned([Step<Int>.skip, .last(5)])
    let producer = Producer<Int>(stepping: { _ in steps.state.removeFirst() })
    #expect((0..<2).map { _ in pull(producer) } == ["stopped", "5, end"])
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
