import FileReading
import Foundation
import Tailrace

/// The end of a journal, for the writer: a value with one method for each event.
struct JournalWriter: Sendable {
  /// How many bytes of frames may follow the last one in the cells: this is read to find the end.
  static let unknownBytes = 1 << 18

  /// How many bytes are prepared after the end at once, for commits that are synced.
  ///
  /// A sync after an append also writes the file's length; a sync after replacing bytes does not,
  /// and takes two thirds of the time.
  static let roomBytes = 1 << 16

  /// The file that is locked, open for reading only. Closing a file that was open for writing
  /// notifies the followers, which a refused claim must not do: they would claim in turn.
  let lock: any DiskFile
  let reader: JournalReader
  let durability: Durability
  private(set) var count = 0
  /// Where the next frame begins.
  private(set) var end: Int
  private(set) var isEnded = false
  /// One more at the end of the list.
  var countWithEnd: Int { isEnded ? count + 1 : count }
  /// Where the last frame with a state begins; 0 if there is none.
  private(set) var stateOffset = 0
  private var jumps = JournalJumps(from: nil) { _ in nil }
  private var last = (offset: 0, length: 0)
  private var synced: Int
  /// How many commits are not on the disk.
  private var unsynced = 0
  /// The file's length: zeros follow the last frame. A reader finds no frame there.
  private var size = 0
  private var makesRoom: Bool
  /// The offset of the last frame in the cells.
  private var known = 0
  private var number: UInt8 = 0
  /// The frame of the draft sealed last.
  private var sealed = JournalFrame()

  var file: any DiskFile { reader.file }

  // MARK: Opening

  /// Finds the end of a journal, cuts off an incomplete frame, and syncs the rest.
  ///
  /// - Parameters:
  ///   - cutsDamage: whether damaged elements are discarded, with all after them.
  ///   - given: how many elements this store has given of the list after a repair, and one more for the
  ///     end. If there are fewer, they are damage: a list that has read them cannot go on.
  ///   - announce: called with the repair before it begins.
  init(
    _ reader: JournalReader, lock: any DiskFile, _ durability: Durability, cutsDamage: Bool,
    given: (JournalRepair?) -> Int, announce: (JournalRepair) -> Void
  ) throws {
    self.lock = lock
    self.reader = reader
    self.durability = durability
    end = reader.header.size
    synced = end
    makesRoom = durability != .process
    let cells = try reader.cells()
    let size = try reader.file.size()
    if cutsDamage { try walkAll(cells, size) } else { try walkEnd(cells, size) }
    let record = try JournalRepair(of: file, seed: reader.seed)
    let former = record ?? .lost(at: .now)
    var isDamaged =
      former.isUnderWay || cells.promised > end || given(record) > countWithEnd
      || (record == nil && cutsDamage)
    if end < size || isDamaged {
      if !isDamaged { isDamaged = try reader.hasFrame(behind: end) }
      if isDamaged, !cutsDamage {
        throw ListStoreError.damaged(at: former.isUnderWay ? min(former.left, count) : count)
      }
      let isRepair = try cutsDamage && (isDamaged || hasBytes(end..<size))
      let repair = former.next(leaving: countWithEnd)
      if isRepair {
        announce(repair)
        try file.put(repair.bytes(seed: reader.seed), at: JournalRepair.offset)
      }
      if end < size { try file.truncate(to: end) }
      if isRepair {
        try file.put(repair.done.bytes(seed: reader.seed), at: JournalRepair.offset)
      }
    }
    self.size = end
    jumps = try JournalJumps(from: last.offset) { offset in
      offset >= reader.first(cells) ? try reader.frame(at: offset) : nil
    }
    synced = min(max(synced, cells.synced ?? 0), end)
    if durability != .process { try settle() }
    try publish(first: cells.first)
  }

  /// Whether there is something other than room for frames.
  private func hasBytes(_ range: Range<Int>) throws -> Bool {
    try range.count > Self.roomBytes
      || file.upTo(range.count, at: range.lowerBound).contains { $0 != 0 }
  }

  /// Passes the last frames, all of which must be whole.
  private mutating func walkEnd(_ cells: JournalCells, _ size: Int) throws {
    var start = reader.first(cells)
    if let last = cells.last, last > start, last < size, try reader.wholeFrame(at: last) != nil {
      start = last
    }
    try walk(from: start, upTo: size, states: true)
  }

  /// Passes all frames up to the first damage: to elements, or to the last state. Nobody needs the
  /// states before it.
  private mutating func walkAll(_ cells: JournalCells, _ size: Int) throws {
    try walk(from: reader.first(cells), upTo: size, states: false)
    // Nothing can continue with a state before the first frame kept: elements behind it are gone.
    while stateOffset > 0,
      try stateOffset < reader.first(cells) || reader.wholeFrame(at: stateOffset) == nil
    {
      let damaged = stateOffset
      (count, isEnded, stateOffset, last) = (0, false, 0, (0, 0))
      try walk(from: reader.first(cells), upTo: damaged, states: false)
    }
  }

