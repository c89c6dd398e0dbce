import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("ConcatenationTree: the lists of a concatenation, as data", .inTurn)
struct ConcatenationTreeTests {
  private typealias List = LazyList<Int, any Error>
  private typealias Tree = ConcatenationTree<Int>

  private func leaf(_ elements: Int...) -> Tree { Tree.of(List(elements).place) }

  /// The lists of a tree in order, each with as many of its elements as belong to it.
  private func lists(_ tree: Tree) async throws -> [[Int]] {
    let concatenation = Concatenation(tree)
    var lists: [[Int]] = []
    while let place = concatenation.pop() {
      let list = List(place)
      let isLast = concatenation.isLast
      lists.append(try await list.prefix(min(concatenation.left, 1_000)).array())
      if isLast { #expect(concatenation.pop() == nil) }
    }
    return lists
  }

  @Test("it is taken apart from the left, however it was nested")
  func order() async throws {
    let leaves = (0..<4).map { leaf($0) }
    let left = Tree.pair(.pair(.pair(leaves[0], leaves[1]), leaves[2]), leaves[3])
    let right = Tree.pair(leaves[0], .pair(leaves[1], .pair(leaves[2], leaves[3])))
    let both = Tree.pair(.pair(leaves[0], leaves[1]), .pair(leaves[2], leaves[3]))
    for tree in [left, right, both] {
      #expect(try await lists(tree) == [[0], [1], [2], [3]])
      // It is data: taking it apart changes nothing.
      #expect(try await lists(tree) == [[0], [1], [2], [3]])
    }
  }

  @Test("trees share their branches")
  func shared() async throws {
    let shared = Tree.pair(leaf(1), leaf(2))
    let trees = [Tree.pair(leaf(0), shared), Tree.pair(shared, leaf(3)), Tree.pair(shared, shared)]
    #expect(try await lists(trees[0]) == [[0], [1], [2]])
    #expect(try await lists(trees[1]) == [[1], [2], [3]])
    #expect(try await lists(trees[2]) == [[1], [2], [1], [2]])
  }

  @Test("a concatenation that nobody has read is a tree again, not a list in another")
  func flattened() async throws {
    let sum = List([1]) + List([2]) + List([3])
    #expect(try await lists(.of(sum.place)) == [[1], [2], [3]])
    #expect(try await lists(.of(sum.prepending(0).named("sum").place)) == [[0], [1], [2], [3]])
  }

  @Test(
    "of one that was read in part: what is evaluated, and the lists behind it", arguments: 1...5)
  func partlyEvaluated(_ count: Int) async throws {
    let sum = List(1...2).map { $0 } + List(3...4).map { $0 } + List(5...6).map { $0 }
    _ = try await sum.element(at: count - 1)
    let lists = try await lists(.of(sum.place))
    #expect(lists.first?.starts(with: 1...count) == true)
    #expect(lists.flatMap { $0 } == Array(1...6))
    #expect(lists.count <= 4)
  }

  @Test("a hundred thousand lists are flattened and released without recursion", arguments: 0...2)
  func deep(_ nesting: Int) async throws {
    #if DEBUG
      let count = 10_000
    #else
      let count = 100_000
    #endif
    let instances = InstanceCounter()
    await OneThread.run {
      var tree = Tree.of(List([0]).place)
      for number in 1..<count {
        let token = instances.member(number)
        let next = Tree.of(List(0..<1).map { _ in token.number }.place)
        let isLeft = nesting == 0 || nesting == 2 && number % 2 == 0
        tree = isLeft ? .pair(tree, next) : .pair(next, tree)
      }
      #expect(instances.alive == count - 1)
      let concatenation = Concatenation(tree)
      var (sum, lists) = (0, 0)
      while let place = concatenation.pop() {
        let list = List(place)
        sum += (try? await list.head()) ?? 0
        lists += 1
      }
      #expect(lists == count && sum == count * (count - 1) / 2)
      tree = leaf(0)
    }
    #expect(instances.alive == 0)
  }
}
