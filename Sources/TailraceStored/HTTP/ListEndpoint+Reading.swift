import Foundation
import TailraceLists

// How an endpoint reads its source, and waits for it.
extension ListEndpoint {
  nonisolated(nonsending) func firstPage(_ query: ListQuery) async throws -> EncodedPage {
    switch query.start {
    case .position(let position): return try await page(from: position, query.limit)
    case .end: return try await end()
    case .first:
      do {
        return try await page(from: 0, query.limit)
      } catch ListStoreError.trimmed(let first) {
        return try await page(from: first, query.limit)
      }
    }
  }

  /// Reads until a page is full, or nothing more is stored.
  nonisolated(nonsending) func page(
    from start: Int, _ limit: Int
  ) async throws -> EncodedPage {
    var page = EncodedPage(from: start)
    while true {
      do {
        // One more than there is room for: whether there are more is part of the response.
        let more = try await source.read(from: page.next, upTo: min(limit - page.count, 127) + 1)
        for element in more.elements {
          let isFull = page.count > 0 && page.json.count >= pageBytes
          if page.count == limit || isFull {
            page.close(isUpToDate: false, isEnd: false)
            return page
          }
          page.append(try encode(element))
        }
        if more.elements.isEmpty || more.isEnd {
          page.close(isUpToDate: true, isEnd: more.isEnd)
          return page
        }
      } catch {
        // The failure belongs to its position: the request that continues there gets it.
        if page.count == 0 { throw error }
        page.close(isUpToDate: false, isEnd: false)
        return page
      }
    }
  }

  /// An empty page at the end of what is stored: found by reading at positions that double, and
  /// then by bisection.
  nonisolated(nonsending) func end() async throws -> EncodedPage {
    var known = 0
    do {
      _ = try await source.read(from: 0, upTo: 1)
    } catch ListStoreError.trimmed(let first) {
      known = first
    }
    var beyond = known
    var stride = 1
    while true {
      let found = try await source.read(from: beyond, upTo: 1)
      if found.elements.isEmpty { break }
      known = beyond + 1
      beyond = known + stride
      stride *= 2
    }
    while known < beyond {
      let middle = known + (beyond - known) / 2
      let isStored = try await !source.read(from: middle, upTo: 1).elements.isEmpty
      if isStored { known = middle + 1 } else { beyond = middle }
    }
    var page = EncodedPage(from: known)
    let last = try await source.read(from: known, upTo: 1)
    // The writer may have appended elements meanwhile: the client reads them next.
    let isUpToDate = last.elements.isEmpty
    page.close(isUpToDate: isUpToDate, isEnd: isUpToDate && last.isEnd)
    return page
  }

  /// Waits until there may be more elements. Returns false if that takes too long.
  nonisolated(nonsending) func waitForMore(
    than position: Int, atMost time: Duration
  ) async throws -> Bool {
    guard time > .zero else { return false }
    let mayHaveMore = try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await source.waitForMore(than: position)
        return true
      }
      group.addTask {
        try await clock.sleep(for: time)
        return false
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
    // A source may return when it is cancelled.
    try Task.checkCancellation()
    return mayHaveMore
  }
}