  /// Passes whole frames.
  private mutating func walk(from start: Int, upTo limit: Int, states: Bool) throws {
    end = start
    while end < limit, let frame = try reader.wholeFrame(at: end, state: states) {
      // The first one tells where this list begins.
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

  /// The offset of the last state, from a frame without one.
  private func stateBefore(_ offset: Int) throws -> Int {
    let bytes = try file.bytes(8, at: offset + JournalFrame.headerSize) ?? []
    return bytes.isEmpty
      ? 0 : bytes.withUnsafeBytes { Int(exactly: $0.number(UInt64.self, at: 0)) ?? 0 }
  }

  /// Rewrites the bytes that may not be on the disk, and waits until they are: after a failed
  /// sync, what the system has dropped is unknown.
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

  /// Tells readers the journal's present end.
  private func publish(first: Int?) throws {
    let cells = JournalCells(
      visible: durability == .machine ? end : JournalCells.everything, synced: synced,
      last: last.offset, first: first ?? reader.header.size)
    try file.put(cells.bytes(4, seed: reader.seed), at: JournalCells.offset)
  }

  // MARK: Appending

  /// Completes the header of a draft, for the place at the end.
  ///
  /// - Returns: false if it does not belong there.
  mutating func seal(
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
    sealed = frame
    return true
  }

  /// Whether a draft has to wait for the disk when it is written. The end of a list always does,
  /// unless none of its commits do.
  func waitsForDisk(_ draft: JournalDraft) -> Bool {
    switch durability {
    case .process: false
    case .machine: true
    case .machineEvery(let interval): draft.isEnd || unsynced + 1 >= interval
    }
  }

  /// The range to prepare after a draft written at the end; usually `nil`.
  func room(behind draft: JournalDraft) -> Range<Int>? {
    let next = end + draft.bytes.count
    // After large commits it would cost more than it saves.
    guard makesRoom, !draft.isEnd, next > size, draft.bytes.count <= Self.roomBytes / 8 else {
      return nil
    }
    return next..<next + Self.roomBytes
  }

  /// The file was extended.
  mutating func didMakeRoom(to size: Int) { self.size = size }

  /// The file could not be extended: commits go on at its end.
  mutating func stopMakingRoom() { makesRoom = false }

  /// The bytes after the end were cut off.
  mutating func didTruncate() { size = end }

  /// Whether unneeded room is left after a draft that ends the list.
  func hasRoomLeft(behind draft: JournalDraft) -> Bool {
    draft.isEnd && size > end + draft.bytes.count
  }

  /// A sealed draft is at the end of the file, and on the disk if required. Returns its frame.
  mutating func didAppend(_ draft: JournalDraft, isSynced: Bool) -> GivenFrame {
    last = (end, draft.bytes.count)
    jumps.append(at: end)
    if draft.hasState { stateOffset = end }
    count += draft.count
    isEnded = draft.isEnd
    end += draft.bytes.count
    size = max(size, end)
    unsynced = isSynced ? 0 : unsynced + 1
    if isSynced { synced = end }
    return GivenFrame(offset: last.offset, frame: sealed, isSynced: isSynced)
  }

  /// The cells to write after an append; usually `nil`, if nothing depends on them.
  mutating func cells(isSynced: Bool) -> [UInt8]? {
    guard isSynced || isEnded || end - known > Self.unknownBytes else { return nil }
    known = last.offset
    let cells = JournalCells(
      visible: durability == .machine ? end : JournalCells.everything, synced: synced,
      last: last.offset, first: nil)
    return cells.bytes(3, seed: reader.seed)
  }

  // MARK: Where it stands

  /// The last state, and the number of elements before it.
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

  /// Discards the frames that lie wholly before a position, up to the one with the last state.
  /// Returns the first position kept.
  func trim(before position: Int) throws -> Int {
    guard last.offset > 0 else { return 0 }
    let cells = try reader.cells()
    let first = reader.first(cells)
    guard let firstFrame = try reader.frame(at: first) else {
      throw ListStoreError.damaged(at: 0)
    }
    // Without a state, all elements are needed to continue.
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
    // Before the frames are removed; otherwise they would be damage after a loss of power.
    try file.synchronize()
    // A read there finds zeros, and then that it is trimmed.
    file.punch(reader.header.size..<kept)
    return frame.position
  }
}

/// The end of a journal, for a list that continues there.
@usableFromInline
package struct JournalCheckpoint: Sendable {
  @usableFromInline let count: Int
  @usableFromInline let state: JournalState?
  @usableFromInline let isEnded: Bool
}

/// A state as bytes.
@usableFromInline
package struct JournalState: Sendable {
  @usableFromInline let bytes: [UInt8]
  @usableFromInline let version: UInt8
  /// After how many elements it was stored.
  @usableFromInline let count: Int
}
