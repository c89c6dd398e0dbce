import FileReading
import TailraceLists

/// The frames of a list, one after another. Nothing else decides which frame is the next one.
///
/// The next frame is whole, begins where the one before ends, names that one, and has the positions
/// behind its elements. Nothing follows the end of a list.
struct JournalFrames {
  private let reader: JournalReader
  /// No frame ends behind it.
  private let limit: Int
  /// The states of frames up to here were written, and are not looked at.
  private let promised: Int
  /// Whether all that can be read is wanted: a frame whose state is lost, too; and what cannot be read is no
  /// frame.
  private let repairs: Bool
  /// How many bytes are read at once: twice as many each time, up to the most.
  private var (size, most): (Int, Int)
  /// Some bytes of the file, with the last frame in them, and where they begin.
  private(set) var bytes: [UInt8] = []
  private var start = 0
  /// Where the next frame begins.
  private(set) var offset: Int
  /// The name of the frame before, and the position behind it, if they are known.
  private var previous: UInt64?
  private(set) var position: Int?
  /// The frame that was given last, and where it begins.
  private(set) var last: (frame: JournalFrame, offset: Int)?
  private(set) var isEnded = false
  /// Whether the last frame's state is lost.
  private(set) var hasLostState = false
  /// Whether the disk cannot read what follows, in a repair.
  private(set) var isUnreadable = false
  /// Whether to give only frames that are in memory already.
  var staysInMemory = false

  /// The frame that was given last, for a later walk.
  var known: KnownFrame? { last.map { KnownFrame(offset: $0.offset, name: $0.frame.name) } }
  /// Where the elements of the last frame begin in the bytes.
  var elementsStart: Int { (last?.offset ?? 0) + JournalFrame.headerSize - start }

  init(
    _ reader: JournalReader, from offset: Int, previous: UInt64?, upTo limit: Int, promised: Int,
    repairs: Bool, reading size: Int, atMost most: Int
  ) {
    self.reader = reader
    self.limit = limit
    self.promised = promised
    self.repairs = repairs
    (self.size, self.most) = (size, most)
    self.offset = offset
    self.previous = previous ?? (offset == JournalHeader.size ? reader.header.root : nil)
  }

  /// The next frame; `nil` if none follows, or none in memory.
  mutating func next() throws -> JournalFrame? {
    guard !isEnded, try load(JournalFrame.headerSize),
      let frame = part(
        0..<JournalFrame.headerSize,
        {
          JournalFrame($0, at: offset, seed: reader.seed)
        }),
      previous ?? frame.previous == frame.previous, position ?? frame.position == frame.position
    else { return nil }
    guard frame.elementsLength + frame.stateLength <= JournalFrame.longest else {
      throw ListStoreError.refused(
        """
        \(reader.path) has a commit of \(frame.length) bytes at offset \(offset), and no writer stores \
        more than \(JournalFrame.longest): the file was made by something else
        """)
    }
    let elements = JournalFrame.headerSize..<JournalFrame.headerSize + frame.elementsLength
    guard frame.length <= limit - offset, try checksum(of: elements) == frame.elementsChecksum
    else { return nil }
    hasLostState =
      try offset + frame.length > promised
      && checksum(of: elements.upperBound..<frame.length) != frame.stateChecksum
    if hasLostState, !repairs { return nil }
    last = (frame, offset)
    offset += frame.length
    (previous, position, isEnded) = (frame.name, frame.positions.upperBound, frame.isEnd)
    return frame
  }

  /// Some bytes of the next frame, which are in memory.
  private func part<Value>(
    _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Value
  ) -> Value {
    let place = offset - start
    return bytes.withUnsafeBytes {
      body($0.part(place + range.lowerBound..<place + range.upperBound))
    }
  }

  /// The checksum of some bytes of the next frame; `nil` if they cannot be had.
  private mutating func checksum(of range: Range<Int>) throws(SystemError) -> UInt32? {
    guard try load(range.upperBound) else { return nil }
    return part(range) { CRC32C.of($0, after: reader.seed) }
  }

  /// Whether so many bytes of the next frame are in memory.
  private mutating func load(_ count: Int) throws(SystemError) -> Bool {
    func isLoaded() -> Bool { start <= offset && offset + count <= start + bytes.count }
    if isLoaded() { return true }
    if staysInMemory || count > limit - offset { return false }
    (start, bytes) = (offset, [])
    do throws(SystemError) {
      bytes = try reader.file.upTo(min(max(count, size), limit - offset), at: offset)
    } catch {
      // Perhaps only what is behind them cannot be read.
      do throws(SystemError) { bytes = try reader.file.upTo(count, at: offset) } catch {
        if !repairs { throw error }
        isUnreadable = true
      }
    }
    size = min(2 * size, max(most, size))
    return isLoaded()
  }
}
