import FileReading
import TailraceLists
import TailraceSupport

/// Copies what is good in a damaged journal into a new one.
struct JournalRepair {
  let path: [CChar]
  let name: String
  let disk: any Disk

  struct Outcome: Sendable {
    var first = 0
    var count = 0
    /// Where the damaged file is now; `nil` if nothing was damaged.
    var aside: [CChar]?
  }

  func run() throws -> Outcome {
    let file = try disk.open(path, writes: false)
    guard try file.status().isRegular else { throw ListStoreError.refused("\(name) is not a file") }
    guard try file.lock() else { throw ListStoreError.inUse }
    guard let there = try disk.status(of: path), try there.isSameFile(as: file.status()) else {
      throw ListStoreError.inUse
    }
    let reader = JournalReader(
      file, try JournalHeader(of: file, at: name), boot: disk.boot, path: name)
    let mark = try? JournalMark(of: file, seed: reader.seed)
    let size = try file.status().size
    let start = mark?.first ?? anyFrame(of: reader, from: JournalHeader.size, upTo: size)
    let part = try part(of: reader, from: start ?? JournalHeader.size, upTo: size)
    var outcome = Outcome(first: part.first, count: part.count)
    if let mark, !mark.isAlone, part.end >= mark.promised(in: disk.boot), !part.hasLostStates,
      part.offset == mark.first, part.isUsable, !part.isCutShort, !JournalHeader.hasLostCopy(file)
    {
      // Nothing that was promised is missing, and the rest can be read: the next lease goes on.
      outcome.first = mark.firstPosition
      return outcome
    }
    outcome.aside = try disk.replace(path, file) { try copy(part, of: reader, to: $0) }
    return outcome
  }

  /// Frames of which each is the next one.
  private struct Part {
    var offset: Int
    var end: Int
    var first = 0
    var count = 0
    var hasState = false
    var hasLostStates = false
    /// The disk cannot read what follows.
    var isCutShort = false
    /// The list can be continued: its first element is the first one of all, or a state is there.
    var isUsable: Bool { offset == end || first == 0 || hasState }
    var length: Int { isUsable ? end - offset : 0 }
  }

  /// The first part that the list can be continued from; if there is nothing in it, the longest of those
  /// behind what cannot be read.
  private func part(of reader: JournalReader, from start: Int, upTo size: Int) throws -> Part {
    let first = try walk(reader, from: start, upTo: size)
    if first.end > first.offset, first.isUsable { return first }
    var (best, offset) = (Part(offset: start, end: start), first.end)
    while let next = anyFrame(of: reader, from: offset + 1, upTo: size) {
      let part = try walk(reader, from: next, upTo: size)
      if part.length > best.length { best = part }
      offset = max(part.end - 1, next)
    }
    return best
  }

  private func walk(
    _ reader: JournalReader, from start: Int, upTo size: Int,
    passing pass: (JournalFrame, Int, _ hasState: Bool) throws -> Void = { _, _, _ in }
  ) throws -> Part {
    var frames = reader.frames(from: start, upTo: size, repairs: true)
    var part = Part(offset: start, end: start)
    // The first frame of those whose state is lost, and behind which no other one has a state.
    var cut: (end: Int, count: Int)?
    while let frame = try frames.next(), let last = frames.last {
      let hasState = frame.hasState && !frames.hasLostState
      if last.offset == start { part.first = frame.position }
      part.count = frame.positions.upperBound
      part.end = frames.offset
      part.hasState = part.hasState || hasState
      part.hasLostStates = part.hasLostStates || frames.hasLostState
      if hasState {
        cut = nil
      } else if frames.hasLostState {
        cut = cut ?? (last.offset, frame.position)
      }
      try pass(frame, last.offset, hasState)
    }
    part.isCutShort = frames.isUnreadable
    // Without the state, nobody could go on behind them.
    if let cut { (part.end, part.count) = cut }
    return part
  }

  /// The first frame of this list behind a place, whatever is between. What cannot be read is passed.
  private func anyFrame(
    of reader: JournalReader, from start: Int, upTo size: Int
  ) -> Int? {
    let (step, overlap) = (1 << 16, JournalFrame.headerSize)
    var offset = start
    while offset < size {
      guard let bytes = try? reader.file.upTo(min(step + overlap, size - offset), at: offset) else {
        // Block by block: the disk cannot read one of them.
        offset = (offset / JournalHeader.block + 1) * JournalHeader.block
        continue
      }
      if bytes.isEmpty { return nil }
      let found = bytes.withUnsafeBytes { bytes in
        (0..<min(step, bytes.count)).first { place in
          bytes[place] == JournalFrame.firstByte && place + overlap <= bytes.count
            && JournalFrame(
              bytes.part(place..<place + overlap), at: offset + place, seed: reader.seed) != nil
        }
      }
      if let found { return offset + found }
      offset += step
    }
    return nil
  }

  /// Writes a new journal of some frames, with an identity of its own.
  private func copy(_ part: Part, of reader: JournalReader, to file: any DiskFile) throws {
    let header = JournalHeader(schema: reader.header.schema)
    try file.put(header.bytes(in: disk.boot), at: 0)
    var mark = JournalMark()
    mark.firstPosition = part.first
    try mark.put(to: file, seed: header.seed)
    var known = KnownFrame?.none
    var writer = try JournalWriter(
      JournalReader(file, header, boot: disk.boot, path: name), lock: file, .survivesProcess,
      known: &known
    ) { _ in }
    _ = try walk(reader, from: part.offset, upTo: part.end) { frame, offset, hasState in
      var draft = try draft(of: frame, at: offset, hasState, reader)
      guard
        try writer.seal(
          &draft, at: frame.position, elements: frame.elementVersion, state: frame.stateVersion)
      else { throw ListStoreError.damaged(at: frame.position) }
      try writer.append(draft, syncing: false)
    }
    try writer.finish()
  }

  /// A frame's bytes, without a state that is lost.
  private func draft(
    of frame: JournalFrame, at offset: Int, _ hasState: Bool, _ reader: JournalReader
  ) throws -> JournalDraft {
    let isCut = frame.hasState && !hasState
    let length = isCut ? frame.length - frame.stateLength : frame.length
    guard var bytes = try reader.file.bytes(length, at: offset) else {
      throw ListStoreError.damaged(at: frame.position)
    }
    // In place of the state, a frame says where the last one is.
    if isCut { bytes.insert(contentsOf: repeatElement(0, count: 8), at: JournalFrame.headerSize) }
    var draft = JournalDraft(count: frame.count, hasState: hasState, isEnd: frame.isEnd)
    draft.stateStart = hasState ? length - frame.stateLength : bytes.count
    draft.bytes = bytes
    return draft
  }
}
