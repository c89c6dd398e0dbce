/// Numbered items in order of position: a binary heap that knows where each item is.
///
/// Finding the first is immediate; moving or removing an item is O(log n).
struct Ranking: Sendable, Hashable {
  struct Entry: Sendable, Hashable {
    let item: Int
    var position: Int
  }

  /// No entry precedes its parent, at half its index.
  private var heap: [Entry]
  /// The index of each item in the heap, if it is there.
  private var indices: [Int?]

  /// A ranking of no items, numbered below a count.
  init(capacity: Int) {
    heap = []
    indices = Array(repeating: nil, count: capacity)
  }

  /// A ranking of all items below a count, at the same position.
  init(count: Int, at position: Int) {
    heap = (0..<count).map { Entry(item: $0, position: position) }
    indices = Array(0..<count)
  }

  var first: Entry? { heap.first }

  func contains(_ item: Int) -> Bool { indices[item] != nil }

  /// Adds an item that is not there.
  mutating func insert(_ item: Int, at position: Int) {
    heap.append(Entry(item: item, position: position))
    indices[item] = heap.count - 1
    rise(from: heap.count - 1)
  }

  /// Moves an item that is there.
  mutating func move(_ item: Int, to position: Int) {
    guard let index = indices[item] else { return }
    heap[index].position = position
    rise(from: index)
    sink(from: indices[item] ?? index)
  }

  /// Removes an item, if it is there.
  mutating func remove(_ item: Int) {
    guard let index = indices[item] else { return }
    swap(index, heap.count - 1)
    heap.removeLast()
    indices[item] = nil
    guard index < heap.count else { return }
    rise(from: index)
    sink(from: index)
  }

  private mutating func rise(from start: Int) {
    var index = start
    while index > 0 {
      let parent = (index - 1) / 2
      guard heap[index].position < heap[parent].position else { return }
      swap(index, parent)
      index = parent
    }
  }

  private mutating func sink(from start: Int) {
    var index = start
    while true {
      let left = 2 * index + 1
      guard left < heap.count else { return }
      let right = left + 1
      let isRightFirst = right < heap.count && heap[right].position < heap[left].position
      let child = isRightFirst ? right : left
      guard heap[child].position < heap[index].position else { return }
      swap(index, child)
      index = child
    }
  }

  private mutating func swap(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    indices[heap[one].item] = one
    indices[heap[other].item] = other
  }
}
