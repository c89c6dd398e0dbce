import FileReading
import TailraceLists
import TailraceSupport

/// Reads an open journal. A stateless value: several readers may use it, beside a writer.
struct JournalReader: Sendable {
  let file: any DiskFile
  let header: JournalHeader
  let seed: UInt32
  /// The present start of the machine.
  let boot: JournalID
  /// The path, for messages.
  let path: String

  init(_ file: any DiskFile, _ header: JournalHeader, boot: JournalID, path: String) {
    self.file = file
    self.header = header
    self.boot = boot
    self.path = path
    seed = header.seed
  }

  /// The mark that counts.
  func mark() throws -> JournalMark {
    guard let mark = try JournalMark(of: file, seed: seed) else {
      throw ListStoreError.damaged(at: 0)
    }
    return mark
  }

  // MARK: Frames

  /// The header of a frame.
  func frame(at offset: Int) throws -> JournalFrame? {
    guard offset >= JournalHeader.size,
      let bytes = try file.bytes(JournalFrame.headerSize, at: offset)
    else { return nil }
    return bytes.withUnsafeBytes { JournalFrame($0, at: offset, seed: seed) }
  }

  /// The header of a frame that is complete and intact.
  ///
  /// - Parameter size: of the file.
  func wholeFrame(at offset: Int, size: Int) throws -> JournalFrame? {
    guard let frame = try frame(at: offset), offset + frame.length <= size,
      let body = try file.bytes(
        frame.elementsLength + frame.stateLength, at: offset + JournalFrame.headerSize)
    else { return nil }
    return body.withUnsafeBytes { body in
      CRC32C.of(body.part(0..<frame.elementsLength), after: seed) == frame.elementsChecksum
        && CRC32C.of(body.part(frame.elementsLength..<body.count), after: seed)
          == frame.stateChecksum
    } ? frame : nil
  }

  /// The bytes of a frame's state.
  func state(of frame: JournalFrame, at offset: Int) throws -> [UInt8]? {
    guard frame.hasState,
      let bytes = try file.bytes(
        frame.stateLength, at: offset + JournalFrame.headerSize + frame.elementsLength),
      bytes.withUnsafeBytes({ CRC32C.of($0, after: seed) }) == frame.stateChecksum
    else { return nil }
    return bytes
  }

  /// The last whole frame of the chain, and where it begins. Without a frame, the end is where one
  /// would begin.
  ///
  /// - Parameter pass: called with each frame on the way, from the one known to be last.
  func end(
    _ mark: JournalMark, size: Int, bound: Int? = nil,
    passing pass: (JournalFrame, Int) throws -> Void = { _, _ in }
  ) throws -> (last: JournalFrame?, offset: Int, end: Int) {
    var (end, limit) = (mark.last(in: boot), min(bound ?? size, size))
    limit = max(limit, min(size, mark.promised(in: boot)))
    var (last, offset) = (JournalFrame?.none, 0)
    while end < limit, let frame = try wholeFrame(at: end, size: size) {
      if let last {
        guard frame.previous == last.name, frame.position == last.positions.upperBound else {
          break
        }
      } else if end == JournalHeader.size, frame.previous != header.root {
        break
      }
      try pass(frame, end)
      (last, offset) = (frame, end)
      end += frame.length
    }
    return (last, offset, end)
  }

  /// Identity, first element, count and end.
  func extent() throws -> ListExtent {
    let mark = try mark()
    let found = try end(mark, size: file.status().size, bound: mark.bound(in: boot))
    let first = try frame(at: mark.first)
    let count = found.last?.positions.upperBound ?? first?.position ?? 0
    if found.end < mark.promised(in: boot) { throw try loss(at: found.end, count) }
    return ListExtent(
      identity: header.id.description, first: first?.position ?? 0, count: count,
      isEnded: found.last?.isEnd ?? false)
  }

  // MARK: Places

  /// The frame of a position, or the place after the last one; `nil` if the position is beyond it.
  ///
  /// It begins at one of the last frames, and jumps back from there.
  func place(of position: Int, _ mark: JournalMark, limit: Int) throws -> JournalPlace? {
    var offset = mark.last(in: boot)
    var found = offset < limit ? try frame(at: offset) : nil
    if found == nil {
      offset = mark.first
      found = offset < limit ? try frame(at: offset) : nil
    }
    guard var frame = found else {
      if offset < mark.promised(in: boot) { throw try loss(at: offset, position) }
      return position == 0 ? JournalPlace(position: 0, offset: offset) : nil
    }
    while frame.position > position {
      // The elements kept begin after it.
      guard offset > mark.first else { throw ListStoreError.trimmed(first: frame.position) }
      if frame.jump >= mark.first, let jumped = try self.frame(at: frame.jump),
        jumped.position > position
      {
        (offset, frame) = (frame.jump, jumped)
        continue
      }
      offset -= frame.previousLength
      guard let before = try self.frame(at: offset), before.name == frame.previous else {
        throw try loss(at: offset, position)
      }
      frame = before
    }
    // After the last known place: forward, frame by frame.
    while frame.positions.upperBound <= position {
      let next = offset + frame.length
      guard let following = try self.frame(after: frame, at: offset, limit) else {
        if next < mark.promised(in: boot) { throw try loss(at: next, position) }
        let end = frame.positions.upperBound
        if frame.isEnd { return JournalPlace(position: position, offset: offset) }
        return position == end
          ? JournalPlace(position: end, offset: next, previous: frame.name) : nil
      }
      (offset, frame) = (next, following)
    }
    return JournalPlace(position: position, offset: offset)
  }

