import FileReading
import Tailrace

/// The end of a journal, for the one who appends: a value, with one method for each thing that
/// happens to it.
struct JournalWriter: Sendable {
  /// How many bytes of frames may follow the last one that the cells know: what is read to find the
  /// end.
  static let unknownBytes = 1 << 18

  /// How many bytes are made ready behind the end at once, for commits that are synced.
  ///
  /// A sync after an append has to write where the file ends, too; a sync after bytes were replaced does
  /// not, and takes two thirds of the time.
  static let roomBytes = 1 << 16

  let reader: JournalReader
  let durability: Durability
  private(set) var count = 0
  /// Where the next frame begins.
  private(set) var end: Int
  private(set) var isEnded = false
  /// Where the last frame with a state begins; 0 if there is none.
  private(set) var stateOffset = 0
  private var jumps = JournalJumps(from: nil) { _ in nil }
  private var last = (offset: 0, length: 0)
  private var synced: Int
  /// How many commits are not on the disk.
  private var unsynced = 0
  /// Where the file ends: with zeros, from the end of the last frame on. A reader finds no frame there.
  private var size = 0
  private var makesRoom: Bool
  /// Where the last frame begins that the cells know.
  private var known = 0
  private var number: UInt8 = 0

  var file: any DiskFile { reader.file }

  // MARK: Opening

  /// Finds the end of a journal, cuts off what was not written as a whole, and has the rest on the
  /// disk.
  ///
  /// - Parameter cutsDamage: whether what was stored and is damaged is given up, with all that
  ///   follows.
  init(_ reader: JournalReader, _ durability: Durability, cutsDamage: Bool) throws {
    self.reader = reader
    self.durability = durability
    end = reader.header.size
    synced = end
    makesRoom = durability != .process
    let cells = try reader.cells()
    let size = try reader.file.size()
    try walk(cells, size)
    let promised = max(cells.synced ?? 0, visible(cells))
    if end < size || promised > end {
      let isDamaged = try promised > end || reader.hasFrame(behind: end)
      if isDamaged, !cutsDamage { throw ListStoreError.damaged(at: count) }
      if end < size { try file.truncate(to: end) }
    }
    self.size = end
    jumps = try JournalJumps(from: last.offset) { offset in
      offset >= reader.first(cells) ? try reader.frame(at: offset) : nil
    }
    synced = min(max(synced, cells.synced ?? 0), end)
    if durability != .process { try settle() }
    try publish(first: cells.first)
  }

  /// What exact followers have been shown.
  private func visible(_ cells: JournalCells) -> Int {
    guard let visible = cells.visible, visible < JournalCells.everything else { return 0 }
    return visible
  }

  /// Passes all whole frames, from one of the last on.
  private mutating func walk(_ cells: JournalCells, _ size: Int) throws {
    end = reader.first(cells)
    if let last = cells.last, last > end, last < size, try reader.wholeFrame(at: last) != nil {
      end = last
    }
    while let frame = try reader.wholeFrame(at: end) {
      // The first one says where this list begins.
      guard last.offset == 0 || frame.position == count else { break }
      if frame.hasState {
        stateOffset = end
      } else if last.offset == 0 {
        stateOffset = try stateBefore(end)
      }
      count = frame.positions.upperBound
      isEnded = frame.isEnd
      number = frame.writer &+ 1
      synced = max(synced, frame.synced)
      last = (end, frame.length)
      end += frame.length
    }
    known = last.offset
  }

  /// Where the last state is, as a frame without one says.
  private func stateBefore(_ offset: Int) throws -> Int {
    let bytes = try file.bytes(8, at: offset + JournalFrame.headerSize) ?? []
    return bytes.isEmpty ? 0 : bytes.withUnsafeBytes { Int($0.number(UInt64.self, at: 0)) }
  }

  /// Writes once more what may not be on the disk, and waits until it is: after a sync that failed
  /// nobody knows what the system has given up.
  private mutating func settle() throws {
    let window = 1 << 20
    var offset = max(synced, reader.header.size)
    while offset < end {
      let bytes = try file.upTo(min(window, end - offset), at: offset)
      if bytes.isEmpty { throw ListStoreError.damaged(at: count) }
      try file.put(bytes, at: offset)
      offset += bytes.count
    }
    try file.synchronize()
    synced = end
  }

  /// Tells those who read where the journal ends now.
  private func publish(first: Int?) throws {
    let cells = JournalCells(
      visible: durability == .machine ? end : JournalCells.everything, synced: synced,
      last: last.offset, first: first ?? reader.header.size)
    try file.put(cells.bytes(4, seed: reader.seed), at: JournalCells.offset)
  }

  // MARK: Appending

