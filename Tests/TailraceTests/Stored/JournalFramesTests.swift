import FileReading
import TailraceSupport
import Testing

@testable import TailraceStored

/// A journal in memory, as a writer makes it.
private struct Chain {
  let header = JournalHeader(schema: "text")
  var bytes: [UInt8]
  var frames: [(frame: JournalFrame, offset: Int)] = []
  private var jumps = JournalJumps(from: nil) { _ in nil }

  init() { bytes = header.bytes(in: .none) }

  /// Three frames: of two elements; of one, and a state; of none, and the end.
  static var short: Chain {
    var chain = Chain()
    chain.append(["one", "two"])
    chain.append(["three"], state: "state")
    chain.append([], isEnd: true)
    return chain
  }

  mutating func append(
    _ elements: [String], state: String? = nil, isEnd: Bool = false,
    _ change: (inout JournalFrame) -> Void = { _ in }
  ) {
    var draft = JournalDraft(count: elements.count, hasState: state != nil, isEnd: isEnd)
    for element in elements {
      draft.bytes += element.utf8
      draft.endElement()
    }
    draft.bytes += (state ?? "").utf8
    let (seed, offset, size) = (header.seed, bytes.count, JournalFrame.headerSize)
    func checksum(_ range: Range<Int>) -> UInt32 {
      draft.bytes.withUnsafeBytes { CRC32C.of($0.part(range), after: seed) }
    }
    var frame = JournalFrame()
    frame.elementsLength = draft.stateStart - size
    frame.stateLength = draft.bytes.count - draft.stateStart
    frame.elementsChecksum = checksum(size..<draft.stateStart)
    frame.stateChecksum = checksum(draft.stateStart..<draft.bytes.count)
    frame.position = frames.last?.frame.positions.upperBound ?? 0
    frame.count = elements.count
    frame.flags =
      (state != nil ? JournalFrame.stateFlag : 0) | (isEnd ? JournalFrame.endFlag : 0)
    frame.previous = frames.last?.frame.name ?? header.root
    frame.previousLength = frames.last?.frame.length ?? 0
    (frame.jump, frame.span) = jumps.next
    change(&frame)
    draft.bytes.withUnsafeMutableBytes { frame.put(into: $0, at: offset, seed: seed) }
    jumps.append(at: offset)
    frames.append((frame, offset))
    bytes += draft.bytes
  }

  /// A walk over some of it.
  func walk(
    from number: Int? = nil, previous: UInt64? = nil, upTo limit: Int? = nil, promised: Int = 0,
    repairs: Bool = false, reading size: Int? = nil, file: MemoryFile? = nil
  ) -> JournalFrames {
    let file = file ?? MemoryFile(bytes)
    let reader = JournalReader(file, header, boot: .none, path: "list")
    let offset = number.map { frames[$0].offset } ?? JournalHeader.size
    return reader.frames(
      from: offset, previous: previous, upTo: limit ?? bytes.count, promised: promised,
      repairs: repairs, reading: size)
  }
}

extension JournalFrames {
  /// How many frames follow.
  fileprivate mutating func count() throws -> Int {
    var count = 0
    while try next() != nil { count += 1 }
    return count
  }
}

@Suite("The frames of a journal: which one is the next", .inTurn)
struct JournalFramesTests {
  @Test("all of them, one after another, whatever is read at once", arguments: [nil, 64, 100, 999])
  func walk(_ size: Int?) throws {
    let chain = Chain.short
    var walk = chain.walk(reading: size)
    #expect(walk.position == nil && walk.known == nil && walk.offset == JournalHeader.size)
    for (frame, offset) in chain.frames {
      #expect(walk.offset == offset && !walk.isEnded)
      #expect(try walk.next() == frame)
      #expect(walk.last?.offset == offset && walk.known?.name == frame.name)
      #expect(walk.known?.offset == offset && walk.position == frame.positions.upperBound)
      let start = walk.elementsStart + frame.lengthsOffset + 4 * frame.count
      let element = frame.count == 2 ? "onetwo" : frame.count == 1 ? "three" : ""
      #expect(Array(walk.bytes[start...].prefix(element.utf8.count)) == Array(element.utf8))
    }
    #expect(walk.isEnded && walk.offset == chain.bytes.count)
    #expect(try walk.next() == nil)
  }

  @Test("nothing follows the end of a list, though a frame is there")
  func behindTheEnd() throws {
    var chain = Chain.short
    chain.append(["four"])
    var walk = chain.walk()
    #expect(try walk.count() == 3 && walk.position == 3)
  }

  @Test("a walk begins anywhere, and knows the name of the frame before, or takes any")
  func beginnings() throws {
    let chain = Chain.short
    for number in 0..<3 {
      let (frame, _) = chain.frames[number]
      for previous in [frame.previous, frame.previous &+ 1, nil] {
        var walk = chain.walk(from: number, previous: previous)
        let isFound = previous == nil || previous == frame.previous
        #expect(try walk.count() == (isFound ? 3 - number : 0))
      }
    }
    // The first one follows the list's identity.
    var other = Chain()
    other.append(["one"]) { $0.previous &+= 1 }
    var walk = other.walk()
    #expect(try walk.next() == nil)
  }

