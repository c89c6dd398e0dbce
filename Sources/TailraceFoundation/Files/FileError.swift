import FileReading
public import Foundation
public import TailraceLists

/// An error of opening or reading a file, or the cancellation of a reader.
///
/// An error of the file is the failure of the list that reads it, at the position of the error.
/// ``cancelled`` is no fate of an element: it is thrown to a reader whose task is cancelled while it
/// would have to wait.
///
/// ```swift
/// do {
///   for try await line in url.lazyLines { print(line) }
/// } catch .cancelled {
///   print("stopped before the end")
/// } catch {
///   print("could not read \(error.path)")
/// }
/// // one
/// // two
/// ```
public struct FileError: CancellableFailure, Equatable, Sendable, CustomStringConvertible {
  /// The path of the file, or a substitute: `file descriptor 0`, or a URL that is not of a file.
  /// Empty if this is ``cancelled``.
  public let path: String
  /// The system's error, such as `ENOENT`.
  public let code: POSIXErrorCode

  package init(_ path: String, _ error: SystemError) {
    self.path = path
    code = POSIXErrorCode(rawValue: error.code) ?? .EIO
  }

  /// The failure of a reader whose task was cancelled before it had read everything.
  public static let cancelled = FileError("", .cancelled)

  /// Whether the reader was cancelled, as opposed to a file that could not be read.
  public var isCancelled: Bool { self == .cancelled }

  /// The path and the system's error.
  public var description: String {
    isCancelled
      ? "reading a file was cancelled" : "\(path): \(SystemError(code: code.rawValue))"
  }
}
