import FileReading
import Tailrace

/// A file that is to be read.
struct Source: Sendable {
  let path: Path
  let isStandardInput: Bool
  /// Pipes, terminals and devices may have nothing to read for long.
  let canBlock: Bool

  /// Opens the file and reads its beginning, unless that could keep it waiting for long.
  func begin() async -> Beginning {
    guard !canBlock else { return .later(self) }
    let file = Result(catching: open)
    return .begun(self, file, first: file.flatMap { file in file.chunk() })
  }

  fileprivate func open() throws(SystemError) -> Descriptor {
    try isStandardInput ? .duplicating(0) : .opening(path.characters)
  }
}

/// A file of which the beginning was read ahead, or what was found instead of one.
enum Beginning: Sendable {
  case begun(Source, Result<Descriptor, SystemError>, first: Result<[UInt8], SystemError>)
  /// It is opened when its first piece is demanded.
  case later(Source)
  case nothing(Finding)

  /// Goes as far as a file may be read before anybody has asked for its lines.
  init(_ finding: Finding) async {
    if case .file(let source) = finding {
      self = await source.begin()
    } else {
      self = .nothing(finding)
    }
  }

  /// The lines of the file, a piece at a time. A file that cannot be read, or is
  /// left out, is noted, and has none.
  ///
  /// - Laziness: stepwise.
  func pieces(_ ledger: Ledger) -> LazyList<Piece, any Error> {
    switch self {
    case .begun(let source, let file, let first):
      return source.quickPieces(file, first, ledger)
    case .later(let source):
      return .deferred { () async in source.slowPieces(await elsewhere(source.open), ledger) }
    case .nothing(.failure(let path, let error)): ledger.fail(path, error)
    case .nothing(.skipped(let path, let reason)): ledger.skip(path, because: reason)
    case .nothing(.file): preconditionFailure("a file is something")
    }
    return .empty
  }
}

extension Source {
  /// Read by the task that demands. That is fastest, and a disk does not keep it waiting for long.
  fileprivate func quickPieces(
    _ file: Result<Descriptor, SystemError>, _ first: Result<[UInt8], SystemError>,
    _ ledger: Ledger
  ) -> LazyList<Piece, any Error> {
    guard let cutter = Cutter(file, path, ledger) else { return .empty }
    return LazyList(state: (cutter: cutter, first: Optional(first))) { state in
      try Task.checkCancellation()
      guard let file = state.cutter.file else { return nil }
      return state.cutter.cut(state.first.take() ?? file.chunk())
    }
  }

  /// Waited for and read elsewhere, by a step of the list that suspends.
  fileprivate func slowPieces(
    _ file: Result<Descriptor, SystemError>, _ ledger: Ledger
  ) -> LazyList<Piece, any Error> {
    guard let cutter = Cutter(file, path, ledger) else { return .empty }
    return LazyList(state: cutter) { (cutter) async in
      guard let file = cutter.file else { return nil }
      do throws(SystemError) {
        return cutter.cut(.success(try await file.read()))
      } catch {
        return cutter.cut(.failure(error))
      }
    }
  }
}

extension Descriptor {
  /// Reads a chunk of a file that never keeps its reader waiting.
  fileprivate func chunk() -> Result<[UInt8], SystemError> {
    Result { () throws(SystemError) in try readNow() ?? [] }
  }
}
