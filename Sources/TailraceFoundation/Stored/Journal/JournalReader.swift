import FileReading
import Foundation
import Tailrace

/// Reads an open journal. A stateless value: several readers may use it, beside a writer.
struct JournalReader: Sendable {
  let file: any DiskFile
  let header: JournalHeader
  let seed: UInt32

  init(_ file: any DiskFile, _ header: JournalHeader) {
    self.file = file
    self.header = header
    seed = header.seed
  }

  // MARK: Frames

  /// The hints. Without the one of the first frame, that is searched for: all reads begin there.
  func cells() throws -> JournalCells {
    var cells = try JournalCells(of: file, seed: seed)
    if cells.first == nil { cells.first = try firstAfterZeros() }
    return cells
  }

  /// The last repair; none, if its record is being written, or is damaged.
  func repair() throws -> JournalRepair {
    try JournalRepair(of: file, seed: seed) ?? JournalRepair()
  }

  /// The first frame after the zeros of those that were trimmed.
  private func firstAfterZeros() throws -> Int? {
    var offset = header.size
    while case let bytes = try file.upTo(1 << 20, at: offset), !bytes.isEmpty {
      if let index = bytes.firstIndex(where: { $0 != 0 }) {
        return try frame(at: offset + index) == nil ? nil : offset + index
      }
      offset += bytes.count
    }
    return nil
  }

  /// The header of a frame.
  func frame(at offset: Int) throws -> JournalFrame? {
    guard offset >= header.size, let bytes = try file.bytes(JournalFrame.headerSize, at: offset)
    else { return nil }
    return bytes.withUnsafeBytes { JournalFrame($0, at: offset, seed: seed) }
  }

  /// The header of a frame, from the window if it is there. A header missing there may have been
  /// written meanwhile.
  private func frame(at offset: Int, _ window: JournalWindow) throws -> JournalFrame? {
    try window.frame(at: offset, seed: seed) ?? frame(at: offset)
  }

  /// The header of a frame that is complete and intact.
  ///
  /// - Parameter state: whether its state must be intact, too.
  func wholeFrame(at offset: Int, state: Bool = true) throws -> JournalFrame? {
    guard let frame = try frame(at: offset), offset + frame.length <= (try file.size()),
      let body = try file.bytes(
        frame.elementsLength + (state ? frame.stateLength : 0),
        at: offset + JournalFrame.headerSize)
    else { return nil }
    return body.withUnsafeBytes { body in
      CRC32C.of(body.part(0..<frame.elementsLength), after: seed) == frame.elementsChecksum
        && (!state
          || CRC32C.of(body.part(frame.elementsLength..<body.count), after: seed)
            == frame.stateChecksum)
    } ? frame : nil
  }

  /// Whether a complete frame follows a place.
  func hasFrame(behind offset: Int) throws -> Bool {
    let size = try file.size()
    let window = 1 << 20
    var start = offset + 1
    while start + JournalFrame.headerSize <= size {
      let bytes = try file.upTo(window, at: start)
      for candidate in bytes.withUnsafeBytes({ frames(in: $0, at: start) })
      where try wholeFrame(at: candidate) != nil {
        return true
      }
      if bytes.count < window { return false }
      start += window - JournalFrame.headerSize + 1
    }
    return false
  }

  /// The offsets of all headers in some bytes.
  private func frames(in bytes: UnsafeRawBufferPointer, at start: Int) -> [Int] {
    var found: [Int] = []
    var place = 0
    // Not a closure for each byte, which is slow without optimisation.
    while let base = bytes.baseAddress, bytes.count - place >= JournalFrame.headerSize,
      let hit = memchr(
        base + place, Int32(UInt8(ascii: "T")), bytes.count - JournalFrame.headerSize + 1 - place)
    {
      place = hit - UnsafeMutableRawPointer(mutating: base)
      let header = bytes.part(place..<place + JournalFrame.headerSize)
      if JournalFrame(header, at: start + place, seed: seed) != nil { found.append(start + place) }
      place += 1
    }
    return found
  }

  // MARK: Places

