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
  /// The last frame, and its length.
  private(set) var last: KnownFrame?
  private var lastLength = 0
  /// Where the last frame with a state begins; 0 if there is none.
  private var stateOffset = 0
  private var jumps = JournalJumps(from: nil) { _ in nil }
  private var mark: JournalMark
  /// What another writer has left unsynced in this start of the machine. A sync may have failed since:
  /// it is written again before the next one.
  private var unproven: Range<Int>?
  /// Whether a sync has failed: what is on the disk is unknown.
  private(set) var isLost = false
  /// Whether all is on the disk, and nothing will follow.
  private var isFinished = false
  /// The file's length: zeros follow the last frame. A reader finds no frame there.
  private var size: Int
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
  /// - Parameter keepAside: keeps some bytes of the file, before they are cut off.
  init(
    _ reader: JournalReader, lock: any DiskFile, _ durability: Durability,
    known: inout KnownFrame?, keepAside: (Range<Int>) throws -> Void
  ) throws {
    self.lock = lock
    self.reader = reader
    self.durability = durability
    makesRoom = durability == .survivesPowerLoss
    mark = try reader.mark()
    end = mark.first
    size = try reader.file.size()
    try walk(&known)
    let isOther = try hasLostElements()
    if isOther, size > end { try keepAside(end..<size) }
    jumps = JournalJumps(from: last?.offset) { [mark] offset in
      offset >= mark.first ? (try? reader.frame(at: offset)) ?? nil : nil
    }
    try settle(isOther: isOther)
  }

  private mutating func walk(_ known: inout KnownFrame?) throws {
    var (state, isFirst) = (0, true)
    let found = try reader.end(mark, size, known: &known) { frame, offset in
      if frame.hasState {
        state = offset
      } else if isFirst {
        state = try stateBefore(offset)
      }
      isFirst = false
    }
    (end, count, isEnded) = (found.offset, found.position ?? mark.firstPosition, found.isEnded)
    (stateOffset, last, lastLength) = (state, found.known, found.last?.frame.length ?? 0)
  }

  /// The offset of the last state, from a frame without one.
  private func stateBefore(_ offset: Int) throws -> Int {
    let bytes = try file.bytes(8, at: offset + JournalFrame.headerSize) ?? []
    return bytes.isEmpty
      ? 0 : bytes.withUnsafeBytes { Int(exactly: $0.number(UInt64.self, at: 0)) ?? 0 }
  }

  /// Whether elements that somebody has seen may be missing now.
  ///
  /// Nothing follows an end. In the same start of the machine a frame is missing only if it is damaged; one
  /// that was written in part, and never seen, is shorter than it says.
  private func hasLostElements() throws -> Bool {
    if isEnded || !mark.mayHaveShownMore { return false }
    if !mark.isOf(reader.boot) { return true }
    let rest = size - end
    if rest < JournalFrame.headerSize { return false }
    return try reader.frame(at: end).map { $0.length <= rest } ?? true
  }

  /// Cuts off what is no frame, brings on the disk what has to be there, and tells readers the end.
  ///
  /// - Parameter isOther: whether the list has another history from now on.
  private mutating func settle(isOther: Bool) throws {
    let isFromDisk = mark.isBefore(reader.boot)
    if !isFromDisk, mark.synced < end { unproven = mark.synced..<end }
    // Nothing follows an end: all of a list that has ended is brought on the disk.
    let isKept = durability == .survivesPowerLoss || isEnded
    let tellsFirst = isOther || !isKept && !mark.showsUnsynced
    if tellsFirst {
      // Before anything goes, before readers see what a loss of power may take, and before an element of
      // the new history may be on the disk without it.
      try put { mark in
        if isOther { mark.history = .random(in: 1...(.max)) }
        if !isKept { mark.mayShowUnsynced = true }
      }
    }
    if size > end { try file.truncate(to: end) }
    size = end
    if isKept, tellsFirst || isFromDisk || mark.synced < end {
      try synchronize()
    } else if tellsFirst || isFromDisk {
      try file.synchronize()
    }
    try publish(isSynced: isKept || isFromDisk)
  }

  /// Tells readers the journal's present end.
  ///
  /// - Parameter isSynced: whether all is on the disk.
  private mutating func publish(isSynced: Bool = false) throws(SystemError) {
    let (boot, end, last) = (reader.boot, end, last?.offset ?? 0)
    let showsUnsynced = durability == .survivesProcess && !isFinished && !isEnded
    try put { mark in
      mark.boot = boot
      (mark.written, mark.writtenLast) = (end, last)
      if isSynced { (mark.synced, mark.syncedLast) = (end, last) }
      (mark.mayShowUnsynced, mark.showsUnsynced) = (showsUnsynced, showsUnsynced)
    }
  }

  private mutating func put(_ change: (inout JournalMark) -> Void) throws(SystemError) {
    var next = mark
    next.number += 1
    change(&next)
    do throws(SystemError) {
      try next.put(to: file, seed: reader.seed)
    } catch {
      // Its last bytes are zeros: a part may be whole.
      guard (try? reader.mark())?.number == next.number else { throw error }
    }
    mark = next
  }

  /// Returns when all that was written is on the disk.
  private mutating func synchronize() throws(SystemError) {
    do throws(SystemError) {
      // After a failed sync it is unknown what the system has dropped: written again.
      var offset = unproven?.lowerBound ?? end
      while let range = unproven, offset < range.upperBound {
        let bytes = try file.upTo(min(1 << 20, range.upperBound - offset), at: offset)
        if bytes.isEmpty { throw SystemError(code: EIO) }
        try file.put(bytes, at: offset)
        offset += bytes.count
      }
      unproven = nil
      try file.synchronize()
    } catch {
      isLost = true
      throw error
    }
  }

  /// Brings all on the disk, and says so: then a restart of the machine changes nothing.
  mutating func finish() throws(SystemError) {
    guard mark.mayShowUnsynced else { return }
    isFinished = true
    try synchronize()
    try publish(isSynced: true)
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
    frame.previous = last?.name ?? reader.header.root
    (frame.jump, frame.span) = jumps.next
    frame.previousLength = lastLength
    let stateStart = draft.stateStart
    draft.bytes.withUnsafeMutableBytes { bytes in
      if !frame.hasState { bytes.put(UInt64(stateOffset), at: JournalFrame.headerSize) }
      let body = UnsafeRawBufferPointer(bytes)
      frame.elementsChecksum = CRC32C.of(
        body.part(JournalFrame.headerSize..<stateStart), after: reader.seed)
      frame.stateChecksum = CRC32C.of(body.part(stateStart..<body.count), after: reader.seed)
      frame.put(into: bytes, at: end, seed: reader.seed)
    }
    sealedName = frame.name
    return true
  }

  /// Whether a commit has to wait for the disk when it is written. The end of a list always does.
  func waitsForDisk(_ draft: JournalDraft) -> Bool {
    durability == .survivesPowerLoss || draft.isEnd
  }

  /// Writes a sealed draft at the end, syncs it if required, and tells readers.
  mutating func append(_ draft: JournalDraft, syncing: Bool) throws(SystemError) {
    try file.put(draft.bytes, at: end)
    makeRoom(behind: draft)
    if syncing { try synchronize() }
    let before = syncing ? self : nil
    last = KnownFrame(offset: end, name: sealedName)
    lastLength = draft.bytes.count
    jumps.append(at: end)
    if draft.hasState { stateOffset = end }
    count += draft.count
    isEnded = draft.isEnd
    end += draft.bytes.count
    size = max(size, end)
    do throws(SystemError) {
      // Without a mark it takes longer to find the end.
      if syncing || end - mark.written > Self.unknownBytes { try publish(isSynced: syncing) }
    } catch {
      guard let before, durability == .survivesPowerLoss else { return }
      self = before
      throw error
    }
  }

  /// Extends the file for later commits, if possible, and frees the surplus of a list that ends.
  /// Neither must succeed: zeros after the last frame are no frame.
  private mutating func makeRoom(behind draft: JournalDraft) {
    let next = end + draft.bytes.count
    do throws(SystemError) {
      if draft.isEnd {
        if size > next { try file.truncate(to: next) }
        size = next
      } else if makesRoom, size < next, draft.bytes.count <= Self.roomBytes / 8 {
        // After large commits it would cost more than it saves.
        try file.extend(next..<next + Self.roomBytes)
        size = next + Self.roomBytes
      }
    } catch {
      makesRoom = false
      try? file.truncate(to: next)
    }
  }

  /// Cuts off a commit that could not be written, for example because the disk is full: the next demand
  /// tries again. False if its outcome is unknown.
  mutating func takeBack() -> Bool {
    // Nobody has seen the commit, unless its mark is there, or it is whole and need not be marked.
    guard !isLost, (try? reader.mark())?.number == mark.number, (try? showsNext()) == false,
      (try? file.truncate(to: end)) != nil
    else { return false }
    size = end
    return true
  }

  /// Whether readers see a commit behind the last one.
  private func showsNext() throws -> Bool {
    guard durability == .survivesProcess else { return false }
    var frames = reader.frames(from: end, previous: last?.name, upTo: try file.size())
    return try frames.next() != nil
  }

  // MARK: Where it stands

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
    guard let last else { return mark.firstPosition }
    // Without a state, all elements are needed to continue.
    if position <= mark.firstPosition || stateOffset == 0 { return mark.firstPosition }
    var known = KnownFrame?.none
    let place = try reader.place(
      of: min(position, count), from: last.offset, mark, limit: end, known: &known)
    let kept = min(place?.offset ?? last.offset, stateOffset, last.offset)
    guard let frame = try reader.frame(at: kept) else {
      throw ListStoreError.damaged(at: position)
    }
    guard kept > mark.first else { return frame.position }
    // In this order: a mark must not name a first frame that is not on the disk; and no mark may
    // name one that is removed, not even one that a loss of power brings back.
    try synchronize()
    for _ in 0..<2 {
      (mark.first, mark.firstPosition) = (kept, frame.position)
      try publish(isSynced: true)
      try file.synchronize()
    }
    // A read there finds zeros, and then that it is trimmed.
    file.punch(JournalHeader.size..<kept)
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
