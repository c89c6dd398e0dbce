import FileReading
import TailraceLists
import TailraceSupport

/// Reads an open journal. A stateless value: several readers may use it, beside a writer.
///
/// What a walk has found is remembered by its caller: `walked` is the farthest frame that was seen in
/// the chain, and the next walk goes on there.
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

  // MARK: Marks

  /// The mark that counts.
  func mark() throws -> JournalMark {
    guard let mark = try JournalMark(of: file, seed: seed) else {
      throw ListStoreError.damaged(at: 0)
    }
    return mark
  }

  /// Reads something that a mark promises, up to a limit that is true until it was read.
  private func underMark<Value>(
    _ read: (_ mark: JournalMark, _ limit: Int) throws -> Value
  ) throws -> Value {
    var attempts = 0
    while true {
      // First of all: what it promises is in what is read later.
      let mark = try mark()
      attempts += 1
      var bound = mark.bound(in: boot)
      // A writer that is taken for one of another start of the machine, and never rests.
      if attempts > 8, !mark.showsUnsynced { bound = mark.synced }
      let limit = try limit(mark, bound)
      let value = Result { try read(mark, limit) }
      if case .success(let value) = value, mark.showsUnsynced || bound != nil { return value }
      // All that is whole is on the disk only while nobody writes since the machine was started; and
      // what is missing may have been trimmed meanwhile.
      let now = try self.mark()
      switch value {
      case .success(let value): if now == mark { return value }
      case .failure(let failure): if now.first == mark.first { throw failure }
      }
    }
  }

  /// No frame ends behind it.
  ///
  /// - Parameter bound: what readers may see; `nil` for all that is whole.
  func limit(_ mark: JournalMark, _ bound: Int?) throws -> Int {
    let size = try file.size()
    return max(min(bound ?? size, size), min(size, mark.promised(in: boot)))
  }

  // MARK: Frames

  /// The header of a frame.
  func frame(at offset: Int) throws -> JournalFrame? {
    guard offset >= JournalHeader.size,
      let bytes = try file.bytes(JournalFrame.headerSize, at: offset)
    else { return nil }
    return bytes.withUnsafeBytes { JournalFrame($0, at: offset, seed: seed) }
  }

  /// The bytes of a frame's state.
  func state(of frame: JournalFrame, at offset: Int) throws -> [UInt8]? {
    guard frame.hasState, frame.stateLength <= JournalFrame.longest,
      let bytes = try file.bytes(
        frame.stateLength, at: offset + JournalFrame.headerSize + frame.elementsLength),
      bytes.withUnsafeBytes({ CRC32C.of($0, after: seed) }) == frame.stateChecksum
    else { return nil }
    return bytes
  }

  /// The checksum of some bytes; `nil` if the file ends before.
  func checksum(of range: Range<Int>) throws(SystemError) -> UInt32? {
    var (sum, offset) = (seed, range.lowerBound)
    while offset < range.upperBound {
      let bytes = try file.upTo(min(1 << 20, range.upperBound - offset), at: offset)
      if bytes.isEmpty { return nil }
      sum = bytes.withUnsafeBytes { CRC32C.of($0, after: sum) }
      offset += bytes.count
    }
    return sum
  }

  /// The frames from a place on.
  ///
  /// - Parameters:
  ///   - previous: the name of the frame before, if it is known.
  ///   - limit: no frame ends behind it.
  ///   - promised: the states of frames up to there are not looked at.
  ///   - size: of the part of the file that is read first.
  func frames(
    from offset: Int, previous: UInt64? = nil, upTo limit: Int, promised: Int = 0,
    _ purpose: JournalFrames.Purpose = .look, size: Int = 1 << 12
  ) -> JournalFrames {
    JournalFrames(
      self, from: offset, previous: previous, upTo: limit, promised: promised, purpose,
      window: JournalWindow(file, size: size, atMost: purpose == .give ? size : 1 << 18))
  }

  /// Where a walk begins: the farthest frame that is known to be in the chain.
  private func start(_ mark: JournalMark, _ walked: inout KnownFrame?, _ limit: Int) throws -> Int {
    let last = mark.last(in: boot)
    guard let known = walked, known.offset > last else { return last }
    guard known.offset < limit, try frame(at: known.offset)?.name == known.name else {
      walked = nil
      return last
    }
    return known.offset
  }

  /// Goes to the end of the chain.
  ///
  /// - Parameter pass: called with each frame on the way.
  func end(
    _ mark: JournalMark, _ limit: Int, walked: inout KnownFrame?,
    passing pass: (JournalFrame, Int) throws -> Void = { _, _ in }
  ) throws -> JournalFrames {
    let promised = mark.promised(in: boot)
    var frames = frames(
      from: try start(mark, &walked, limit), upTo: limit, promised: promised)
    while let frame = try frames.next(), let last = frames.last { try pass(frame, last.offset) }
    remember(frames, &walked)
    if frames.offset < promised { throw damage(at: frames, mark) }
    return frames
  }

  private func remember(_ frames: JournalFrames, _ walked: inout KnownFrame?) {
    guard let (frame, offset) = frames.last, offset >= walked?.offset ?? 0 else { return }
    walked = KnownFrame(offset: offset, name: frame.name, position: frame.positions.upperBound)
  }

  /// The failure of a frame that must be there: that of the first element that cannot be reached.
  func damage(at frames: JournalFrames, _ mark: JournalMark) -> ListStoreError {
    if let position = frames.position { return .damaged(at: position) }
    var before = self.frames(from: mark.first, upTo: frames.offset, promised: frames.offset)
    while (try? before.next()) != nil {}
    return .damaged(at: before.position ?? mark.firstPosition)
  }

  /// Identity, first element, count and end.
  func extent(walked: inout KnownFrame?) throws -> ListExtent {
    try underMark { mark, limit in
      let end = try end(mark, limit, walked: &walked)
      return ListExtent(
        identity: identity(mark), first: mark.firstPosition,
        count: end.position ?? mark.firstPosition, isEnded: end.isEnded)
    }
  }

  private func identity(_ mark: JournalMark) -> String {
    let digits = String(mark.history, radix: 16)
    return mark.history == 0 ? header.id.description : "\(header.id)-\(digits)"
  }

  /// The first frame of this list behind a place, whatever is between. What cannot be read is passed.
  func anyFrame(from start: Int, upTo size: Int) -> Int? {
    let (step, overlap) = (1 << 16, JournalFrame.headerSize)
    var offset = start
    while offset < size {
      guard let bytes = try? file.upTo(min(step + overlap, size - offset), at: offset) else {
        // Block by block: the disk cannot read one of them.
        offset = (offset / JournalHeader.block + 1) * JournalHeader.block
        continue
      }
      if bytes.isEmpty { return nil }
      let found = bytes.withUnsafeBytes { bytes in
        (0..<min(step, bytes.count)).first { place in
          bytes[place] == JournalFrame.firstByte && place + overlap <= bytes.count
            && JournalFrame(
              bytes.part(place..<place + overlap), at: offset + place, seed: seed) != nil
        }
      }
      if let found { return offset + found }
      offset += step
    }
    return nil
  }

  // MARK: Places

  /// The frame of a position, or the place after the last one; `nil` if the position is beyond it.
  ///
  /// It begins at the farthest frame known, and jumps back from there. If a frame on the way back is
  /// damaged, it begins at the first one.
  func place(
    of position: Int, _ mark: JournalMark, limit: Int, walked: inout KnownFrame?
  ) throws -> JournalPlace? {
    if position < mark.firstPosition { throw ListStoreError.trimmed(first: mark.firstPosition) }
    let promised = mark.promised(in: boot)
    let known = try? back(to: position, from: start(mark, &walked, limit), mark)
    if let known, known.frame.positions.contains(position) {
      return JournalPlace(position: position, offset: known.offset)
    }
    var frames = frames(from: known?.offset ?? mark.first, upTo: limit, promised: promised)
    while let frame = try frames.next(), let last = frames.last {
      guard position < frame.positions.upperBound || frame.isEnd else { continue }
      remember(frames, &walked)
      return JournalPlace(position: position, offset: last.offset)
    }
    remember(frames, &walked)
    if frames.offset < promised { throw damage(at: frames, mark) }
    guard position == frames.position ?? mark.firstPosition else { return nil }
    return JournalPlace(
      position: position, offset: frames.offset, previous: frames.last?.frame.name)
  }

  /// A frame that begins at a position or before, by jumps from a later one. `nil` if one on the way is
  /// damaged.
  private func back(
    to position: Int, from start: Int, _ mark: JournalMark
  ) throws -> (frame: JournalFrame, offset: Int)? {
    guard var frame = try frame(at: start) else { return nil }
    var offset = start
    while frame.position > position {
      if frame.jump >= mark.first, let jumped = try self.frame(at: frame.jump),
        jumped.position > position
      {
        (offset, frame) = (frame.jump, jumped)
        continue
      }
      let place = offset - frame.previousLength
      guard place >= mark.first, place < offset, let before = try self.frame(at: place),
        before.name == frame.previous
      else { return nil }
      (offset, frame) = (place, before)
    }
    return (frame, offset)
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

  /// Whether a frame that was given is there, or was trimmed.
  func holds(_ given: KnownFrame) throws -> Bool {
    try frame(at: given.offset)?.name == given.name || mark().first > given.offset
  }

  // MARK: Elements

  /// Elements from a position on.
  ///
  /// - Parameter known: the place of that position, if known.
  func page(
    from position: Int, upTo count: Int, known: JournalPlace?, walked: inout KnownFrame?
  ) throws -> JournalPage {
    try underMark { mark, limit in
      let remembered = try known.map { try isPlace($0, mark) ? $0 : nil } ?? nil
      let place = try remembered ?? place(of: position, mark, limit: limit, walked: &walked)
      guard let place else { return JournalPage() }
      return try page(from: place, upTo: count, mark, limit, walked: &walked)
    }
  }

  private func page(
    from place: JournalPlace, upTo count: Int, _ mark: JournalMark, _ limit: Int,
    walked: inout KnownFrame?
  ) throws -> JournalPage {
    var page = JournalPage()
    page.next = place
    let promised = mark.promised(in: boot)
    var frames = frames(
      from: place.offset, previous: place.previous, upTo: limit, promised: promised, .give,
      size: max(1 << 14, min(count, 1 << 10) * 256))
    defer { remember(frames, &walked) }
    while page.items.count < count {
      let offset = frames.offset
      // A failure behind the first element belongs to the next page.
      frames.staysInWindow = !page.items.isEmpty
      let found = page.items.isEmpty ? try frames.next() : try? frames.next()
      guard let frame = found else {
        if page.items.isEmpty, offset < promised {
          throw ListStoreError.damaged(at: page.next.position)
        }
        return page
      }
      guard frame.position <= page.next.position,
        page.next.position <= frame.positions.upperBound || frame.isEnd
      else { throw ListStoreError.damaged(at: page.next.position) }
      page.bytes = frames.bytes
      guard page.take(frame, at: frames.elementsStart, upTo: count) else {
        throw ListStoreError.damaged(at: frame.position)
      }
      page.given = KnownFrame(offset: offset, name: frame.name, position: page.next.position)
      // Some remain for the next page.
      if page.next.position < frame.positions.upperBound {
        (page.next.offset, page.next.previous, page.next.own) = (offset, frame.previous, frame.name)
        return page
      }
      if frame.isEnd {
        page.end(with: frame, at: offset)
        return page
      }
      page.next = JournalPlace(
        position: page.next.position, offset: frames.offset, previous: frame.name)
    }
    // The end may be a frame of its own.
    let offset = frames.offset
    if let frame = try? frames.end() { page.end(with: frame, at: offset) }
    return page
  }
}
