import FileReading
import TailraceLists
import TailraceSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Glibc
#endif

/// The end of a journal, for the writer: a value with one method for each event.
struct JournalWriter: Sendable {
  /// How many bytes of frames may follow the last one in the mark: this is read to find the end.
  static let unknownBytes = 1 << 18

  /// How many bytes are prepared after the end at once, for commits that are synced.
  ///
  /// A sync after an append also writes the file's length; a sync after replacing bytes does not,
  /// and takes two thirds of the time.
  static let roomBytes = 1 << 16

  /// The file that is locked, open for reading only. Closing a file that was open for writing
  /// notifies the followers, which a refused lease must not do: they would try in turn.
  let lock: any DiskFile
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
  private var lastName: UInt64
  private var mark: JournalMark
  /// What another writer has left unsynced in this start of the machine. A sync may have failed since:
  /// it is written again before the next one.
  private var unproven: Range<Int>?
  /// Whether all is on the disk, and nothing will follow.
  private var isFinished = false
  /// The file's length: zeros follow the last frame. A reader finds no frame there.
  private var size = 0
  private var makesRoom: Bool
  /// The name of the draft sealed last.
  private var sealedName: UInt64 = 0

  var file: any DiskFile { reader.file }

  // MARK: Opening

  /// Finds the end of a journal: follows the chain from the last frame that is promised. What was
  /// promised must be there. What follows was never whole, or is lost, and is cut off.
  ///
  /// If readers may have seen elements that are lost, the list has another history from now on.
  ///
  /// - Parameter keepAside: keeps some bytes of the file that are not all zero, before they are cut off.
  init(
    _ reader: JournalReader, lock: any DiskFile, _ durability: Durability,
    walked: inout KnownFrame?, keepAside: (Range<Int>) throws -> Void
  ) throws {
    self.lock = lock
    self.reader = reader
    self.durability = durability
    makesRoom = durability == .survivesPowerLoss
    lastName = reader.header.root
    mark = try reader.mark()
    end = mark.first
    size = try reader.file.status().size
    try walk(&walked)
    let isCut = size > end
    let isOther = try hasLostElements()
    if isOther {
      if isCut, try hasContents(end..<size) { try keepAside(end..<size) }
      mark.history = .random(in: 1...(.max))
    }
    if isCut { try file.truncate(to: end) }
    size = end
    jumps = JournalJumps(from: last.offset) { [mark] offset in
      offset >= mark.first ? (try? reader.frame(at: offset)) ?? nil : nil
    }
    try settle(isCut: isCut, isOther: isOther)
  }

  private mutating func walk(_ walked: inout KnownFrame?) throws {
    var (state, isFirst) = (0, true)
    let limit = try reader.limit(mark, nil)
    let found = try reader.end(mark, limit, walked: &walked) { frame, offset in
      if frame.hasState {
        state = offset
      } else if isFirst {
        state = try stateBefore(offset)
      }
      isFirst = false
    }
    (end, count, isEnded) = (found.offset, found.position ?? mark.firstPosition, found.isEnded)
    stateOffset = state
    if let (frame, offset) = found.last { (last, lastName) = ((offset, frame.length), frame.name) }
  }

  /// The offset of the last state, from a frame without one.
  private func stateBefore(_ offset: Int) throws -> Int {
    let bytes = try file.bytes(8, at: offset + JournalFrame.headerSize) ?? []
    return bytes.isEmpty
      ? 0 : bytes.withUnsafeBytes { Int(exactly: $0.number(UInt64.self, at: 0)) ?? 0 }
  }

  /// Whether elements that somebody has seen may be missing now.
  ///
  /// Nothing follows an end. In the same start of the machine only damage takes a frame, and those
  /// behind it are still there.
  private func hasLostElements() throws -> Bool {
    if isEnded || !mark.mayHaveShownMore { return false }
    return !mark.isOf(reader.boot) || reader.anyFrame(from: end + 1, upTo: size) != nil
  }

