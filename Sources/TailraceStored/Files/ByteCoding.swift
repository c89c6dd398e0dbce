public import Foundation

/// Converts values to bytes of a file, and back.
///
/// Use `.json`, `.text`, `.bytes`, `.data` or `.raw`, or give a pair of functions:
///
/// ```swift
/// let dates = ByteCoding<Date>(name: "seconds since 1970") { date, bytes in
///   withUnsafeBytes(of: date.timeIntervalSince1970) { bytes.append(contentsOf: $0) }
/// } decode: { bytes, _ in
///   Date(timeIntervalSince1970: bytes.loadUnaligned(as: Double.self))
/// }
/// let store = FileStore<Date, Int>(url, element: dates, state: .raw)
/// ```
///
/// The name is stored in the file: a file with another name is `ListStoreError.otherSchema`. The
/// version is stored with each commit. A coding with an `oldest` version also gets bytes of older
/// versions, and so migrates as it reads.
public struct ByteCoding<Value: Sendable>: Sendable {
  /// Appends the bytes of a value.
  public typealias Encode = @Sendable (_ value: Value, _ bytes: inout [UInt8]) throws -> Void
  /// Makes a value from bytes, which are valid only during the call, and the version that wrote
  /// them.
  public typealias Decode =
    @Sendable (_ bytes: UnsafeRawBufferPointer, _ version: UInt8) throws -> Value

  /// The values' name in the file.
  public let name: String
  /// The versions that can be read; the last one is written.
  public let versions: ClosedRange<UInt8>
  @usableFromInline let encode: Encode
  @usableFromInline let decode: Decode

  /// Creates a coding.
  ///
  /// - Parameters:
  ///   - name: the values' name in the file. Another name is another schema.
  ///   - version: the version to write.
  ///   - oldest: the oldest version that `decode` understands; by default only `version`.
  ///   - encode: appends the bytes of a value.
  ///   - decode: makes a value from them.
  @_alwaysEmitIntoClient
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
  /// JSON, named after the type. Use ``json(name:version:migrating:)`` for a type that may get another
  /// name, or other properties.
  public static var json: ByteCoding { json(version: 1, migrating: nil) }

  /// JSON of a type whose name or properties may change.
  ///
  /// - Parameters:
  ///   - name: the values' name in the file, instead of the type's name in Swift. It stays when the type
  ///     is renamed.
  ///   - version: the type's present version.
  ///   - migrate: makes a value from the JSON of an older version, from 1 on.
  public static func json(
    name: String? = nil, version: UInt8 = 1,
    migrating migrate: (@Sendable (Data, UInt8) throws -> Value)? = nil
  ) -> ByteCoding {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    return ByteCoding(
      name: name ?? "json \(Value.self)", version: version,
      understanding: migrate == nil ? version : 1
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
  @_alwaysEmitIntoClient
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
  @_alwaysEmitIntoClient
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
  @_alwaysEmitIntoClient
  public static var data: ByteCoding {
    ByteCoding(name: "bytes") { value, bytes in
      bytes.append(contentsOf: value)
    } decode: { bytes, _ in
      Data(bytes)
    }
  }
}

extension ByteCoding where Value: BitwiseCopyable {
  /// The value as in memory: for numbers, and structs and tuples of them. Only for machines of one
  /// kind: the byte order is not defined.
  @_alwaysEmitIntoClient
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

/// A value has different sizes in the file and in memory.
public struct CodingSizeError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The size in memory, in bytes.
  public let expected: Int
  /// The size in the file.
  public let found: Int

  @usableFromInline
  init(expected: Int, found: Int) {
    self.expected = expected
    self.found = found
  }

  /// Both sizes, in a sentence.
  public var description: String {
    "a value takes \(expected) bytes here, and \(found) bytes are stored: it was stored by a type "
      + "of another size"
  }
}
