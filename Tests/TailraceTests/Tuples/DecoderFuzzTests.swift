import Foundation
import Tailrace
import Testing

/// The input may be anything: decoding it gives a value or an error, never a trap.
///
/// `TAILRACE_INPUTS` sets how many inputs there are in all, `TAILRACE_SEED` where they begin.
@Suite("Decoders, fed with damaged input", .inTurn)
struct DecoderFuzzTests {
  @Test("a value that survives another round, or an error", arguments: Target.all, Format.allCases)
  func fuzz(_ target: Target, _ format: Format) throws {
    let inputs = RandomCases.count("TAILRACE_INPUTS", debug: 20_000, optimised: 1_000_000)
    var mutator = Mutator(
      seed: RandomCases.firstSeed, try target.samples.map { try format.encoded($0) })
    var (values, errors) = (0, 0)
    for _ in 0..<inputs / (Target.all.count * Format.allCases.count) {
      let input = mutator.next()
      if format.stops(at: input) { continue }
      do {
        guard try target.survives(input, format) else {
          Issue.record("\(input.base64EncodedString()), seed \(RandomCases.firstSeed)")
          return
        }
        values += 1
      } catch {
        errors += 1
      }
    }
    // Otherwise the mutations would be too wild, or too tame.
    #expect(values > 0, "seed \(RandomCases.firstSeed)")
    #expect(errors > 0, "seed \(RandomCases.firstSeed)")
  }
}

/// A way to write values down.
enum Format: CaseIterable, Sendable {
  case json
  case xmlPropertyList
  case binaryPropertyList

  func encoded(_ value: any Encodable) throws -> Data {
    switch self {
    case .json: return try JSONEncoder().encode(value)
    case .xmlPropertyList, .binaryPropertyList:
      let encoder = PropertyListEncoder()
      encoder.outputFormat = self == .xmlPropertyList ? .xml : .binary
      return try encoder.encode(value)
    }
  }

  /// Whether Foundation's parser may stop the process: that of XML does so at an integer which is not
  /// UTF-8.
  func stops(at data: Data) -> Bool {
    self == .xmlPropertyList && String(validating: data, as: UTF8.self) == nil
  }

  func decoded<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
    switch self {
    case .json: try JSONDecoder().decode(type, from: data)
    case .xmlPropertyList, .binaryPropertyList:
      try PropertyListDecoder().decode(type, from: data)
    }
  }
}

/// A type that is decoded.
struct Target: Sendable, Testing.CustomTestStringConvertible {
  let testDescription: String
  let samples: [any Encodable & Sendable]
  private let survive: @Sendable (Data, Format) throws -> Bool

  init<Value: Codable & Equatable & Sendable>(_ samples: Value...) {
    testDescription = "\(Value.self)"
    self.samples = samples
    survive = { data, format in
      let value = try format.decoded(Value.self, data)
      return try format.decoded(Value.self, format.encoded(value)) == value
    }
  }

  /// Whether what is decoded can be encoded and decoded to the same.
  func survives(_ data: Data, _ format: Format) throws -> Bool { try survive(data, format) }

  static let all: [Target] = [
    Target(Tuple(1, "a", Int?.none), Tuple(-70_000, "é\"\n", 255)),
    Target(Tuple(UInt8(200), Tuple("a", [1, 2, 3]), true)),
    Target(Tuple()),
    Target(EagerList(1...9), EagerList([])),
    Target(EagerList([Tuple(1, "a"), Tuple(2, "b")])),
    Target(EagerList(["a", nil, "c"]), EagerList([String?.none])),
  ]
}

/// Damages encoded values.
private struct Mutator {
  private var generator: SeededGenerator
  private let samples: [Data]
  /// Bytes that have a meaning for parsers.
  private static let marks = Array("[]{}<>/,:\"0-9.eE tnf\\u\u{0}".utf8) + [0xFF, 0x80]

  init(seed: UInt64, _ samples: [Data]) {
    generator = SeededGenerator(seed: seed)
    self.samples = samples
  }

  mutating func next() -> Data {
    var bytes = Array(samples.randomElement(using: &generator) ?? Data())
    for _ in 0..<Int.random(in: 1...4, using: &generator) { damage(&bytes) }
    return Data(bytes)
  }

  private mutating func damage(_ bytes: inout [UInt8]) {
    let place = Int.random(in: 0...bytes.count, using: &generator)
    let end = min(bytes.count, place + Int.random(in: 0...8, using: &generator))
    switch Int.random(in: 0..<7, using: &generator) {
    case 0: bytes.removeSubrange(place..<end)
    case 1: bytes.insert(contentsOf: bytes[place..<end], at: place)
    case 2: bytes.insert(Self.marks.randomElement(using: &generator) ?? 0, at: place)
    case 3 where place < bytes.count:
      bytes[place] = Self.marks.randomElement(using: &generator) ?? 0
    case 4 where place < bytes.count:
      bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 5 where place < bytes.count:
      bytes[place] = UInt8.random(in: UInt8(ascii: "0")...UInt8(ascii: "9"), using: &generator)
    // Rarely: what is cut off is mostly nothing at all.
    case 6 where place % 4 == 0: bytes.removeSubrange(place...)
    default: break
    }
  }
}
