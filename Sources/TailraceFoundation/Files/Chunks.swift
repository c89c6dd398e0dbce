import FileReading

/// Where the bytes of a list come from.
struct FileOrigin: Sendable {
  enum Place: Sendable {
    case path([CChar])
    case open(Descriptor)
    /// What is known already to be unreadable.
    case unreadable(SystemError)
  }

  /// For errors.
  let name: String
  let place: Place
}

/// The bytes of a file, as they are read.
struct FileChunks: AsyncSequence, Sendable {
  let origin: FileOrigin
  let size: Int

  func makeAsyncIterator() -> Iterator { Iterator(origin: origin, size: size) }

  struct Iterator: AsyncIteratorProtocol {
    /// `nil` once nothing more is to be read: the file is closed then.
    private var origin: FileOrigin?
    private let size: Int

    init(origin: FileOrigin, size: Int) {
      self.origin = origin
      self.size = size
    }

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
