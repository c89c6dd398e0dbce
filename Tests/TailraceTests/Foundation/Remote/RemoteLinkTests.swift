import Testing

@testable import TailraceStored

/// A link, and beside it those that wait, and the drivers that run.
private struct RemoteLinkModel: Explorable, Hashable {
  enum Event: Hashable {
    case wait, leave, idle
    /// The driver asks for its next step, or tells what came of the last one.
    case next(Int), paused(Int), opened(Int), brought(Int), ended(Int)
    case failed(Int), silent(Int), unsupported(Int)
    /// A driver is cancelled: after it was decided.
    case cancel(Int)
  }

  struct Driver: Hashable {
    var number: Int
    var isCancelled = false
    var step: RemoteLink.Step?
    var isOpen = false
  }

  var link = RemoteLink()
  var waiting = 0
  var drivers: [Driver] = []
  var started = 0
  /// Drivers that are to be cancelled.
  var cancelled: [Int] = []
  var fruitless = 0
  var violation: String?

  var events: [Event] {
    var events: [Event] = [.idle] + cancelled.map { .cancel($0) }
    if waiting < 2, started < 4 { events.append(.wait) }
    if waiting > 0 { events.append(.leave) }
    for driver in drivers {
      let number = driver.number
      switch driver.step {
      case nil: events.append(.next(number))
      case .pause: events.append(.paused(number))
      case .request(let mode):
        if mode == .events, !driver.isOpen { events.append(.opened(number)) }
        if mode == .longPoll || driver.isOpen { events += [.brought(number), .ended(number)] }
        if !driver.isOpen { events.append(.unsupported(number)) }
        events += [.failed(number), .silent(number)]
      case .stop: break
      }
    }
    return events
  }

  mutating func apply(_ event: Event) {
    switch event {
    case .wait:
      waiting += 1
      if case .start(let number) = link.waits() {
        drivers.append(Driver(number: number))
        started += 1
      }
    case .leave:
      waiting -= 1
      link.leave()
    case .idle:
      let action = link.hangUp()
      if case .cancel(let number) = action {
        if waiting > 0 { violation = "hung up on \(waiting)" }
        cancelled.append(number)
      }
    case .cancel(let number):
      cancelled.removeAll { $0 == number }
      change(number) { $0.isCancelled = true }
    case .next(let number):
      let step = link.next(number)
      if step == .stop {
        drivers.removeAll { $0.number == number }
      } else {
        change(number) { ($0.step, $0.isOpen) = (step, false) }
      }
    case .paused(let number):
      link.paused(number)
      change(number) { $0.step = nil }
    case .opened(let number):
      link.opened(number)
      change(number) { $0.isOpen = true }
    case .brought(let number): link.brought(number)
    case .ended(let number):
      link.ended(number)
      change(number) { $0.step = nil }
    case .failed(let number):
      link.failed(number)
      change(number) { $0.step = nil }
    case .silent(let number):
      link.failed(number, isSilent: true)
      change(number) { $0.step = nil }
    case .unsupported(let number):
      if !link.unsupported(number) { link.failed(number) }
      change(number) { $0.step = nil }
    }
    check()
  }

  private mutating func change(_ number: Int, _ body: (inout Driver) -> Void) {
    guard let index = drivers.firstIndex(where: { $0.number == number }) else { return }
    body(&drivers[index])
  }

  private mutating func check() {
    let active = drivers.filter { link.isDriving($0.number) }
    if waiting > 0, active.count != 1 { violation = "\(active.count) drivers for \(waiting)" }
    if active.contains(where: \.isCancelled) { violation = "a cancelled driver drives" }
    let open = drivers.filter { !$0.isCancelled && !cancelled.contains($0.number) }
    if open.count > 1 { violation = "two connections" }
    if link.waiters != waiting { violation = "counts \(link.waiters) of \(waiting)" }
  }
}

@Suite("The live connection of a remote list", .inTurn)
struct RemoteLinkTests {
  @Test("every order of events: one connection while somebody waits")
  func orders() async {
    await RemoteLinkModel().expectSafe(depth: 11, limit: 300_000, isComplete: false)
  }

  @Test("after three responses in vain, or requests that nothing answers: long polls")
  func falling() {
    for isOpen in [true, false] {
      var link = RemoteLink()
      _ = link.waits()
      for _ in 0..<3 {
        #expect(link.next(1) == .request(.events))
        if isOpen { link.opened(1) }
        link.failed(1, isSilent: true)
        guard case .pause = link.next(1) else { return #expect(Bool(false)) }
        link.paused(1)
      }
      #expect(link.next(1) == .request(.longPoll))
    }
  }

  @Test("a response that has brought something makes up for those in vain")
  func recovering() {
    var link = RemoteLink()
    _ = link.waits()
    for _ in 0..<10 {
      #expect(link.next(1) == .request(.events))
      link.opened(1)
      link.failed(1)
      _ = link.next(1)
      link.paused(1)
      _ = link.next(1)
      link.opened(1)
      link.brought(1)
      link.ended(1)
    }
    #expect(link.next(1) == .request(.events))
  }

  @Test("pauses grow with each failure, have jitter, and obey the server up to a limit")
  func pauses() {
    var backoff = RemoteBackoff()
    #expect(backoff.pause(1) == .zero)
    var last = Duration.zero
    for _ in 0..<20 {
      backoff.failed()
      #expect(backoff.pause(1) >= last && backoff.pause(0) * 2 == backoff.pause(1))
      last = backoff.pause(1)
    }
    #expect(last == RemoteBackoff.longest)
    backoff.failed(pause: .seconds(60))
    #expect(backoff.pause(0) == .seconds(60) && backoff.pause(1) == .seconds(75))
    backoff.failed(pause: .seconds(1_000_000))
    #expect(backoff.pause(0) == .seconds(300))
    backoff.failed(pause: .seconds(-5))
    #expect(backoff.pause(1) == RemoteBackoff.longest)
    backoff.succeeded()
    #expect(backoff.pause(1) == .zero)
  }
}