  /// Where the first frame kept begins.
  func first(_ cells: JournalCells) -> Int { max(cells.first ?? 0, header.size) }

  /// The frame of a position, or the place after the last one.
  ///
  /// It begins at one of the last frames, and jumps back from there.
  func place(of position: Int, _ cells: JournalCells, limit: Int) throws -> JournalPlace? {
    let first = first(cells)
    var offset = first
    if let last = cells.last, last > first, last < limit, try frame(at: last) != nil {
      offset = last
    }
    guard var frame = try frame(at: offset) else {
      // No frame: it may be the beginning of an empty journal.
      return offset == header.size && position == 0
        ? JournalPlace(position: 0, offset: offset)
        : try placeBehind(offset, of: position, cells, limit: limit)
    }
    while frame.position > position {
      guard offset > first else {
        // The elements kept begin after it.
        throw ListStoreError.trimmed(first: frame.position)
      }
      if frame.jump >= first, let jumped = try self.frame(at: frame.jump),
        jumped.position > position
      {
        (offset, frame) = (frame.jump, jumped)
        continue
      }
      offset -= frame.previousLength
      guard let previous = try self.frame(at: offset) else {
        throw try loss(at: offset, position)
      }
      frame = previous
    }
    // After the last known place: forward, frame by frame.
    while frame.positions.upperBound <= position, !frame.isEnd {
      let next = offset + frame.length
      guard next < limit, let following = try self.frame(at: next) else {
        let end = frame.positions.upperBound
        return position == end
          ? JournalPlace(position: end, offset: next, before: offset)
          : try placeBehind(next, of: position, cells, limit: limit)
      }
      (offset, frame) = (next, following)
    }
    return JournalPlace(position: position, offset: offset)
  }

  /// The place of a position behind one where no frame was found: `nil` if nothing is stored there.
  private func placeBehind(
    _ offset: Int, of position: Int, _ cells: JournalCells, limit: Int
  ) throws -> JournalPlace? {
    let now = try self.cells()
    // The frames on the way were trimmed meanwhile.
    if first(now) > first(cells) { return try place(of: position, now, limit: limit) }
    if offset < limit { try judge(offset, position, isPromised: offset < cells.promised) }
    return nil
  }

  // MARK: Elements

  /// Elements from a position on.
  ///
  /// - Parameter known: the place of that position, if known.
  func page(
    from position: Int, upTo count: Int, known: JournalPlace?
  ) throws -> JournalPage {
    let cells = try cells()
    let size = try file.size()
    let (isExact, promised) = (cells.isExact, cells.promised)
    let limit = min(cells.visible ?? size, size)
    var page = JournalPage()
    guard
      let place =
        try isPlace(known, of: position) ? known : place(of: position, cells, limit: limit)
    else {
      if promised > size { throw ListStoreError.damaged(at: position) }
      return page
    }
    page.next = place
    var window = JournalWindow(file, size: max(1 << 14, min(count, 1 << 10) * 256))
    var offset = place.offset
    while page.items.count < count {
      guard offset < limit else {
        if promised > size, page.items.isEmpty {
          throw ListStoreError.damaged(at: page.next.position)
        }
        return page
      }
      switch try element(
        at: offset, limit, &window, isExact: isExact, mayLoad: page.items.isEmpty)
      {
      case .later: return page
      case .bad:
        if page.items.isEmpty {
          try judge(offset, page.next.position, isPromised: offset < promised)
        }
        return page
      case .frame(let frame, let start):
        page.bytes = window.bytes
        guard page.take(frame, at: start, upTo: count) else {
          throw ListStoreError.damaged(at: frame.position)
        }
        page.given = given(frame, at: offset, cells)
        // Some remain for the next page.
        if page.next.position < frame.positions.upperBound { return page }
        if frame.isEnd {
          // Nothing follows; a repeated read gets the same answer. It may begin beyond the end.
          page.isEnd = true
          page.next.position = min(page.next.position, frame.positions.upperBound)
          return page
        }
        page.next.before = offset
        offset += frame.length
        page.next.offset = offset
      }
    }
    // The end may be a separate entry.
    if offset < limit, let next = try frame(at: offset, window), next.isEnd, next.count == 0,
      try isExact || wholeFrame(at: offset) == next
    {
      page.isEnd = true
      page.next.offset = offset
      page.given = given(next, at: offset, cells)
    }
    return page
  }

