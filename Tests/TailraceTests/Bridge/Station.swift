import Tailrace
import TailraceSupport
import TailraceTesting

@testable import TailraceLists
@testable import TailraceSignals

/// A source that a test sends with, whichever of its runs is the current one.
final class Station: Sendable {
  typealias Subscriber = Signal<Int, any Error>.Subscriber

  private let current = Locked(Subscriber?.none)
  let runs = Counter()
  let ends = Probe<String>()

  var signal: Signal<Int, any Error> {
    Signal { [self] subscriber in
      runs.increment()
      subscriber.onTermination { [ends] in ends.record("\($0)") }
      current.withLock { $0 = subscriber }
    }
  }

  func send(_ numbers: ClosedRange<Int>) {
    for number in numbers { current.withLock { $0 }?.send(number) }
  }

  func complete() { current.withLock { $0 }?.complete() }
  func fail() { current.withLock { $0 }?.fail(Mishap(position: 0)) }
  func letGo() { _ = current.withLock { $0.take() } }
}
