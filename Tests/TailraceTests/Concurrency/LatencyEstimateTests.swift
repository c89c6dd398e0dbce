import Synchronization
import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Looking ahead: where the steps are taken", .inTurn)
struct PaceTests {
  @Test("short steps are taken by the demand; after a long one it takes some that are short")
  func pace() {
    var pace = LatencyEstimate()
    #expect(!pace.isQuick)
    pace.took(.nanoseconds(50))
    #expect(pace.isQuick)
    pace.took(.milliseconds(1))
    for _ in 0..<8 {
      #expect(!pace.isQuick)
      pace.took(.nanoseconds(50))
    }
    pace.took(.nanoseconds(50))
    #expect(pace.isQuick)
  }

  @Test("all are measured at first, then one of some")
  func measured() {
    var pace = LatencyEstimate()
    for _ in 0..<32 {
      let isMeasured = pace.isMeasured
      #expect(isMeasured)
      pace.took(.nanoseconds(50))
    }
    let measured = (0..<160).count { _ in pace.isMeasured }
    #expect(measured == 10)
    pace.took(.milliseconds(1))
    let isMeasured = pace.isMeasured
    #expect(isMeasured)
  }

  /// Takes so long, and keeps its thread.
  static func work(_ duration: Duration) {
    let start = ContinuousClock.now
    while start.duration(to: .now) < duration {}
  }

  @Test("long steps are taken beside the reader, who does not wait for them")
  func beside() async {
    let isRead = Atomic(false)
    let list = LazyList(0..<3).map { (number: Int) -> Bool in
      Self.work(.milliseconds(1))
      if number == 0 { return true }
      // The reader has the head while this step is being taken.
      let start = ContinuousClock.now
      while !isRead.load(ordering: .acquiring) {
        if start.duration(to: .now) > .seconds(60) { return false }
      }
      return true
    }.prefetching(2)
    #expect(await list.head() == true)
    isRead.store(true, ordering: .releasing)
    #expect(await list.array() == [true, true, true])
  }
}
