import FileReading
import Synchronization

/// Cuts what is read of a file into pieces of whole lines.
struct Cutter {
  /// `nil` once nothing more is to be read of it.
  private(set) var file: Descriptor?
  private let path: Path
  private let ledger: Ledger
  private var isUntouched = true
  /// The number of the line that the next piece begins with.
  private var nextLine = 1
  /// The beginning of a line whose end has not been read.
  private var carry: [UInt8] = []

  /// Notes the failure if the file could not be opened.
  init?(_ file: Result<Descriptor, SystemError>, _ path: Path, _ ledger: Ledger) {
    switch file {
    case .success(let file): self.file = file
    case .failure(let error):
      ledger.fail(path, error)
      return nil
    }
    self.path = path
    self.ledger = ledger
  }

  /// The lines that are complete with what has been read: perhaps none, `nil` at the end.
  mutating func cut(_ chunk: Result<[UInt8], SystemError>) -> Piece? {
    switch chunk {
    case .failure(let error):
      ledger.fail(path, error)
      return end()
    case .success(let bytes):
      ledger.bytesRead.add(bytes.count, ordering: .relaxed)
      if isUntouched {
        isUntouched = false
        if bytes.contains(0) {
          ledger.skip(path, because: "binary file")
          return nil
        }
        ledger.files.add(1, ordering: .relaxed)
      }
      return bytes.isEmpty ? end() : cut(bytes)
    }
  }

  private mutating func cut(_ bytes: [UInt8]) -> Piece {
    guard let newline = bytes.lastIndex(of: .newline) else {
      carry += bytes
      return Piece(path, nextLine, [])
    }
    let rest = bytes.index(after: newline)
    let whole = carry.isEmpty ? Array(bytes[..<rest]) : carry + bytes[..<rest]
    carry = Array(bytes[rest...])
    let piece = Piece(path, nextLine, whole)
    nextLine += piece.newlines(before: whole.endIndex)
    return piece
  }

  /// The rest is a line without an end.
  private mutating func end() -> Piece? {
    file = nil
    return carry.isEmpty ? nil : Piece(path, nextLine, carry)
  }
}
