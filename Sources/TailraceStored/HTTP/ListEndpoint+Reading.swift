import Foundation
import TailraceLists

// How an endpoint reads its source, and waits for it.
extension ListEndpoint {
  /// Reads a page: what is asked for, as far as it is stored.
  ///
  /// - Throws: a refusal, if the offset is of no element of the list.
  nonisolated(nonsending) func page(
    from start: ListQuery.Start, _ limit: Int
  ) async throws -> EncodedPage {
    // A list that is begun anew while it is read is read again: elements never get offsets of another.
    for _ in 0..<3 {
      let extent = try await extent()
      let position = try Self.position(of: start, in: extent)
      if start == .end {
        var page = EncodedPage(extent.identity, from: position)
        page.close(isUpToDate: true, isEnd: extent.isEnded)
        page.first = extent.first
        return page
      }
      let known = tail.page(extent.identity, from: position, upTo: extent.count, limit)
      if var known {
        known.isUpToDate = known.next == extent.count
        known.isEnd = known.isUpToDate && extent.isEnded
        return known
      }
      do {
        let (page, elements) = try await page(from: position, limit, extent)
        let after = try await self.extent().identity
        guard after == extent.identity || extent.identity == nil && position == 0 else { continue }
        tail.offer(elements, isEnd: page.isEnd, after, at: position)
        return page.named(after)
      } catch ListStoreError.trimmed(let first) where start == .first && first > position {
        // Discarded meanwhile.
        continue
      } catch ListStoreError.trimmed(let first) {
        throw ListRefusal.gone(.trimmed, first: ListOffset(extent.identity, first))
      }
    }
    throw ListStoreError.refused("the list was begun anew again and again while it was read")
  }

  /// Reads until a page is full, or nothing more is stored.
  private nonisolated(nonsending) func page(
    from start: Int, _ limit: Int, _ extent: ListExtent
  ) async throws -> (EncodedPage, [Data]) {
    var page = EncodedPage(extent.identity, from: start)
    var elements: [Data] = []
    var isEnd = extent.isEnded && start == extent.count
    var isFull = false
    // An element was read that has no room any more: the end that was read with it is not this page's.
    var isCut = false
    do {
      // An ended list has nothing behind its end; another one may have more than a moment ago, or a
      // failure.
      while !isEnd, !isFull, page.count == 0 || page.next < extent.count {
        let room = min(limit - page.count, TailReader<Source>.readLimit)
        let more = try await tail.source.read(from: page.next, upTo: room)
        for element in more.elements {
          isCut = page.count > 0 && page.json.count >= pageBytes
          if isCut { break }
          let bytes = try tail.encode(element)
          page.append(bytes)
          elements.append(bytes)
        }
        isFull = isCut || page.count == limit
        isEnd = more.isEnd && !isCut
        if more.elements.isEmpty {
          if page.next < extent.count, !isEnd { throw ListStoreError.damaged(at: page.next) }
          break
        }
      }
    } catch {
      // The failure belongs to its position: the request that continues there gets it.
      if page.count == 0 { throw error }
      page.close(isUpToDate: false, isEnd: false)
      return (page, elements)
    }
    page.close(isUpToDate: isEnd || !isCut && page.next >= extent.count, isEnd: isEnd)
    return (page, elements)
  }

  nonisolated(nonsending) func extent() async throws -> ListExtent {
    let extent = try await tail.source.extent()
    if let identity = extent.identity, !ListOffset.isIdentity(identity.utf8) {
      throw ListStoreError.refused(
        "an identity consists of at most 200 letters, digits and -, and \(identity) does not")
    }
    return extent
  }

  /// The position that a request means.
  private static func position(
    of start: ListQuery.Start, in extent: ListExtent
  ) throws(ListRefusal) -> Int {
    let first = ListOffset(extent.identity, extent.first)
    switch start {
    case .first: return extent.first
    case .end: return extent.count
    case .offset(let offset):
      // Nothing was read of a list that did not exist.
      let isBeginning = offset.identity == nil && offset.position == 0
      guard offset.identity == extent.identity || isBeginning else {
        throw .gone(.otherList, first: first)
      }
      if offset.position < extent.first { throw .gone(.trimmed, first: first) }
      if offset.position > extent.count { throw .gone(.beyond, first: first) }
      return offset.position
    }
  }
}
