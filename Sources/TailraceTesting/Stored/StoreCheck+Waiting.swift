import Tailrace
import TailraceStored

// Those who wait.
extension StoreCheck {
  func waiting() async throws {
    let store = try await leased(1)
    let reader = try await another(store)
    let isOver = await comesBack { try await reader.waitForMore(than: 0) }
    expect(.wakesThoseWhoWait, isOver, "one waited for more than 0 elements, when there was 1")
    for isEnd in [false, true] {
      let count = isEnd ? 2 : 1
      let next = isEnd ? Commit([], state: nil, isEnd: true) : commit(1..<2)
      // Spurious returns are allowed: this waits like a list.
      async let wakes = comesBack {
        while true {
          let page = try await reader.read(from: count, upTo: 1)
          if !page.elements.isEmpty || page.isEnd { return }
          try await reader.waitForMore(than: count)
          try Task.checkCancellation()
          await Task.yield()
        }
      }
      await Task.yield()
      try await store.append(next, at: count)
      let isWoken = await wakes
      expect(
        .wakesThoseWhoWait, isWoken, "one waited, and \(isEnd ? "the end" : "an element") came")
      // The wait before may have read without waiting.
      let isOver = await comesBack { try await reader.waitForMore(than: count) }
      expect(
        .wakesThoseWhoWait, isOver,
        "one waited for more than \(count) elements, when \(isEnd ? "the end" : "another") was there"
      )
    }
  }

  func cancelledWaiting() async throws {
    let store = try await leased(1)
    let waiter = Task {
      while !Task.isCancelled {
        try await store.waitForMore(than: 1)
        await Task.yield()
      }
    }
    await Task.yield()
    waiter.cancel()
    let isBack = await comesBack { _ = await waiter.result }
    expect(.letsCancelledOnesGo, isBack, "one that waited for a second element did not come back")
  }

  /// An append between a look and a wait must wake, too.
  func wakeUps() async throws {
    let store = try await leased()
    let reader = try await another(store)
    for count in 0..<64 {
      async let wakes = comesBack {
        while try await reader.read(from: count, upTo: 1).elements.isEmpty {
          try await reader.waitForMore(than: count)
          try Task.checkCancellation()
        }
      }
      for _ in 0..<count % 16 { await Task.yield() }
      try await store.append(commit(count..<count + 1), at: count)
      guard await wakes else {
        return note(
          .wakesThoseWhoWait, "one was about to wait, and element \(count) came: it waited on")
      }
    }
  }
}
