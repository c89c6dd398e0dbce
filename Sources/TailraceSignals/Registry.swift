import TailraceLists

/// Members in order of arrival. Each has a number, by which it leaves.
///
/// A hole replaces a member that leaves. Holes are closed when they are more than half, so leaving
/// costs a binary search and, amortised, no more.
@usableFromInline
package struct Registry<Member> {
  /// The members, and holes. Never more holes than members.
  @usableFromInline private(set) var members: [Member?] = []
  /// The number of each, ascending.
  private var numbers: [Int] = []
  /// The number of the newest member.
  private(set) var lastNumber = 0
  /// Before this index there are only holes.
  private var first = 0
  @usableFromInline private(set) var count = 0

  @_alwaysEmitIntoClient var isEmpty: Bool { count == 0 }

  var present: [Member] { members.compactMap { $0 } }

  package init() {}

  package mutating func add(_ member: Member) -> Int {
    lastNumber += 1
    members.append(member)
    numbers.append(lastNumber)
    count += 1
    return lastNumber
  }

  /// Whether the member with that number has not left.
  func contains(_ number: Int) -> Bool { index(of: number) != nil }

  /// Removes a member. `nil` if it has left before.
  mutating func remove(_ number: Int) -> Member? {
    guard let index = index(of: number) else { return nil }
    return remove(at: index)
  }

  /// Removes the oldest member.
  @usableFromInline
  package mutating func removeFirst() -> Member? {
    guard let index = members[first...].firstIndex(where: { $0 != nil }) else { return nil }
    first = index + 1
    return remove(at: index)
  }

  /// Removes all members, in their order.
  package mutating func removeAll() -> [Member] {
    defer { (members, numbers, first, count) = ([], [], 0, 0) }
    return present
  }

  private func index(of number: Int) -> Int? {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    guard low < numbers.count, numbers[low] == number, members[low] != nil else { return nil }
    return low
  }

  private mutating func remove(at index: Int) -> Member? {
    let member = members[index].take()
    count -= 1
    if count * 2 < members.count { closeHoles() }
    return member
  }

  private mutating func closeHoles() {
    var end = 0
    first = 0
    for index in members.indices where members[index] != nil {
      members.swapAt(end, index)
      numbers[end] = numbers[index]
      end += 1
    }
    members.removeLast(members.count - end)
    numbers.removeLast(numbers.count - end)
  }
}

extension Registry: Sendable where Member: Sendable {}
