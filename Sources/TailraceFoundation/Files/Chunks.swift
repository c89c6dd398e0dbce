import FileReading
import Foundation

/// The source of a list's bytes.
struct FileOrigin: Sendable {
  enum Place: Sendable {
    case path([CChar])
    case open(Descriptor)
    /// Known to be unreadable.
    case unreadable(SystemError)
  }

  /// For errors.
  let name: String
  let place: Place
}

/// The bytes of a file, in the chunks that were read.
struct FileChunks: AsyncSequence, Sendable {
  let origin: FileOrigin
  let size: Int

  func makeAsyncIterator() -> Iterator { Iterator(origin: origin, size: size) }

  struct Iterator: AsyncIteratorProtocol {
    /// `nil` once nothing more will be read: the file is then closed.
    private var origin: FileOrigin?
    private let size: Int
    private let name: String

    init(origin: FileOrigin, size: Int) {
      self.origin = origin
      self.size = size
      name = origin.name
    }

    /// The failure where the bytes are no UTF-8.
    var noText: FileError { FileError(name, SystemError(code: EILSEQ)) }

    mutating func next() async throws(FileError) -> [UInt8]? { try await next(isolation: nil) }

    mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FileError) -> [UInt8]? {
      guard let origin = origin.take() else { return nil }
      do throws(SystemError) {
        let descriptor = try await origin.place.opened()
        let bytes = try await descriptor.read(upTo: size)
        if bytes.isEmpty { return nil }
        self.origin = FileOrigin(name: origin.name, place: .open(descriptor))
        return bytes
      } catch {
        throw FileError(origin.name, error)
      }
    }
  }
}

extension FileOrigin.Place {
  fileprivate func opened() async throws(SystemError) -> Descriptor {
    switch self {
    case .path(let path):
      try await elsewhere { () throws(SystemError) in try .opening(path) }.get()
    case .open(let descriptor): descriptor
    case .unreadable(let error): throw error
    }
  }
}
