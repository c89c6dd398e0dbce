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
}
