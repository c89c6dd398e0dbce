import Testing

@testable import TailraceStored

@Suite("The live connection of a remote list", .inTurn)
struct RemoteLinkTests {
  private typealias Link = RemoteLink

  @Test("after three responses in vain, or requests that nothing answers: long polls")
  func falling() {
    for isOpen in [true, false] {
      var link = Link()
      for _ in 0..<3 {
        #expect(link.request(at: .zero) == .events)
        if isOpen { link.opened() }
        link.failed(isStrange: true, at: .zero)
      }
      #expect(link.request(at: .zero) == .longPoll)
    }
  }

  @Test("a request that fails is no sign that events do not come through")
  func unreachable() {
    var link = Link()
    for _ in 0..<10 {
      #expect(link.request(at: .zero) == .events)
      link.failed(at: .zero)
    }
  }

  @Test("a response that has brought something makes up for those in vain")
  func recovering() {
    var link = Link()
    for _ in 0..<10 {
      #expect(link.request(at: .zero) == .events)
      link.opened()
      link.failed(at: .zero)
      #expect(link.request(at: .zero) == .events)
      link.opened()
      link.brought()
      #expect(link.isReading)
      link.ended(at: .zero)
      #expect(!link.isReading)
    }
    #expect(link.request(at: .zero) == .events)
  }

  @Test("long polls go back to events, after longer and longer times")
  func goingBack() {
    var link = Link()
    var now = Duration.zero
    for expected in [5, 10, 20, 40, 60, 60] {
      #expect(link.request(at: now) == .events)
      let falls = link.unsupported(at: now)
      #expect(falls)
      let end = now + .seconds(expected * 60)
      #expect(link.request(at: now) == .longPoll)
      link.brought()
      // A poll that is under way shows all that there is.
      #expect(link.isReading)
      #expect(link.request(at: end - .seconds(1)) == .longPoll)
      #expect(link.isReading)
      now = end
    }
    // One response in vain is enough then.
    #expect(link.request(at: now) == .events)
    link.opened()
    link.ended(at: now)
    #expect(link.request(at: now) == .longPoll)
    let hasMore = link.unsupported(at: now)
    #expect(!hasMore)
    now += .seconds(3600)
    #expect(link.request(at: now) == .events)
    link.opened()
    link.brought()
    link.ended(at: now)
    #expect(link.request(at: now) == .events)
    let fallsAgain = link.unsupported(at: now)
    #expect(fallsAgain)
    // Events have come since: the times begin anew.
    #expect(link.request(at: now + .seconds(301)) == .events)
  }
}

@Suite("When a remote list may ask", .inTurn)
struct RequestPaceTests {
  private func pause(
    _ pace: RequestPace, _ now: Duration, _ kind: RequestPace.Kind = .page
  ) -> Duration { max(.zero, pace.earliest(kind) - now) }

  @Test("pauses grow with each failure, have jitter, and end with a success")
  func growing() {
    for chance in [0.0, 1.0] {
      var (pace, now, last) = (RequestPace(), Duration.zero, Duration.zero)
      #expect(pause(pace, now) == .zero)
      for _ in 0..<20 {
        pace.failed(.page, begun: now, at: now, chance: chance)
        #expect(pause(pace, now) >= last && pause(pace, now) > .zero)
        last = pause(pace, now)
        #expect(pause(pace, now, .live) == .zero)
        now += last
      }
      #expect(last == RequestPace.longest * (0.5 + chance / 2))
      pace.brought(.page)
      #expect(pause(pace, now) == .zero)
    }
  }

  @Test("requests that fail together count once")
  func together() {
    var pace = RequestPace()
    for number in 0..<100 {
      pace.failed(.page, begun: .zero, at: .milliseconds(10 + number), chance: 1)
    }
    #expect(pace.earliest(.page) == .milliseconds(109) + RequestPace.shortest)
  }

  @Test(
    "the server's time holds for all requests, up to a limit, and is not forgotten by a success")
  func named() {
    var pace = RequestPace()
    pace.failed(.page, begun: .zero, at: .zero, retryAfter: .seconds(60), chance: 1)
    #expect(pace.earliest(.page) == .seconds(75) && pace.earliest(.live) == .seconds(75))
    pace.brought(.page)
    #expect(pace.earliest(.page) == .seconds(75))
    pace.failed(.live, begun: .zero, at: .zero, retryAfter: .seconds(1_000_000), chance: 0)
    #expect(pace.earliest(.page) == .seconds(300))
    var other = RequestPace()
    other.failed(.page, begun: .zero, at: .zero, retryAfter: .seconds(-5), chance: 1)
    #expect(other.earliest(.page) == RequestPace.shortest && other.earliest(.live) == .zero)
  }

  @Test("a live response that ends at once with nothing is followed by growing pauses")
  func hasty() {
    var (pace, now, last) = (RequestPace(), Duration.zero, Duration.zero)
    for _ in 0..<20 {
      pace.ended(begun: now, at: now, isEvents: true, chance: 1)
      #expect(pause(pace, now, .live) >= last && pause(pace, now, .live) >= RequestPace.shortest)
      last = pause(pace, now, .live)
      now += last
    }
    #expect(last == RequestPace.longest)
    pace.brought(.live)
    #expect(pause(pace, now, .live) == .zero)
  }

  @Test("a long poll that was held is followed by the next one at once")
  func held() {
    var (pace, now) = (RequestPace(), Duration.zero)
    pace.named(reconnection: .seconds(10))
    for _ in 0..<20 {
      let begun = now
      now += .seconds(25)
      pace.ended(begun: begun, at: now, isEvents: false, chance: 1)
      #expect(pause(pace, now, .live) == .zero)
    }
    // A connection of events waits for what the server has named.
    pace.ended(begun: now - .seconds(55), at: now, isEvents: true, chance: 0)
    #expect(pause(pace, now, .live) == .seconds(10))
    pace.brought(.live)
    pace.failed(.live, begun: now, at: now, chance: 0)
    #expect(pause(pace, now, .live) == .seconds(10))
  }

  @Test(
    "Retry-After: seconds, and the three forms of a date",
    arguments: [
      ("5", 5), (" 120 ", 120), ("0", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 37), ("Sun Nov  6 08:49:37 1994", 37),
      ("Sun, 06 Nov 1994 08:48:00 GMT", 0), ("Tue, 29 Feb 2000 00:00:00 GMT", 1_000_000),
      ("soon", nil), ("", nil), ("-5", nil), ("Sun, 06 Nov 1994", nil),
      ("Sun, 06 Nov 1994 25:49:37 GMT", nil), ("99999999999999999999", 1_000_000),
    ] as [(String, Int?)])
  func retryAfter(_ field: String, _ seconds: Int?) throws {
    let now = try #require(RetryAfter.date("Sun, 06 Nov 1994 08:49:00 GMT"))
    #expect(now.timeIntervalSince1970 == 784_111_740)
    #expect(RetryAfter.pause(field, at: now) == seconds.map { .seconds($0) })
  }

  @Test("dates around leap days and turns of years")
  func dates() {
    for (text, seconds) in [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
      ("Wed, 01 Mar 2000 00:00:00 GMT", 951_868_800),
      ("Fri, 31 Dec 2027 23:59:59 GMT", 1_830_297_599),
      ("Tue, 01 Mar 2028 00:00:00 GMT", 1_835_481_600),
      ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
    ] {
      #expect(RetryAfter.date(text)?.timeIntervalSince1970 == Double(seconds), "\(text)")
    }
  }
}