  /// Whether a remembered place still holds a position: the frames there may have been cut off.
  private func isPlace(_ place: JournalPlace?, of position: Int) throws -> Bool {
    guard let place, place.position == position else { return false }
    guard let frame = try frame(at: place.offset) else {
      // Nothing may have been appended there yet.
      guard place.before > 0, let last = try frame(at: place.before) else { return false }
      return last.positions.upperBound == position && !last.isEnd
        && place.before + last.length == place.offset
    }
    return frame.positions.contains(position)
      || (frame.isEnd && frame.positions.upperBound == position)
  }

  private func given(_ frame: JournalFrame, at offset: Int, _ cells: JournalCells) -> GivenFrame {
    GivenFrame(
      offset: offset, frame: frame, isSynced: offset + frame.length <= cells.synced ?? 0)
  }

  /// Whether a frame is still there, or was trimmed. A writer that finds the last frame damaged cuts
  /// it off, and other elements take its place.
  func holds(_ given: GivenFrame?) throws -> Bool {
    guard let given, !given.isSynced else { return true }
    return try frame(at: given.offset) == given.frame || first(cells()) > given.offset
  }

  private enum Found {
    /// A frame, and where its lengths begin in the window.
    case frame(JournalFrame, Int)
    /// It is not in the window, but elements were found before it.
    case later
    case bad
  }

  /// The frame at a place, with its elements in the window.
  ///
  /// - Parameter isExact: whether all frames before the limit are known to be whole.
  private func element(
    at offset: Int, _ limit: Int, _ window: inout JournalWindow, isExact: Bool, mayLoad: Bool
  ) throws -> Found {
    let headerSize = JournalFrame.headerSize
    guard limit - offset >= headerSize else { return .bad }
    if !window.has(offset..<offset + headerSize) {
      guard mayLoad else { return .later }
      try window.load(offset, atLeast: headerSize, upTo: limit)
    }
    guard let frame = window.frame(at: offset, seed: seed), offset + frame.length <= limit else {
      return .bad
    }
    let body = offset + headerSize..<offset + headerSize + frame.elementsLength
    if !window.has(body) {
      guard mayLoad else { return .later }
      try window.load(offset, atLeast: body.upperBound - offset, upTo: limit)
    }
    guard window.checksum(of: body, seed: seed) == frame.elementsChecksum else { return .bad }
    // The state was not checked. A frame is certainly whole if another one follows. Outside of the
    // window it may be another writer's that has replaced a partly written one.
    let next = offset + frame.length
    if !isExact, window.frame(at: next, seed: seed) == nil {
      let isFollowed = try self.frame(at: next) != nil
      guard try (isFollowed ? self.frame(at: offset) : wholeFrame(at: offset)) == frame else {
        return .bad
      }
    }
    return .frame(frame, body.lowerBound - window.start)
  }

  /// Decides about a place where a frame should be, but none was found.
  ///
  /// Nothing is wrong if the end of the file is being written, or was when it was read: another
  /// read finds the frame.
  private func judge(_ offset: Int, _ position: Int, isPromised: Bool) throws {
    // A frame is complete before the next one begins. So one that is still bad when another
    // follows was not read while being written.
    let isLost =
      try isPromised || first(cells()) > offset
      || (hasFrame(behind: offset) && wholeFrame(at: offset) == nil)
    if isLost { throw try loss(at: offset, position) }
  }

  /// The failure of a frame that is gone: trimmed meanwhile, or damaged.
  private func loss(at offset: Int, _ position: Int) throws -> ListStoreError {
    // Read last: a trimming writer announces it before it removes the bytes.
    let first = first(try cells())
    guard first > offset else { return .damaged(at: position) }
    return .trimmed(first: try frame(at: first)?.position ?? position)
  }
}
