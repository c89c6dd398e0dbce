import Synchronization

/// A number that tasks count up together.
final class Counter: Sendable {
  private let number = Atomic(0)

  var value: Int { number.load(ordering: .relaxed) }

  @discardableResult
  func increment(by step: Int = 1) -> Int {
    number.add(step, ordering: .relaxed).newValue
  }

  func increment<T>(by step: Int, giving result: T) -> T {
    increment(by: step)
    return result
  }
}
