import FileReading
import Foundation
import TailraceSupport
import Testing

@testable import TailraceStored

/// A file in memory.
final class MemoryFile: DiskFile {
  let bytes: Locked<[UInt8]>
  /// What cannot be read.
  let unreadable: Locked<Range<Int>>
  /// How many bytes each read has asked for.
  let reads = Locked([Int]())

  init(_ bytes: [UInt8], unreadable: Range<Int> = 0..<0) {
    self.bytes = Locked(bytes)
    self.unreadable = Locked(unreadable)
  }

  func read(into room: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    reads.withLock { $0.append(room.count) }
    let range = offset..<offset + room.count
    if unreadable.withLock({ $0.overlaps(range) }) { throw SystemError(code: EIO) }
    let part = bytes.withLock { Array($0.dropFirst(offset).prefix(room.count)) }
    room.copyBytes(from: part)
    return part.count
  }

  func write(_ part: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
    let part = Array(part)
    bytes.withLock { $0.replaceSubrange(offset..<offset + part.count, with: part) }
    return part.count
  }

  func synchronize() {}
  func extend(_ range: Range<Int>) {}
  func truncate(to size: Int) {}
  func punch(_ range: Range<Int>) {}
  func status() -> FileStatus { FileStatus() }
  func lock() -> Bool { true }
  func unlock() {}
}

@Suite("The parts of a journal, as values", .inTurn)
struct JournalValuesTests {
  // MARK: Checksums

  @Test("the checksum is CRC-32C, at once and continued", arguments: 0...40)
  func checksums(_ count: Int) {
    #expect(Array("123456789".utf8).withUnsafeBytes { CRC32C.of($0) } == 0xE306_9283)
    var random = SeededGenerator(seed: UInt64(count))
    let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    var word = ~UInt32(7)
    for byte in bytes {
      word ^= UInt32(byte)
      for _ in 0..<8 { word = word & 1 == 1 ? (word >> 1) ^ 0x82F6_3B78 : word >> 1 }
    }
    let expected = ~word
    bytes.withUnsafeBytes { bytes in
      #expect(CRC32C.of(bytes, after: 7) == expected)
      for cut in 0...count {
        let first = CRC32C.of(bytes.part(0..<cut), after: 7)
        #expect(CRC32C.of(bytes.part(cut..<count), after: first) == expected)
      }
    }
  }

  // MARK: Headers of frames

  static let offset = 100_000

  static func header(_ change: (inout JournalFrame) -> Void = { _ in }) -> (JournalFrame, [UInt8]) {
    var frame = JournalFrame()
    (frame.elementsLength, frame.elementsChecksum) = (1_000, 0x1234_5678)
    (frame.position, frame.count, frame.flags) = (77, 5, JournalFrame.endFlag)
    (frame.elementVersion, frame.stateVersion, frame.previous) = (3, 4, 0xFEDC_BA98_7654_3210)
    (frame.stateLength, frame.stateChecksum) = (50, 0x9ABC_DEF0)
    (frame.jump, frame.span, frame.previousLength) = (90_000, 3, 400)
    change(&frame)
    var bytes = [UInt8](repeating: 0, count: JournalFrame.headerSize)
    bytes.withUnsafeMutableBytes { frame.put(into: $0, at: offset, seed: 9) }
    return (frame, bytes)
  }

  static func read(
    _ bytes: [UInt8], at offset: Int = Self.offset, seed: UInt32 = 9
  ) -> JournalFrame? { bytes.withUnsafeBytes { JournalFrame($0, at: offset, seed: seed) } }

