public import Foundation

/// How values become bytes in a file, and come back.
///
/// `.json`, `.text`, `.bytes`, `.data` and `.raw` are there; others are a pair of functions:
///
/// ```swift
/// let dates = ByteCoding<Date>(name: "seconds since 1970") { date, bytes in
///   withUnsafeBytes(of: date.timeIntervalSince1970) { bytes.append(contentsOf: $0) }
/// } decode: { bytes, _ in
///   Date(timeIntervalSince1970: bytes.loadUnaligned(as: Double.self))
/// }
/// let store = FileStore(url, element: dates, state: .raw as ByteCoding<Int>)
/// ```
///
/// The name stands in the file: a file of something else is `ListStoreError.otherSchema`. The
/// version stands with each commit: a coding that says the oldest version that it understands is
/// given bytes of older ones, and so migrates as it reads.
public struct ByteCoding<Value: Sendable>: Sendable {
  /// Appends the bytes of a value.
  public typealias Encode = @Sendable (_ value: Value, _ bytes: inout [UInt8]) throws -> Void
  /// Makes a value of bytes, which are lent for the call, and the version that wrote them.
  public typealias Decode =
    @Sendable (_ bytes: UnsafeRawBufferPointer, _ version: UInt8) throws -> Value

  /// What the values are called in the file.
  public let name: String
  /// What is written; and what can be read, up to it.
  public let versions: ClosedRange<UInt8>
  @usableFromInline let encode: Encode
  @usableFromInline let decode: Decode

  /// Creates a coding.
  ///
  /// - Parameters:
  ///   - name: what the values are called in the file. Another name is another schema.
  ///   - version: what is written.
  ///   - oldest: the oldest version that `decode` understands; only `version`, if nothing is said.
  ///   - encode: appends the bytes of a value.
  ///   - decode: makes a value of them.
  @inlinable
  public init(
    name: String, version: UInt8 = 1, understanding oldest: UInt8? = nil,
    encode: @escaping Encode, decode: @escaping Decode
  ) {
    self.name = name
    versions = min(oldest ?? version, version)...version
    self.encode = encode
    self.decode = decode
  }
}

extension ByteCoding where Value: Codable {
  /// JSON. Called by the type's name; ``json(version:migrating:)`` for types that have changed.
  public static var json: ByteCoding { json(version: 1, migrating: nil) }

  /// JSON of a type that had other properties before.
  ///
  /// - Parameters:
  ///   - version: of the type as it is now.
  ///   - migrate: makes a value of the JSON of an older version, from 1 on.
  public static func json(
    version: UInt8, migrating migrate: (@Sendable (Data, UInt8) throws -> Value)?
  ) -> ByteCoding {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    return ByteCoding(
      name: "json \(Value.self)", version: version, understanding: migrate == nil ? version : 1
    ) { value, bytes in
      bytes.append(contentsOf: try encoder.encode(value))
    } decode: { bytes, found in
      let data = Data(bytes)
      if found < version, let migrate { return try migrate(data, found) }
      return try decoder.decode(Value.self, from: data)
    }
  }
}

extension ByteCoding where Value == String {
  /// UTF-8.
  @inlinable
  public static var text: ByteCoding {
    ByteCoding(name: "text") { value, bytes in
      bytes.append(contentsOf: value.utf8)
    } decode: { bytes, _ in
      String(decoding: bytes, as: UTF8.self)
    }
  }
}

extension ByteCoding where Value == [UInt8] {
  /// The bytes themselves.
  @inlinable
  public static var bytes: ByteCoding {
    ByteCoding(name: "bytes") { value, bytes in
      bytes.append(contentsOf: value)
    } decode: { bytes, _ in
      Array(bytes)
    }
  }
}

extension ByteCoding where Value == Data {
  /// The bytes themselves.
  @inlinable
  public static var data: ByteCoding {
    ByteCoding(name: "bytes") { value, bytes in
      bytes.append(contentsOf: value)
    } decode: { bytes, _ in
      Data(bytes)
    }
  }
}

extension ByteCoding where Value: BitwiseCopyable {
  /// The value as it lies in memory: for numbers, and structs and tuples of them. For machines of
  /// one kind: nothing is said about the order of bytes.
  @inlinable
  public static var raw: ByteCoding {
    ByteCoding(name: "raw \(Value.self) of \(MemoryLayout<Value>.size) bytes") { value, bytes in
      withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
    } decode: { bytes, _ in
      guard bytes.count == MemoryLayout<Value>.size else {
        throw CodingSizeError(expected: MemoryLayout<Value>.size, found: bytes.count)
      }
      return bytes.loadUnaligned(as: Value.self)
    }
  }
}

/// A value has another number of bytes in the file than it has in memory.
public struct CodingSizeError: Error, Equatable, Sendable {
  /// How many bytes a value has in memory.
  public let expected: Int
  /// How many it has in the file.
  public let found: Int

  @usableFromInline
  init(expected: Int, found: Int) {
    self.expected = expected
    self.found = found
  }
}
