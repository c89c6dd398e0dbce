import Foundation

/// Converts values to bytes for a server, and back.
///
/// Use `.json`, `.text` or `.bytes`, or give a pair of functions. The bytes do not name their
/// type: if it changes, decode the old bytes, too, or take another key.
public struct ValkeyCoding<Value: Sendable>: Sendable {
  let encode: @Sendable (Value) throws -> [UInt8]
  let decode: @Sendable ([UInt8]) throws -> Value

  /// Creates a coding.
  ///
  /// - Parameters:
  ///   - encode: makes bytes from a value.
  ///   - decode: makes a value from bytes.
  public init(
    encode: @escaping @Sendable (Value) throws -> [UInt8],
    decode: @escaping @Sendable ([UInt8]) throws -> Value
  ) {
    self.encode = encode
    self.decode = decode
  }
}

extension ValkeyCoding where Value: Codable {
  /// JSON.
  public static var json: ValkeyCoding {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    return ValkeyCoding {
      Array(try encoder.encode($0))
    } decode: {
      try decoder.decode(Value.self, from: Data($0))
    }
  }
}

extension ValkeyCoding where Value == String {
  /// UTF-8.
  public static var text: ValkeyCoding {
    ValkeyCoding {
      Array($0.utf8)
    } decode: {
      String(decoding: $0, as: UTF8.self)
    }
  }
}

extension ValkeyCoding where Value == [UInt8] {
  /// The bytes themselves.
  public static var bytes: ValkeyCoding {
    ValkeyCoding {
      $0
    } decode: {
      $0
    }
  }
}
