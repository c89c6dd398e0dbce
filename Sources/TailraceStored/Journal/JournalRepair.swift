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
    let mark = try JournalMark(of: file, seed: reader.seed)
    let size = try file.status().size
    let first = try mark.map { $0.first } ?? firstAfterZeros(reader, size)
    var good = Good(reader, first: first, size: size)
    try good.walk(upTo: size)
    // Nobody can go on with elements whose state was trimmed.
    if !good.isUsable { good.frames = [] }
    var outcome = Outcome()
    outcome.first = good.frames.first?.frame.position ?? 0
    outcome.count = good.frames.last?.frame.positions.upperBound ?? 0
    if let mark, good.end >= mark.promised(in: disk.boot), good.isUsable {
      // Nothing that was promised is missing: the next lease goes on.
      return outcome
    }
    outcome.aside = try disk.replace(path) { try copy(good.frames, of: reader, to: $0) }
    return outcome
  }

  /// The first frame after the zeros of those that were trimmed.
  private func firstAfterZeros(_ reader: JournalReader, _ size: Int) throws -> Int {
    var offset = JournalHeader.size
    while case let bytes = try reader.file.upTo(1 << 20, at: offset), !bytes.isEmpty {
      if let index = bytes.firstIndex(where: { $0 != 0 }) { return offset + index }
      offset += bytes.count
    }
    return JournalHeader.size
  }

  /// The whole frames of a chain, from its beginning.
  private struct Good {
    let reader: JournalReader
    let size: Int
    var frames: [(frame: JournalFrame, offset: Int)] = []
    var end: Int
    /// The list can be continued: its first element is the first one of all, or a state is there.
    var isUsable: Bool {
      frames.isEmpty || frames[0].frame.position == 0 || frames.contains { $0.frame.hasState }
    }

    init(_ reader: JournalReader, first: Int, size: Int) {
      (self.reader, self.size, end) = (reader, size, first)
    }

    mutating func walk(upTo limit: Int) throws {
      while end < limit, let frame = try reader.wholeFrame(at: end, size: size) {
        if let last = frames.last {
          guard frame.previous == last.frame.name,
            frame.position == last.frame.positions.upperBound
          else { return }
        }
        frames.append((frame, end))
        end += frame.length
      }
    }
  }

  /// Writes a new journal of some frames, with an identity of its own.
  private func copy(
    _ frames: [(frame: JournalFrame, offset: Int)], of reader: JournalReader, to file: any DiskFile
  ) throws {
    let header = JournalHeader(schema: reader.header.schema)
    try file.put(header.bytes, at: 0)
    var (end, last, state) = (JournalHeader.size, 0, 0)
    var (name, length) = (header.root, 0)
    var jumps = JournalJumps(from: nil) { _ in nil }
    for (frame, offset) in frames {
      guard let bytes = try reader.file.bytes(frame.length, at: offset) else {
        throw ListStoreError.damaged(at: frame.position)
      }
      var draft = JournalDraft(count: frame.count, hasState: frame.hasState, isEnd: frame.isEnd)
      draft.bytes = bytes
      var copy = frame
      copy.previous = name
      (copy.jump, copy.span) = jumps.next
      copy.previousLength = length
      name = copy.seal(&draft, at: end, stateOffset: state, seed: header.seed)
      try file.put(draft.bytes, at: end)
      jumps.append(at: end)
      if frame.hasState { state = end }
      (last, length) = (end, frame.length)
      end += frame.length
    }
    var mark = JournalMark()
    (mark.written, mark.writtenLast, mark.synced, mark.syncedLast) = (end, last, end, last)
    try mark.put(to: file, seed: header.seed)
  }
}
