import FileReading
import TailraceLists
import TailraceSupport

/// Reads an open journal. A stateless value: several readers may use it, beside a writer.
///
/// What a walk has found is remembered by its caller: `known` is the farthest frame that was seen in
/// the chain, and the next walk goes on there. If it is not there any more, the list is not the one that
/// was read before.
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
    if let mark = try? JournalMark(of: file, seed: seed) { return mark }
    // Both may have been written while they were read.
    guard let mark = try JournalMark(of: file, seed: seed) else {
      throw ListStoreError.damaged(at: 0)
    }
    return mark
  }

  /// Reads something that a mark promises, up to a limit that is true until it was read.
  ///
  /// - Parameter read: returns also where its walk has come to; `nil` if that is before what was asked for.
  private func underMark<Value>(
    _ read: (_ mark: JournalMark, _ limit: Int) throws -> (Value, end: Int?)
  ) throws -> Value {
    var hasWriter = false
    while true {
      // First of all: what it promises is in what is read later.
      let mark = try mark()
      let bound = hasWriter && !mark.showsUnsynced ? mark.synced : mark.bound(in: boot)
      let limit = min(bound ?? .max, try file.size())
      let value = Result { try read(mark, limit) }
      // Without a bound all that is whole is on the disk only while nobody writes since the machine was
      // started. And what is missing may have been trimmed meanwhile: only then is the mark needed again.
      let isSure = mark.showsUnsynced || bound != nil
      if case .success((let value, let end?)) = value, isSure || end <= mark.synced { return value }
      let now = try self.mark()
      switch value {
      case .success(let value):
        if isSure ? now.first == mark.first : now == mark { return value.0 }
      case .failure(let failure): if now.first == mark.first { throw failure }
      }
      // Even if it is taken for one of another start of the machine.
      hasWriter = true
    }
  }

  // MARK: Frames

  /// The header of a frame.
  func frame(at offset: Int) throws(SystemError) -> JournalFrame? {
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

  /// The frames from a place on.
  ///
  /// - Parameters:
  ///   - previous: the name of the frame before, if it is known.
  ///   - limit: no frame ends behind it.
  ///   - promised: the states of frames up to there are not looked at.
  ///   - size: how many bytes are read at once, if they are not to become more.
  func frames(
    from offset: Int, previous: UInt64? = nil, upTo limit: Int, promised: Int = 0,
    repairs: Bool = false, reading size: Int? = nil
  ) -> JournalFrames {
    JournalFrames(
      self, from: offset, previous: previous, upTo: limit, promised: promised, repairs: repairs,
      reading: size ?? 1 << 12, atMost: size ?? 1 << 18)
  }

  /// Where a walk begins: at the farthest frame that is known to be in the chain.
  ///
  /// - Throws: if there is another one in its place.
  private func start(_ mark: JournalMark, _ known: KnownFrame?, _ limit: Int) throws -> Int {
    let last = mark.last(in: boot)
    guard let known, known.offset < limit, known.offset >= mark.first else { return last }
    guard try frame(at: known.offset)?.name == known.name else {
      throw ListStoreError.refused(
        """
        the last elements that this store has seen of \(path) are not there any more: they were \
        damaged, and others may be in their place. Make the store and its lists anew
        """)
    }
    return max(known.offset, last)
  }

  /// Goes to the end of the chain.
  ///
  /// - Parameter pass: called with each frame on the way.
  func end(
    _ mark: JournalMark, _ limit: Int, known: inout KnownFrame?,
    passing pass: (JournalFrame, Int) throws -> Void = { _, _ in }
  ) throws -> JournalFrames {
    let promised = mark.promised(in: boot)
    var frames = frames(
      from: try start(mark, known, limit), upTo: limit, promised: promised)
    while let frame = try frames.next(), let last = frames.last { try pass(frame, last.offset) }
    known.note(frames.known)
    if frames.offset < promised { throw damage(at: frames, mark) }
    return frames
  }

  /// The failure of a frame that must be there: that of the first element that cannot be reached.
  func damage(at frames: JournalFrames, _ mark: JournalMark) -> ListStoreError {
    if let position = frames.position { return .damaged(at: position) }
    var before = self.frames(from: mark.first, upTo: frames.offset, promised: frames.offset)
    while (try? before.next()) != nil {}
    return .damaged(at: before.position ?? mark.firstPosition)
  }

  /// Identity, first element, count and end.
  func extent(known: inout KnownFrame?) throws -> ListExtent {
    try underMark { mark, limit in
      let end = try end(mark, limit, known: &known)
      let extent = ListExtent(
        identity: identity(mark), first: mark.firstPosition,
        count: end.position ?? mark.firstPosition, isEnded: end.isEnded)
      return (extent, end: end.isEnded || end.offset == limit ? end.offset : nil)
    }
  }

  private func identity(_ mark: JournalMark) -> String {
    let digits = String(mark.history, radix: 16)
    return mark.history == 0 ? header.id.description : "\(header.id)-\(digits)"
  }

  // MARK: Places

  /// The frame of a position, or the place after the last one; `nil` if the position is beyond it.
  ///
  /// It begins at the farthest frame known, and jumps back from there. If a frame on the way back is
  /// damaged, it begins at the first one.
  func place(
    of position: Int, from start: Int, _ mark: JournalMark, limit: Int, known: inout KnownFrame?
  ) throws -> JournalPlace? {
    if position < mark.firstPosition { throw ListStoreError.trimmed(first: mark.firstPosition) }
    let promised = mark.promised(in: boot)
    let before = try? back(to: position, from: start, mark)
    if let before, before.frame.positions.contains(position) {
      return JournalPlace(position: position, offset: before.offset)
    }
    var frames = frames(from: before?.offset ?? mark.first, upTo: limit, promised: promised)
    defer { known.note(frames.known) }
    while let frame = try frames.next(), let last = frames.last {
      if position < frame.positions.upperBound || frame.isEnd {
        return JournalPlace(position: position, offset: last.offset)
      }
    }
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
      // Only the disk fails here: where it cannot read, the way is longer.
      if frame.jump >= mark.first, let jumped = try? self.frame(at: frame.jump),
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

  // MARK: Elements

  /// Elements from a position on.
  ///
  /// - Parameter place: of that position, if it was remembered.
  func page(
    from position: Int, upTo count: Int, _ place: JournalPlace?, known: inout KnownFrame?
  ) throws -> JournalPage {
    try underMark { mark, limit in
      let start = try start(mark, known, limit)
      var place = place.flatMap { $0.offset >= mark.first ? $0 : nil }
      place =
        try place ?? self.place(of: position, from: start, mark, limit: limit, known: &known)
      guard let place else { return (JournalPage(), end: nil) }
      let page = try page(
        from: place, upTo: count, mark.promised(in: boot), limit, known: &known)
      let isAll = page.items.count == count || page.isEnd || page.next.offset == limit
      return (page, end: isAll ? page.next.offset : nil)
    }
  }

  private func page(
    from place: JournalPlace, upTo count: Int, _ promised: Int, _ limit: Int,
    known: inout KnownFrame?
  ) throws -> JournalPage {
    var page = JournalPage()
    page.next = place
    var frames = frames(
      from: place.offset, previous: place.previous, upTo: limit, promised: promised,
      reading: max(1 << 14, min(count, 1 << 10) * 256))
    defer { known.note(frames.known) }
    while page.items.count < count {
      let offset = frames.offset
      // A failure behind the first element belongs to the next page.
      frames.staysInMemory = !page.items.isEmpty
      guard let frame = page.items.isEmpty ? try frames.next() : try? frames.next() else {
        if page.items.isEmpty, offset < promised {
          throw ListStoreError.damaged(at: page.next.position)
        }
        return page
      }
      page.bytes = frames.bytes
      guard frame.position <= page.next.position,
        page.next.position <= frame.positions.upperBound || frame.isEnd,
        page.take(frame, at: frames.elementsStart, upTo: count)
      else { throw ListStoreError.damaged(at: page.next.position) }
      // Some remain for the next page.
      if page.next.position < frame.positions.upperBound {
        (page.next.offset, page.next.previous) = (offset, frame.previous)
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
    if let end = try? frame(at: offset), end.isEnd, end.count == 0 {
      frames.staysInMemory = false
      if let end = try? frames.next() { page.end(with: end, at: offset) }
    }
    return page
  }
}