  /// Fills the header of a draft in, for the place at the end.
  ///
  /// - Returns: false if it does not belong there.
  func seal(
    _ draft: inout JournalDraft, at position: Int, elements: UInt8, state: UInt8
  ) throws -> Bool {
    guard position == count, !isEnded else { return false }
    guard draft.bytes.count < Int(UInt32.max) else {
      throw ListStoreError.refused("a commit of 4 GiB or more cannot be stored in a file")
    }
    var frame = JournalFrame()
    frame.elementsLength = draft.stateStart - JournalFrame.headerSize
    frame.stateLength = draft.bytes.count - draft.stateStart
    frame.position = count
    frame.count = draft.count
    frame.flags =
      (draft.isEnd ? JournalFrame.endFlag : 0) | (draft.hasState ? JournalFrame.stateFlag : 0)
    frame.elementVersion = elements
    frame.stateVersion = state
    frame.writer = number
    frame.synced = synced
    (frame.jump, frame.span) = jumps.next
    frame.previousLength = last.length
    let (end, seed, stateOffset) = (end, reader.seed, stateOffset)
    draft.bytes.withUnsafeMutableBytes { bytes in
      if !frame.hasState { bytes.put(UInt64(stateOffset), at: JournalFrame.headerSize) }
      let body = UnsafeRawBufferPointer(bytes)
      let stateStart = JournalFrame.headerSize + frame.elementsLength
      frame.elementsChecksum = CRC32C.of(
        body.part(JournalFrame.headerSize..<stateStart), after: seed)
      frame.stateChecksum = CRC32C.of(body.part(stateStart..<body.count), after: seed)
      frame.put(into: bytes, at: end, seed: seed)
    }
    return true
  }

  /// Whether the next commit has to wait for the disk.
  var waitsForDisk: Bool {
    switch durability {
    case .process: false
    case .machine: true
    case .machineEvery(let interval): unsynced + 1 >= interval
    }
  }

  /// What is to be made ready behind a draft that was written at the end; nothing mostly.
  func room(behind draft: JournalDraft) -> Range<Int>? {
    let next = end + draft.bytes.count
    // Behind large commits it would cost more than it saves.
    guard makesRoom, !draft.isEnd, next > size, draft.bytes.count <= Self.roomBytes / 8 else {
      return nil
    }
    return next..<next + Self.roomBytes
  }

  /// The file was extended; or could not be, and is not any more.
  mutating func didMakeRoom(to size: Int?) {
    if let size { self.size = size } else { makesRoom = false }
  }

  /// What follows the end was cut off.
  mutating func didTruncate() { size = end }

  /// Whether there is room that nobody will need, behind a draft that ends the list.
  func hasRoomLeft(behind draft: JournalDraft) -> Bool {
    draft.isEnd && size > end + draft.bytes.count
  }

  /// A sealed draft is at the end of the file; and on the disk, if it had to be.
  mutating func didAppend(_ draft: JournalDraft, isSynced: Bool) {
    last = (end, draft.bytes.count)
    jumps.append(at: end)
    if draft.hasState { stateOffset = end }
    count += draft.count
    isEnded = draft.isEnd
    end += draft.bytes.count
    size = max(size, end)
    unsynced = isSynced ? 0 : unsynced + 1
    if isSynced { synced = end }
  }

  /// What the cells are to say after an append; nothing mostly, if nobody depends on it.
  mutating func cells(isSynced: Bool) -> [UInt8]? {
    guard isSynced || isEnded || end - known > Self.unknownBytes else { return nil }
    known = last.offset
    let cells = JournalCells(
      visible: durability == .machine ? end : JournalCells.everything, synced: synced,
      last: last.offset, first: nil)
    return cells.bytes(3, seed: reader.seed)
  }

  // MARK: Where it stands

  /// The last state, and after how many elements it was.
  func state() throws -> JournalState? {
    guard stateOffset > 0 else { return nil }
    guard let frame = try reader.frame(at: stateOffset), frame.hasState,
      let bytes = try file.bytes(
        frame.stateLength,
        at: stateOffset + JournalFrame.headerSize + frame.elementsLength),
      bytes.withUnsafeBytes({ CRC32C.of($0, after: reader.seed) }) == frame.stateChecksum
    else { throw ListStoreError.damaged(at: count) }
    return JournalState(
      bytes: bytes, version: frame.stateVersion, count: frame.positions.upperBound)
  }

  // MARK: Retention

  /// Forgets the frames that lie wholly before a position, up to the one with the last state.
  /// Returns the first position that is kept.
  func trim(before position: Int) throws -> Int {
    guard last.offset > 0 else { return 0 }
    let cells = try reader.cells()
    let first = reader.first(cells)
    guard let firstFrame = try reader.frame(at: first) else {
      throw ListStoreError.damaged(at: 0)
    }
    // Without a state all elements are needed to go on.
    if position <= firstFrame.position || stateOffset == 0 { return firstFrame.position }
    let known = JournalCells(
      visible: cells.visible, synced: cells.synced, last: last.offset, first: first)
    let place = try reader.place(of: min(position, count), known, limit: end)
    let kept = min(place?.offset ?? last.offset, stateOffset, last.offset)
    guard let frame = try reader.frame(at: kept) else {
      throw ListStoreError.damaged(at: position)
    }
    guard kept > first else { return frame.position }
    let word = JournalCells(visible: nil, synced: nil, last: nil, first: kept)
      .bytes(4, seed: reader.seed)
    try file.put(Array(word[24..<32]), at: JournalCells.offset + 24)
    // Before the frames are gone; or they would be damage after a loss of power.
    try file.synchronize()
    // Whoever reads there finds zeros, and then that it is trimmed.
    file.punch(reader.header.size..<kept)
    return frame.position
  }
}

/// A state as bytes.
@usableFromInline
package struct JournalState: Sendable {
  @usableFromInline let bytes: [UInt8]
  @usableFromInline let version: UInt8
  /// After how many elements it was.
  @usableFromInline let count: Int
}
