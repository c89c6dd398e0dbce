/// A value that comes before or after others of its type.
protocol Ordered {
  func comes(before other: Self) -> Bool
}

/// A binary heap: its first element is known at once.
struct Heap<Element: Ordered> {
  private(set) var elements: [Element] = []

  var first: Element? { elements.first }
  var count: Int { elements.count }

  /// - Complexity: O(log *count*), as that of `removeFirst`.
  mutating func insert(_ element: Element) {
    elements.append(element)
    rise(elements.count - 1)
  }

  mutating func removeFirst() -> Element? {
    guard !elements.isEmpty else { return nil }
    elements.swapAt(0, elements.count - 1)
    defer { sink(0) }
    return elements.removeLast()
  }

  /// - Complexity: O(*count*).
  mutating func removeAll(where isUnwanted: (Element) -> Bool) {
    elements.removeAll(where: isUnwanted)
    for index in (0..<elements.count / 2).reversed() { sink(index) }
  }

  private mutating func rise(_ start: Int) {
    var index = start
    while index > 0, elements[index].comes(before: elements[(index - 1) / 2]) {
      elements.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func sink(_ start: Int) {
    var index = start
    while true {
      var first = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < elements.count && elements[child].comes(before: elements[first]) {
        first = child
      }
      guard first != index else { return }
      elements.swapAt(index, first)
      index = first
    }
  }
}

extension Heap: Sendable where Element: Sendable {}