  @Test("a header is read as it was written, whole, and at its place only")
  func header() throws {
    let (frame, bytes) = Self.header()
    #expect(Self.read(bytes) == frame && Self.read(bytes + [1]) == frame)
    #expect(Self.read(bytes.dropLast()) == nil)
    #expect(Self.read(bytes, at: Self.offset + 1) == nil && Self.read(bytes, seed: 8) == nil)
    for bit in 0..<8 * bytes.count {
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      #expect(Self.read(damaged) == nil, "bit \(bit)")
    }
    #expect(frame.length == 64 + 1_050 && frame.positions == 77..<82)
    #expect(frame.isEnd && !frame.hasState && frame.lengthsOffset == 8)
    let (other, _) = Self.header { $0.flags = JournalFrame.stateFlag }
    #expect(!other.isEnd && other.hasState && other.lengthsOffset == 0)
    // Its bytes are in its name, and those of what follows the header.
    let names = [frame, other, Self.header { $0.stateChecksum = 1 }.0].map(\.name)
    #expect(Set(names).count == 3 && frame.name & 0xFFFF_FFFF == 0x1234_5678 ^ 0x9ABC_DEF0)
  }

  @Test("numbers that no writer writes are no header, though the checksum is right")
  func hostile() {
    let farthest = JournalFrame.farthest
    let changes: [(isHeader: Bool, (inout JournalFrame) -> Void)] = [
      (true, { $0.elementsLength = 28 }), (false, { $0.elementsLength = 27 }),
      (true, { ($0.elementsLength, $0.flags) = (20, JournalFrame.stateFlag) }),
      (false, { ($0.elementsLength, $0.flags) = (19, JournalFrame.stateFlag) }),
      (true, { $0.position = farthest }), (false, { $0.position = farthest + 1 }),
      (true, { $0.jump = Self.offset - 1 }), (false, { $0.jump = Self.offset }),
      (true, { $0.jump = 0 }), (false, { $0.jump = farthest + 1 }),
    ]
    for (number, (isHeader, change)) in changes.enumerated() {
      #expect((Self.read(Self.header(change).1) != nil) == isHeader, "change \(number)")
    }
  }

  @Test("a new frame, a new mark and a new page say nothing; what fits into a frame")
  func beginnings() {
    let (_, bytes) = Self.header { $0 = JournalFrame() }
    #expect(bytes.enumerated().allSatisfy { $1 == 0 || $0 < 8 })
    let mark = JournalMark()
    #expect(mark.number == 0 && mark.history == 0 && mark.firstPosition == 0)
    #expect(mark.writtenLast == 0 && mark.syncedLast == 0 && !mark.mayHaveShownMore)
    #expect([mark.written, mark.synced, mark.first].allSatisfy { $0 == JournalHeader.size })
    #expect(!mark.showsUnsynced && mark.boot == .none)
    let page = JournalPage()
    #expect(page.next == JournalPlace(position: 0, offset: 0) && !page.isEnd && page.items.isEmpty)
    #expect(JournalFrame.longest == 256 << 20 && JournalFrame.farthest == 0xFFFF_FFFF_FFFF)
    for (hasState, start) in [(true, 64 + 8), (false, 64 + 16)] {
      var draft = JournalDraft(count: 2, hasState: hasState, isEnd: false)
      #expect(draft.bytes == [UInt8](repeating: 0, count: start))
      draft.bytes += [UInt8](repeating: 1, count: (1 << 20) - start)
      #expect(!draft.isTooLarge)
      draft.bytes.append(1)
      #expect(draft.isTooLarge)
    }
  }

  @Test("a frame in progress: the length of each element, the elements, and the state")
  func draft() {
    var draft = JournalDraft(count: 3, hasState: true, isEnd: true)
    for length in [2, 0, 0x012345] {
      draft.bytes += [UInt8](repeating: 7, count: length)
      draft.endElement()
    }
    let end = 64 + 12 + 2 + 0x012345
    #expect(draft.stateStart == end && draft.bytes.count == end && draft.isEnd && draft.hasState)
    #expect(draft.bytes[64..<76] == [2, 0, 0, 0, 0, 0, 0, 0, 0x45, 0x23, 0x01, 0])
    #expect(draft.bytes[76...].allSatisfy { $0 == 7 })
  }

  // MARK: Jumps