  private func hasContents(_ range: Range<Int>) throws -> Bool {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let bytes = try file.upTo(min(1 << 20, range.upperBound - offset), at: offset)
      if bytes.isEmpty { return false }
      if bytes.contains(where: { $0 != 0 }) { return true }
      offset += bytes.count
    }
    return false
  }

  /// Brings on the disk what may not be there: in the end a later loss of power finds no frame of the
  /// tail that was cut off, and none that another start of the machine has left unsynced. Then tells
  /// readers.
  ///
  /// - Parameter isOther: whether the list has another history from now on.
  private mutating func settle(isCut: Bool, isOther: Bool) throws {
    let isFromDisk = mark.isBefore(reader.boot)
    if !isFromDisk, mark.synced < end { unproven = mark.synced..<end }
    // Nothing follows an end: all of a list that has ended is brought on the disk.
    let isKept = durability == .survivesPowerLoss || isEnded
    if isKept {
      try synchronize()
    } else if isCut || isFromDisk {
      try file.synchronize()
    }
    if isKept || isFromDisk {
      (mark.synced, mark.syncedLast) = (end, last.offset)
    }
    let isKnown = mark.showsUnsynced && mark.isShowingOnDisk
    try publish(isKnown: isKnown)
    if isOther || mark.showsUnsynced && !isKnown {
      // Before anybody sees what a loss of power may take, and before an element of the new history may
      // be on the disk without it.
      try file.synchronize()
      if mark.showsUnsynced { try publish(isKnown: true) }
    }
  }

  /// Tells readers the journal's present end.
  ///
  /// - Parameter isKnown: whether the disk has a mark that says that readers see what is not there yet.
  private mutating func publish(isKnown: Bool = true) throws(SystemError) {
    var next = mark
    next.number += 1
    next.boot = reader.boot
    (next.written, next.writtenLast) = (end, last.offset)
    next.showsUnsynced = durability == .survivesProcess && !isFinished && !isEnded
    next.isShowingOnDisk = next.showsUnsynced && isKnown
    do throws(SystemError) {
      try next.put(to: file, seed: reader.seed)
    } catch {
      // Its last bytes are zeros: a part may be whole.
      guard (try? reader.mark())?.number == next.number else { throw error }
    }
    mark = next
  }

  /// Returns when all that was written is on the disk.
  mutating func synchronize() throws(SystemError) {
    if let range = unproven {
      // After a failed sync it is unknown what the system has dropped: written again.
      var offset = range.lowerBound
      while offset < range.upperBound {
        let bytes = try file.upTo(min(1 << 20, range.upperBound - offset), at: offset)
        if bytes.isEmpty { throw SystemError(code: EIO) }
        try file.put(bytes, at: offset)
        offset += bytes.count
      }
      unproven = nil
    }
    try file.synchronize()
  }

  /// Brings all on the disk, and says so: then a restart of the machine changes nothing.
  mutating func finish() throws(SystemError) {
    guard durability == .survivesProcess, mark.showsUnsynced else { return }
    try synchronize()
    (mark.synced, mark.syncedLast) = (end, last.offset)
    isFinished = true
    try publish()
    try file.synchronize()
  }

  // MARK: Appending

  /// Completes the header of a draft, for the place at the end.
  ///
  /// - Returns: false if it does not belong there.
  mutating func seal(
    _ draft: inout JournalDraft, at position: Int, elements: UInt8, state: UInt8
  ) throws -> Bool {
    guard position == count, !isEnded else { return false }
    guard draft.bytes.count <= JournalFrame.longest else {
      throw ListStoreError.refused(
        "a commit of \(draft.bytes.count) bytes cannot be stored in a file, which takes "
          + "\(JournalFrame.longest) at once")
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
    frame.previous = lastName
    (frame.jump, frame.span) = jumps.next
    frame.previousLength = last.length
    sealedName = frame.seal(&draft, at: end, stateOffset: stateOffset, seed: reader.seed)
    return true
  }

  /// Whether a commit has to wait for the disk when it is written. The end of a list always does.
  func waitsForDisk(_ draft: JournalDraft) -> Bool {
    durability == .survivesPowerLoss || draft.isEnd
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

  /// A sealed draft is at the end of the file.
  mutating func didAppend(_ draft: JournalDraft) {
    pass(draft)
    // Without a mark it takes longer to find the end.
    if end - mark.written > Self.unknownBytes { try? publish() }
  }

  /// All that was written is on the disk.
  ///
  /// - Parameter draft: the one that was appended last, if `didAppend` has not been called for it.
  /// - Throws: if readers cannot be told, and see nothing without the mark.
  mutating func didSync(_ draft: JournalDraft? = nil) throws(SystemError) {
    if let draft { pass(draft) }
    (mark.synced, mark.syncedLast) = (end, last.offset)
    do throws(SystemError) { try publish() } catch {
      if durability == .survivesPowerLoss { throw error }
    }
  }

  private mutating func pass(_ draft: JournalDraft) {
    last = (end, draft.bytes.count)
    lastName = sealedName
    jumps.append(at: end)
    if draft.hasState { stateOffset = end }
    count += draft.count
    isEnded = draft.isEnd
    end += draft.bytes.count
    size = max(size, end)
  }

  /// Whether the mark that counts is the last one of this writer.
  func isMarked() throws -> Bool { try reader.mark().number == mark.number }

  /// Whether readers see a commit behind the last one.
  func showsNext() throws -> Bool {
    guard durability == .survivesProcess else { return false }
    var frames = reader.frames(from: end, previous: lastName, upTo: try file.size())
    return try frames.next() != nil
  }

  // MARK: Where it stands

  /// The last frame.
  var given: KnownFrame? {
    last.offset > 0 ? KnownFrame(offset: last.offset, name: lastName, position: count) : nil
  }

  /// The last state, and the number of elements before it.
  func state() throws -> JournalState? {
    guard stateOffset > 0 else { return nil }
    guard let frame = try reader.frame(at: stateOffset),
      let bytes = try reader.state(of: frame, at: stateOffset)
    else { throw ListStoreError.damaged(at: count) }
    return JournalState(
      bytes: bytes, version: frame.stateVersion, count: frame.positions.upperBound)
  }

  // MARK: Retention

  /// Discards the frames that lie wholly before a position, up to the one with the last state.
  /// Returns the first position kept.
  mutating func trim(before position: Int) throws -> Int {
    guard last.offset > 0 else { return mark.firstPosition }
    // Without a state, all elements are needed to continue.
    if position <= mark.firstPosition || stateOffset == 0 { return mark.firstPosition }
    var walked = given
    let place = try reader.place(of: min(position, count), mark, limit: end, walked: &walked)
    let kept = min(place?.offset ?? last.offset, stateOffset, last.offset)
    guard let frame = try reader.frame(at: kept) else {
      throw ListStoreError.damaged(at: position)
    }
    guard kept > mark.first else { return frame.position }
    // In this order: a mark must not name a first frame that is not on the disk; and no mark may
    // name one that is removed, not even one that a loss of power brings back.
    try synchronize()
    (mark.synced, mark.syncedLast) = (end, last.offset)
    for _ in 0..<2 {
      (mark.first, mark.firstPosition) = (kept, frame.position)
      try publish()
      try file.synchronize()
    }
    // A read there finds zeros, and then that it is trimmed.
    file.punch(JournalHeader.size..<kept)
    return frame.position
  }
}

extension JournalFrame {
  /// Completes a draft with this header. Returns the frame's name.
  mutating func seal(
    _ draft: inout JournalDraft, at offset: Int, stateOffset: Int, seed: UInt32
  ) -> UInt64 {
    let stateStart = Self.headerSize + elementsLength
    draft.bytes.withUnsafeMutableBytes { bytes in
      if !hasState { bytes.put(UInt64(stateOffset), at: Self.headerSize) }
      let body = UnsafeRawBufferPointer(bytes)
      elementsChecksum = CRC32C.of(body.part(Self.headerSize..<stateStart), after: seed)
      stateChecksum = CRC32C.of(body.part(stateStart..<body.count), after: seed)
      put(into: bytes, at: offset, seed: seed)
    }
    return name
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
