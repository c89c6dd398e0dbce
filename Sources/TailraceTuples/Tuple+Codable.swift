import TailraceLists

/// Encoded as an array of the elements; a `nil` element is a null.
extension Tuple: Encodable where repeat each Element: Encodable {
  /// Encodes the elements as an array.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for element in repeat each elements { try container.encode(element) }
  }
}

/// Decoded from an array with one element of each type.
///
/// A missing, surplus or mistyped element is a `DecodingError` that names the position.
extension Tuple: Decodable where repeat each Element: Decodable {
  /// Decodes the elements from an array of exactly this length.
  public init(from decoder: any Decoder) throws {
    var slots = try Slots(decoder, of: Self.self)
    self.init(repeat try slots.next((each Element).self))
    try slots.end()
  }
}

/// The elements of an array that is being decoded, in order.
private struct Slots {
  private var container: any UnkeyedDecodingContainer
  private let path: [any CodingKey]
  private let whole: Any.Type
  /// Counted here: a container may advance past an element of the wrong type.
  private var position = 0

  init(_ decoder: any Decoder, of whole: Any.Type) throws {
    container = try decoder.unkeyedContainer()
    path = decoder.codingPath
    self.whole = whole
  }

  mutating func next<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard !container.isAtEnd else {
      throw DecodingError.valueNotFound(
        type, context("there is no element at position \(position), where \(type) is needed"))
    }
    do {
      let value = try container.decode(type)
      position += 1
      return value
    } catch let error as DecodingError {
      throw placed(error)
    } catch let error where type is any Numeric.Type {
      // For a number that does not fit, some decoders throw their own error.
      throw DecodingError.dataCorrupted(
        context("the element at position \(position) is not a \(type): \(error)", [], error))
    }
  }

  func end() throws {
    guard !container.isAtEnd else { return }
    throw DecodingError.dataCorrupted(
      context("there is an element at position \(position), and the tuple ends before it"))
  }

  /// The error with the position in its message, and in its path if missing there.
  private func placed(_ error: DecodingError) -> DecodingError {
    func here(_ context: DecodingError.Context) -> DecodingError.Context {
      self.context(
        "the element at position \(position): \(context.debugDescription)",
        Array(context.codingPath.dropFirst(path.count + 1)), error)
    }
    return switch error {
    case .typeMismatch(let type, let context): .typeMismatch(type, here(context))
    case .valueNotFound(let type, let context): .valueNotFound(type, here(context))
    case .keyNotFound(let key, let context): .keyNotFound(key, here(context))
    case .dataCorrupted(let context): .dataCorrupted(here(context))
    @unknown default: error
    }
  }

  private func context(
    _ words: String, _ inside: [any CodingKey] = [], _ error: (any Error)? = nil
  ) -> DecodingError.Context {
    DecodingError.Context(
      codingPath: path + [Position(position)] + inside, debugDescription: "\(whole): \(words)",
      underlyingError: error)
  }

  /// The key of an element of an array.
  private struct Position: CodingKey {
    let number: Int

    init(_ number: Int) { self.number = number }

    init?(stringValue: String) { nil }

    init?(intValue: Int) { number = intValue }

    var intValue: Int? { number }
    var stringValue: String { "Index \(number)" }
  }
}
