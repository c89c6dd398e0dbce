import FileReading
public import Foundation

/// Why a file could not be opened or read on.
///
/// It is the failure of the list that reads the file, at the position where it happened.
public struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The path of the file, or what stands for it: `file descriptor 0`, or a URL that is no file's.
  public let path: String
  /// What the system says, `ENOENT` for one.
  public let code: POSIXErrorCode

  init(_ path: String, _ error: SystemError) {
    self.path = path
    code = POSIXErrorCode(rawValue: error.code) ?? .EIO
  }

  /// The path, and what the system says.
  public var description: String { "\(path): \(SystemError(code: code.rawValue))" }
}
