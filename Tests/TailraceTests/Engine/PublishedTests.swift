import Tailrace
import Testing

@testable import TailraceLists

@Suite("Published: how many cells there are, and whether there will be more", .inTurn)
struct PublishedTests {
  @Test(arguments: [0, 1, 2, 127, 128, 1 << 40])
  func counts(_ count: Int) {
    let open = Published(count: count)
    #expect(open.count == count && !open.isClosed)
    #expect(open.appended == Published(count: count + 1))
    let closed = Published(count: count, isClosed: true)
    #expect(closed.count == count && closed.isClosed)
    #expect(open.closed == closed && closed.closed == closed)
    #expect(open != closed && open != open.appended)
    #expect(Published(rawValue: closed.rawValue) == closed)
  }

  @Test(
    "failed attempts are counted until the element has come, or the end",
    arguments: [0, 1, 1 << 40])
  func failures(_ count: Int) {
    let open = Published(count: count)
    var (mark, seen) = (open, [open])
    for _ in 0..<40_000 {
      let next = mark.failed
      #expect(next != mark && next.hasFailed && next.count == count && !next.isClosed)
      mark = next
      if seen.count < 3 { seen.append(mark) }
    }
    #expect(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2])
    #expect(!open.hasFailed && mark.hasFailed)
    #expect(mark.appended == open.appended && mark.closed == open.closed)
  }
}