  @Test(
    "the spans of jumps are those of skew binary numbers, also of a journal that is opened again")
  func jumps() {
    var (jumps, frames) = (JournalJumps(from: nil) { _ in nil }, [Int: JournalFrame]())
    var spans: [Int] = []
    for number in 1...40 {
      var frame = JournalFrame()
      (frame.jump, frame.span) = jumps.next
      spans.append(frame.span)
      #expect(frame.jump == max(0, number - frame.span) * 100)
      frames[number * 100] = frame
      jumps.append(at: number * 100)
      #expect(JournalJumps(from: number * 100) { frames[$0] } == jumps, "frame \(number)")
    }
    #expect(spans.prefix(15) == [1, 1, 3, 1, 1, 3, 7, 1, 1, 3, 1, 1, 3, 7, 15])
  }

  // MARK: Marks

  static func mark(_ number: Int) -> JournalMark {
    var mark = JournalMark()
    (mark.number, mark.boot) = (number, JournalID(5, 6))
    (mark.written, mark.writtenLast) = (90_000, 80_000)
    (mark.synced, mark.syncedLast) = (70_000, 60_000)
    (mark.first, mark.firstPosition, mark.history) = (50_000, 44, 0xABCD_EF01_2345_6789)
    return mark
  }

  @Test("of two marks the newer one that is whole counts", arguments: [1, 2])
  func marks(_ first: Int) throws {
    let file = MemoryFile([UInt8](repeating: 0, count: JournalHeader.size))
    #expect(try JournalMark(of: file, seed: 9) == nil)
    for number in first...first + 3 {
      var mark = Self.mark(number)
      (mark.mayShowUnsynced, mark.showsUnsynced) = (number % 2 == 0, number % 4 < 2)
      try mark.put(to: file, seed: 9)
      #expect(try JournalMark(of: file, seed: 9) == mark)
      #expect(try JournalMark(of: file, seed: 8) == nil)
    }
    let newer = JournalMark.offset + (first + 3) % 2 * JournalMark.stride
    for bit in 0..<8 * JournalMark.size {
      file.bytes.withLock { $0[newer + bit / 8] ^= 1 << (bit % 8) }
      #expect(try JournalMark(of: file, seed: 9)?.number == first + 2, "bit \(bit)")
      file.bytes.withLock { $0[newer + bit / 8] ^= 1 << (bit % 8) }
    }
    file.unreadable.withLock { $0 = newer..<newer + 1 }
    let left = try #require(try JournalMark(of: file, seed: 9))
    #expect(left.number == first + 2 && left.isAlone)
    #expect(left.mayHaveShownMore && left.bound(in: left.boot) == nil)
    file.unreadable.withLock { $0 = 0..<JournalHeader.size }
    #expect(throws: SystemError.self) { try JournalMark(of: file, seed: 9) }
  }

  @Test("numbers that no writer writes are no mark, though the checksum is right")
  func hostileMarks() throws {
    let (least, farthest) = (JournalHeader.size, JournalFrame.farthest)
    let changes: [(isMark: Bool, (inout JournalMark) -> Void)] = [
      (true, { $0.first = least }), (false, { $0.first = least - 1 }),
      (true, { $0.first = farthest }), (false, { $0.first = farthest + 1 }),
      (true, { $0.number = farthest }), (false, { $0.number = farthest + 1 }),
      (false, { $0.written = farthest + 1 }), (false, { $0.writtenLast = farthest + 1 }),
      (false, { $0.synced = farthest + 1 }), (false, { $0.syncedLast = farthest + 1 }),
      (false, { $0.firstPosition = farthest + 1 }), (true, { $0.firstPosition = 0 }),
    ]
    for (number, (isMark, change)) in changes.enumerated() {
      let file = MemoryFile([UInt8](repeating: 0, count: JournalHeader.size))
      var mark = Self.mark(1)
      change(&mark)
      try mark.put(to: file, seed: 9)
      #expect((try JournalMark(of: file, seed: 9) != nil) == isMark, "change \(number)")
    }
  }

