import Tailrace
import Testing

@testable import TailraceLists

@Suite("A ranking", .inTurn)
struct RankingTests {
  @Test("begins with all items at one position, or with none")
  func beginning() {
    #expect(Ranking(count: 3, at: 7).first?.position == 7)
    #expect((0..<3).allSatisfy(Ranking(count: 3, at: 7).contains))
    #expect(Ranking(capacity: 3).first == nil)
    #expect(!(0..<3).contains(where: Ranking(capacity: 3).contains))
  }

  @Test("has the least first, whatever was inserted, moved and removed")
  func random() {
    var generator = SeededGenerator(seed: RandomCases.firstSeed)
    for count in [1, 2, 3, 10, 100] {
      var ranking = Ranking(capacity: count)
      var positions: [Int: Int] = [:]
      for _ in 0..<2_000 {
        let item = Int.random(in: 0..<count, using: &generator)
        let position = Int.random(in: -50...50, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
          ranking.remove(item)
          positions[item] = nil
        case _ where positions[item] == nil:
          ranking.insert(item, at: position)
          positions[item] = position
        default:
          ranking.move(item, to: position)
          positions[item] = position
        }
        #expect(ranking.contains(item) == (positions[item] != nil))
        #expect(ranking.first?.position == positions.values.min())
        #expect(ranking.first.map { $0.position == positions[$0.item] } != false)
      }
      // All of them, in order.
      for position in positions.values.sorted() {
        #expect(ranking.first?.position == position)
        if let first = ranking.first { ranking.remove(first.item) }
      }
      #expect(ranking.first == nil)
    }
  }
}
