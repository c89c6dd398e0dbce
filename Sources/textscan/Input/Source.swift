import FileReading
import Tailrace

/// A file that is to be read.
struct Source: Sendable {
  let path: Path
  let isStandardInput: Bool
  /// Pipes, terminals and devices may have nothing to read for long.
  let canBlock: Bool

  /// The lines of the file, a piece at a time. A file that cannot be read is noted, and has none.
  ///
  /// - Laziness: stepwise; the file is opened when its first piece is demanded.
  func pieces(_ ledger: Ledger) -> LazyList<Piece, any Error> {
    canBlock
      ? .deferred { () async in slowPieces(await elsewhere(open), ledger) }
      : .deferred { quickPieces(Result(catching: open), ledger) }
  }

  private func open() throws(SystemError) -> Descriptor {
    try isStandardInput ? .duplicating(0) : .opening(path.characters)
  }

  /// Read by the task that demands. That is fastest, and a disk does not keep it waiting for long.
  private func quickPieces(
    _ file: Result<Descriptor, SystemError>, _ ledger: Ledger
  ) -> LazyList<Piece, any Error> {
    guard let cutter = Cutter(file, path, ledger) else { return .empty }
    return LazyList(state: cutter) { cutter in
      try Task.checkCancellation()
      guard let file = cutter.file else { return nil }
      return cutter.cut(Result { () throws(SystemError) in try file.readNow() ?? [] })
    }
  }

  /// Waited for and read elsewhere, by a step of the list that suspends.
  private func slowPieces(
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
