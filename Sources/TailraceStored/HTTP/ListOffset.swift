/// A position in a list with an identity, and its name: `<identity>_<16 digits>`.
///
/// The names of one list have the order of its positions. A list without an identity has names of digits
/// only; so has a list that does not exist yet.
struct ListOffset: Hashable, Sendable {
  var identity: String?
  var position: Int

  init(_ identity: String?, _ position: Int) {
    self.identity = identity
    self.position = position
  }

  /// Before the first element of whatever list.
  static let beginning = "-1"
  /// The header field by which an endpoint says that its offsets consist of identity and position.
  static let field = "Tailrace-Offsets"
  static let form = "identity_position"

  private static let digits = 16
  private static let mostLetters = 200

  var name: String {
    let number = String(position)
    let digits = String(repeating: "0", count: max(0, Self.digits - number.utf8.count)) + number
    return identity.map { "\($0)_\(digits)" } ?? digits
  }

  /// - Returns: `nil` if it is no name of a position.
  init?(_ name: String) {
    let bytes = name.utf8
    guard bytes.count >= Self.digits else { return nil }
    let digits = bytes.suffix(Self.digits)
    guard digits.allSatisfy(Self.isDigit), let position = Int(String(digits) ?? "") else {
      return nil
    }
    let rest = bytes.dropLast(Self.digits)
    if !rest.isEmpty {
      guard rest.last == UInt8(ascii: "_"), Self.isIdentity(rest.dropLast()) else { return nil }
    }
    self.init(rest.isEmpty ? nil : String(rest.dropLast()), position)
  }

  /// Whether bytes are what an identity consists of: some letters, digits and `-`.
  static func isIdentity(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.count <= mostLetters
      && bytes.allSatisfy { byte in
        isDigit(byte) || byte == UInt8(ascii: "-")
          || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      }
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= byte }
}