  @Test("a frame of another place in the list is none")
  func positions() throws {
    var chain = Chain()
    chain.append(["one"])
    chain.append(["two"]) { $0.position = 2 }
    var walk = chain.walk()
    #expect(try walk.count() == 1)
    // Where it begins there, it is not known.
    walk = chain.walk(from: 1)
    #expect(try walk.count() == 1 && walk.position == 3)
  }

  @Test("no frame ends behind the limit, or behind the file")
  func limits() throws {
    let chain = Chain.short
    for (number, (frame, offset)) in chain.frames.enumerated() {
      for cut in [0, 1, frame.length - 64, frame.length - 63, frame.length] {
        let end = offset + frame.length - cut
        var walk = chain.walk(upTo: end)
        #expect(try walk.count() == (cut == 0 ? number + 1 : number), "\(number), \(cut)")
        let file = MemoryFile(Array(chain.bytes[..<end]))
        walk = chain.walk(file: file)
        #expect(try walk.count() == (cut == 0 ? number + 1 : number), "\(number), \(cut)")
      }
    }
  }

  @Test(
    "a frame that is damaged anywhere is none; its state counts only where nobody has promised it")
  func damage() throws {
    let chain = Chain.short
    for (number, (frame, offset)) in chain.frames.enumerated() {
      let end = offset + frame.length
      for place in offset..<end {
        var bytes = chain.bytes
        bytes[place] ^= 4
        let file = MemoryFile(bytes)
        let isState = place >= end - frame.stateLength
        for (promised, repairs) in [(0, false), (end - 1, false), (end, false), (0, true)] {
          var walk = chain.walk(promised: promised, repairs: repairs, file: file)
          for _ in 0..<number { #expect(try walk.next() != nil) }
          let isThere = isState && (promised == end || repairs)
          #expect(try (walk.next() != nil) == isThere, "\(place - offset) of \(number)")
          #expect(walk.hasLostState == (isState && promised < end), "\(place - offset)")
          #expect(walk.offset == (isThere ? end : offset))
        }
      }
    }
  }

  @Test("a frame that is longer than any writer makes it is refused, the longest one is looked for")
  func tooLong() throws {
    for (length, isRefused) in [(JournalFrame.longest, false), (JournalFrame.longest + 1, true)] {
      var chain = Chain()
      chain.append(["one"], state: "state") { $0.stateLength = length - $0.elementsLength }
      var walk = chain.walk()
      if isRefused {
        #expect(throws: ListStoreError.self) { try walk.next() }
      } else {
        #expect(try walk.next() == nil)
      }
    }
  }

  @Test("it reads twice as much each time, up to the most, and as little as it must")
  func sizes() throws {
    var chain = Chain()
    for _ in 0..<100 { chain.append([String(repeating: "x", count: 20_000)]) }
    let file = MemoryFile(chain.bytes)
    var walk = chain.walk(file: file)
    #expect(try walk.count() == 100)
    let reads = file.reads.withLock { $0 }
    let first = [1 << 12, 20_000 + 64 + 12]
    #expect(Array(reads.prefix(2)) == first && reads.max() == 1 << 18)
    #expect(reads.count < 25)
    // One size is kept.
    let other = MemoryFile(chain.bytes)
    walk = chain.walk(reading: 1 << 16, file: other)
    #expect(try walk.count() == 100)
    let sizes = other.reads.withLock { $0 }
    #expect(sizes.dropLast().allSatisfy { $0 == 1 << 16 })
  }

  @Test("a walk that stays in memory gives what is there, and goes on later")
  func inMemory() throws {
    let chain = Chain.short
    let file = MemoryFile(chain.bytes)
    var walk = chain.walk(reading: chain.frames[1].offset - JournalHeader.size, file: file)
    walk.staysInMemory = true
    #expect(try walk.next() == nil)
    walk.staysInMemory = false
    #expect(try walk.next() == chain.frames[0].frame)
    walk.staysInMemory = true
    #expect(try walk.next() == nil && file.reads.withLock { $0.count } == 1)
    walk.staysInMemory = false
    #expect(try walk.count() == 2)
  }

  @Test("what cannot be read: a failure, or, in a repair, no frame; what is before it is read")
  func unreadable() throws {
    let chain = Chain.short
    let (frame, offset) = chain.frames[1]
    let file = MemoryFile(chain.bytes)
    // Behind the frame.
    file.unreadable.withLock { $0 = offset + frame.length..<offset + frame.length + 1 }
    var walk = chain.walk(file: file)
    for number in 0..<2 { #expect(try walk.next() == chain.frames[number].frame) }
    #expect(throws: SystemError.self) { try walk.next() }
    #expect(!walk.isUnreadable)
    for place in [offset, offset + 64, offset + frame.length - 1] {
      file.unreadable.withLock { $0 = place..<place + 1 }
      walk = chain.walk(file: file)
      #expect(try walk.next() != nil)
      #expect(throws: SystemError.self) { try walk.next() }
      walk = chain.walk(repairs: true, file: file)
      #expect(try walk.next() != nil && !walk.isUnreadable)
      let isState = place == offset + frame.length - 1
      #expect(try (walk.next() != nil) == isState && walk.isUnreadable)
      #expect(walk.hasLostState == isState)
    }
  }
}
