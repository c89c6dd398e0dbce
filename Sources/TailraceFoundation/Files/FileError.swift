import FileReading
public import Foundation

/// An error of opening or reading a file.
///
/// It is the failure of the list that reads the file, at the position of the error.
public struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The path of the file, or a substitute: `file descriptor 0`, or a URL that is not of a file.
  public let path: String
  /// The system's error, such as `ENOENT`.
  public let code: POSIXErrorCode

  init(_ path: String, _ error: SystemError) {
    self.path = path
    code = POSIXErrorCode(rawValue: error.code) ?? .EIO
  }

  /// The path and the system's error.
  public var description: String { "\(path): \(SystemError(code: code.rawValue))" }
}
