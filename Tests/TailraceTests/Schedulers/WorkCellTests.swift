import Foundation
import Synchronization
import Tailrace
import Testing

@testable import TailraceSchedulers

@Suite("WorkCell: one piece of work", .hangLimit, .inTurn)
struct WorkCellTests {
  // On x86 every load acquires, so only the thread sanitizer can see a fault here.
  @Test("an observer that comes after the end sees what the work wrote")
  func late() {
    final class Page: @unchecked Sendable {
      // Guard: the end of the work. May touch it: the work, then its observers.
      var text = ""
      /// Orders nothing for the sanitizer: relaxed.
      let isWritten = Atomic(false)
    }
    for _ in 0..<100 {
      let page = Page()
      let work = WorkCell { page.text = "written" }
      Thread.detachNewThread {
        work.run()
        page.isWritten.store(true, ordering: .relaxed)
      }
      // A thread of its own writes it, and waits for none of the pool.
      while !page.isWritten.load(ordering: .relaxed) {}
      let seen = Mutex("")
      work.onEnd { seen.withLock { $0 = page.text } }
      #expect(seen.withLock { $0 } == "written")
    }
  }
}