  @Test("what a mark promises: more in the start of the machine in which it was written")
  func promises() {
    let (own, other) = (JournalID(5, 6), JournalID(5, 7))
    var mark = Self.mark(1)
    for boot in [own, other, .none] {
      let isOwn = boot == own
      #expect(mark.isOf(boot) == isOwn && mark.isBefore(boot) == (boot == other))
      #expect(mark.promised(in: boot) == (isOwn ? 90_000 : 70_000))
      #expect(mark.last(in: boot) == (isOwn ? 80_000 : 60_000))
      // After a restart what is whole is on the disk; without one nobody knows.
      #expect(mark.bound(in: boot) == (boot == other ? nil : 70_000))
    }
    #expect(!mark.mayHaveShownMore)
    mark.showsUnsynced = true
    #expect(mark.bound(in: own) == nil)
    mark.mayShowUnsynced = true
    #expect(mark.mayHaveShownMore)
    // What was synced may be more than what a mark says was written; and what was trimmed is not looked at.
    (mark.synced, mark.syncedLast) = (95_000, 85_000)
    #expect(mark.promised(in: own) == 95_000 && mark.last(in: own) == 85_000)
    mark.first = 88_000
    #expect(mark.last(in: own) == 88_000)
    (mark.writtenLast, mark.syncedLast) = (0, 0)
    #expect(mark.last(in: own) == 88_000)
    mark.boot = .none
    #expect(!mark.isOf(.none) && !mark.isBefore(own) && !mark.isBefore(.none))
    let initial = JournalMark.initial(own)
    #expect(initial.isOf(own) && initial.mayShowUnsynced && initial.showsUnsynced)
    #expect(initial.number == 0 && initial.last(in: own) == JournalHeader.size)
  }

  // MARK: Pages

  @Test("of the frames that were seen the farthest counts")
  func known() {
    var known: KnownFrame?
    for (offset, name, expected) in [(5, 1, 1), (4, 2, 1), (5, 3, 3), (9, 4, 4)] {
      known.note(KnownFrame(offset: offset, name: UInt64(name)))
      #expect(known?.name == UInt64(expected))
    }
    known.note(nil)
    #expect(known?.name == 4)
  }

  @Test("the elements of a frame, from a position on, up to a number", arguments: [false, true])
  func page(_ hasState: Bool) {
    let lengths: [UInt8] = [2, 0, 3]
    var frame = JournalFrame()
    (frame.position, frame.count, frame.elementVersion) = (10, 3, 7)
    frame.flags = hasState ? JournalFrame.stateFlag : 0
    let before = hasState ? 0 : 8
    frame.elementsLength = before + 12 + 5
    let body =
      [UInt8](repeating: 9, count: 4 + before) + lengths.flatMap { [$0, 0, 0, 0] }
      + [UInt8](repeating: 1, count: 5)
    let first = 4 + before + 12
    let ranges = [first..<first + 2, first + 2..<first + 2, first + 2..<first + 5]
    for position in 9...13 {
      for count in 1...4 {
        var page = JournalPage()
        (page.bytes, page.next.position) = (body, position)
        let isRight = page.take(frame, at: 4, upTo: count)
        let expected = ranges.dropFirst(max(0, position - 10)).prefix(count)
        #expect(isRight && page.items.map(\.range) == Array(expected))
        #expect(page.items.allSatisfy { $0.version == 7 })
        #expect(
          page.next.position == (expected.isEmpty ? position : max(position, 10) + expected.count))
      }
    }
    // The last one is longer than the body.
    var page = JournalPage()
    page.bytes = body + [0]
    page.bytes[4 + before + 8] = 4
    let isRight = page.take(frame, at: 4, upTo: 9)
    #expect(!isRight)
    page.next = JournalPlace(position: 20, offset: 1)
    frame.previous = 33
    page.end(with: frame, at: 77)
    #expect(page.isEnd && page.next == JournalPlace(position: 13, offset: 77, previous: 33))
    page.next.position = 12
    page.end(with: frame, at: 77)
    #expect(page.next.position == 12)
  }
}