  /// Whether a remembered place is of use. It throws if the frame there is one of other elements than
  /// those that were given.
  private func isPlace(_ place: JournalPlace, _ mark: JournalMark) throws -> Bool {
    guard place.offset >= mark.first else { return false }
    // Nothing may have been appended there yet.
    guard let frame = try frame(at: place.offset) else { return place.own == nil }
    guard place.own ?? frame.name == frame.name, place.previous ?? frame.previous == frame.previous
    else { throw replaced }
    return true
  }

  /// The elements that were given are not in the file any more.
  var replaced: ListStoreError {
    .refused(
      """
      the last elements that this store has given of \(path) are not there any more: they were damaged, \
      and others were stored in their place. Make the store and its lists anew
      """)
  }

  // MARK: Elements

  /// Elements from a position on.
  ///
  /// - Parameter known: the place of that position, if known.
  func page(
    from position: Int, upTo count: Int, known: JournalPlace?
  ) throws -> JournalPage {
    while true {
      // First of all: what it promises is in what is read later.
      let mark = try mark()
      let page = Result { try self.page(from: position, upTo: count, known: known, mark) }
      // All that is whole is on the disk only while nobody has held the lease since the machine was
      // started.
      if mark.showsUnsynced || mark.bound(in: boot) != nil { return try page.get() }
      if try self.mark() == mark { return try page.get() }
    }
  }

  private func page(
    from position: Int, upTo count: Int, known: JournalPlace?, _ mark: JournalMark
  ) throws -> JournalPage {
    let size = try file.status().size
    let (bound, promised) = (mark.bound(in: boot), mark.promised(in: boot))
    let limit = min(bound ?? size, size)
    var page = JournalPage()
    let remembered = try known.map { try isPlace($0, mark) ? $0 : nil } ?? nil
    guard let place = try remembered ?? self.place(of: position, mark, limit: limit) else {
      return page
    }
    page.next = place
    var window = JournalWindow(file, size: max(1 << 14, min(count, 1 << 10) * 256))
    var offset = place.offset
    while page.items.count < count {
      let found =
        offset < limit
        ? try element(
          at: offset, limit, &window, isExact: bound != nil, mayLoad: page.items.isEmpty) : .bad
      guard case .frame(let frame, let start) = found,
        page.next.previous ?? frame.previous == frame.previous
      else {
        if case .bad = found, page.items.isEmpty, offset < promised {
          throw try loss(at: offset, page.next.position)
        }
        return page
      }
      page.bytes = window.bytes
      guard page.take(frame, at: start, upTo: count) else {
        throw ListStoreError.damaged(at: frame.position)
      }
      page.given = GivenFrame(offset: offset, name: frame.name, position: page.next.position)
      // Some remain for the next page.
      if page.next.position < frame.positions.upperBound {
        (page.next.offset, page.next.previous, page.next.own) = (offset, frame.previous, frame.name)
        return page
      }
      if frame.isEnd {
        end(&page, with: frame, at: offset)
        return page
      }
      offset += frame.length
      page.next = JournalPlace(
        position: page.next.position, offset: offset, previous: frame.name)
    }
    // The end may be a separate entry.
    if let next = offset < limit ? try frame(at: offset, window) : nil, next.isEnd,
      next.count == 0, next.previous == page.next.previous,
      try bound != nil || wholeFrame(at: offset, size: size) == next
    {
      end(&page, with: next, at: offset)
    }
    return page
  }

  /// Nothing follows; a repeated read, which may begin beyond the end, gets the same answer.
  private func end(_ page: inout JournalPage, with frame: JournalFrame, at offset: Int) {
    page.isEnd = true
    page.given = GivenFrame(
      offset: offset, name: frame.name, position: frame.positions.upperBound)
    page.next = JournalPlace(
      position: min(page.next.position, frame.positions.upperBound), offset: offset,
      previous: frame.previous, own: frame.name)
  }

  /// The frame after another one. Nothing follows the end of a list.
  private func frame(
    after frame: JournalFrame, at offset: Int, _ limit: Int
  ) throws -> JournalFrame? {
    let next = offset + frame.length
    guard !frame.isEnd, next < limit, let following = try self.frame(at: next),
      following.previous == frame.name
    else { return nil }
    return following
  }

  /// The header of a frame, from the window if it is there. A header missing there may have been
  /// written meanwhile.
  private func frame(at offset: Int, _ window: JournalWindow) throws -> JournalFrame? {
    try window.frame(at: offset, seed: seed) ?? frame(at: offset)
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
    // The state was not checked. A frame that is followed by the next of the chain is whole.
    if !isExact {
      let next = window.frame(at: offset + frame.length, seed: seed)
      guard try next?.previous == frame.name || wholeFrame(at: offset, size: limit) == frame else {
        return .bad
      }
    }
    return .frame(frame, body.lowerBound - window.start)
  }

  /// Whether a frame that was given is there, or was trimmed.
  func holds(_ given: GivenFrame) throws -> Bool {
    try frame(at: given.offset)?.name == given.name || mark().first > given.offset
  }

  /// The position of a place where no frame was found that can be named: that of the first element
  /// that cannot be reached.
  func position(of offset: Int) throws -> Int {
    var (place, position) = (try mark().first, 0)
    while place < offset, let frame = try frame(at: place) {
      position = frame.positions.upperBound
      place += frame.length
    }
    return position
  }

  /// The failure of a frame that must be there: trimmed meanwhile, or damaged.
  func loss(at offset: Int, _ position: Int) throws -> ListStoreError {
    // Read last: a trimming writer announces it before it removes the bytes.
    let first = try mark().first
    guard first > offset else { return .damaged(at: position) }
    return .trimmed(first: try frame(at: first)?.position ?? position)
  }
}
