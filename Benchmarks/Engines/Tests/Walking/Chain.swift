/// The state of a chain: each element depends on all elements before it.
public struct Link: Codable, BitwiseCopyable, Hashable, Sendable {
  /// How many elements were made.
  public private(set) var number = 0
  /// Of the numbers of these elements.
  public private(set) var hash: UInt64 = 1_469_598_103_934_665_603

  /// Creates the state before the first element.
  public init() {}

  /// Makes the next element: its number, the hash, and a filling of varying length.
  public mutating func next() -> String {
    hash = (hash ^ UInt64(number)) &* 1_099_511_628_211
    defer { number += 1 }
    return "\(number):\(hash):" + String(repeating: "x", count: number % 37)
  }
}

/// An element of a chain, as a store keeps it: a text, or a record with a text.
public protocol ChainElement: Sendable {
  init(text: String)
  var text: String { get }
}

extension String: ChainElement {
  public init(text: String) { self = text }
  public var text: String { self }
}

/// Checks a chain, element by element.
public struct ChainCheck: Sendable {
  /// The state after the elements that were checked.
  public private(set) var link = Link()
  /// How many elements were checked.
  public var count: Int { link.number }

  /// Creates a check of a chain from its first element on.
  public init() {}

  /// Checks the next element.
  public mutating func pass(_ element: some ChainElement) throws(BrokenChain) {
    let position = count
    let expected = link.next()
    if element.text != expected {
      throw BrokenChain(position: position, found: element.text, expected: expected)
    }
  }
}

/// An element that is not the one after those before it.
public struct BrokenChain: Error, CustomStringConvertible {
  public let position: Int
  public let found: String
  public let expected: String

  public var description: String { "element \(position) is \(found), not \(expected)" }
}
