/// Where the bytes of a list come from.
enum FileOrigin: Sendable {
  case path(String)
  case open(Descriptor)
  /// What is known already to be unreadable.
  case unreadable(FileError)
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
      let descriptor: Descriptor
      switch origin {
      case .path(let path): descriptor = try await .opening(path)
      case .open(let open): descriptor = open
      case .unreadable(let error): throw error
      }
      let bytes = try await descriptor.read(upTo: size)
      if bytes.isEmpty { return nil }
      self.origin = .open(descriptor)
      return bytes
    }
  }
}
