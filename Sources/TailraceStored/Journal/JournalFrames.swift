import FileReading
import TailraceLists

/// The frames of a list, one after another. Nothing else decides which frame is the next one.
///
/// The next frame is whole, begins where the one before ends, names that one, and has the positions
/// behind its elements. Nothing follows the end of a list.
struct JournalFrames {
  enum Purpose {
    /// Only frames are wanted, and not their elements.
    case look
    /// The elements are wanted: they are in the window.
    case give
    /// All that can be read is wanted: a frame whose state is lost, too; and what cannot be read is no
    /// frame.
    case repair
  }

  private let reader: JournalReader
  /// No frame ends behind it.
  private let limit: Int
  /// The states of frames up to here were written, and are not looked at.
  private let promised: Int
  private let purpose: Purpose
  private var window: JournalWindow
  /// Where the next frame begins.
  private(set) var offset: Int
  /// The name of the frame before, and the position behind it, if they are known.
  private(set) var previous: UInt64?
  private(set) var position: Int?
  /// The frame that was given last, and where it begins.
  private(set) var last: (frame: JournalFrame, offset: Int)?
  private(set) var isEnded = false
  /// Whether the last frame's state is lost.
  private(set) var hasLostState = false
  /// Whether to give only frames that are in memory already.
  var staysInWindow = false

  /// The bytes in memory, and where the elements of the last frame begin in them.
  var bytes: [UInt8] { window.bytes }
  var elementsStart: Int { (last?.offset ?? 0) + JournalFrame.headerSize - window.start }

  init(
    _ reader: JournalReader, from offset: Int, previous: UInt64?, upTo limit: Int, promised: Int,
    _ purpose: Purpose, window: JournalWindow
  ) {
    self.reader = reader
    self.limit = limit
    self.promised = promised
    self.purpose = purpose
    self.window = window
    self.offset = offset
    self.previous = previous ?? (offset == JournalHeader.size ? reader.header.root : nil)
  }

  /// The next frame; `nil` if none follows, or none in memory.
  mutating func next() throws -> JournalFrame? {
    guard !isEnded, limit - offset >= JournalFrame.headerSize, try load(JournalFrame.headerSize),
      let frame = window.frame(at: offset, seed: reader.seed),
      previous ?? frame.previous == frame.previous, position ?? frame.position == frame.position
    else { return nil }
    guard frame.elementsLength + frame.stateLength <= JournalFrame.longest else {
      throw ListStoreError.refused(
        """
        \(reader.path) has a commit of \(frame.length) bytes at offset \(offset), and no writer stores \
        more than \(JournalFrame.longest): the file was made by something else
        """)
    }
    guard frame.length <= limit - offset, try isWhole(frame) else { return nil }
    last = (frame, offset)
    offset += frame.length
    (previous, position, isEnded) = (frame.name, frame.positions.upperBound, frame.isEnd)
    return frame
  }

  /// The next frame if it has no elements, and only ends the list.
  mutating func end() throws -> JournalFrame? {
    guard limit - offset >= JournalFrame.headerSize,
      let frame = try window.frame(at: offset, seed: reader.seed) ?? reader.frame(at: offset),
      frame.isEnd, frame.count == 0
    else { return nil }
    staysInWindow = false
    return try next()
  }

  private mutating func isWhole(_ frame: JournalFrame) throws -> Bool {
    let elements = JournalFrame.headerSize..<JournalFrame.headerSize + frame.elementsLength
    if purpose == .give, try !load(elements.upperBound) { return false }
    guard try checksum(of: elements) == frame.elementsChecksum else { return false }
    hasLostState = false
    if offset + frame.length <= promised { return true }
    hasLostState = try checksum(of: elements.upperBound..<frame.length) != frame.stateChecksum
    return !hasLostState || purpose == .repair
  }

  /// Whether so many bytes of the next frame are in memory.
  private mutating func load(_ count: Int) throws(SystemError) -> Bool {
    let range = offset..<offset + count
    if window.has(range) { return true }
    if staysInWindow || count > limit - offset { return false }
    do throws(SystemError) {
      try window.load(offset, atLeast: count, upTo: limit)
    } catch {
      if purpose != .repair { throw error }
      return false
    }
    return window.has(range)
  }

  /// The checksum of some bytes of the next frame. They need not be in memory all at once.
  private func checksum(of range: Range<Int>) throws(SystemError) -> UInt32? {
    let place = offset + range.lowerBound..<offset + range.upperBound
    if let sum = window.checksum(of: place, seed: reader.seed) { return sum }
    do throws(SystemError) {
      return try reader.checksum(of: place)
    } catch {
      if purpose != .repair { throw error }
      return nil
    }
  }
}
