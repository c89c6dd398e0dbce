import Measuring
import Synchronization

/// Arrays are told apart by their count and their last element: adding them up would be timed, too.
func collected(_ array: [Int]) -> Int {
  blackHole(array)
  return array.count &+ (array.last ?? 0)
}

func collected(_ array: [String]) -> Int {
  blackHole(array)
  return array.count &+ (array.last?.utf8.count ?? 0)
}

/// Where the closure of OpenCombine's sink adds up. It need not be Sendable, and is called before
/// `sink` returns.
final class Total {
  var sum = 0
}

/// Where closures that run elsewhere add up.
final class Sum: Sendable {
  private let sum = Atomic(0)

  var value: Int { sum.load(ordering: .relaxed) }

  @discardableResult
  func add(_ element: Int) -> Int { sum.wrappingAdd(element, ordering: .relaxed).newValue }
}
