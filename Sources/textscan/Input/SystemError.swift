#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Why a system call failed.
struct SystemError: Error, Equatable, CustomStringConvertible {
  let code: Int32

  /// The error of the call that this thread made last.
  static var last: SystemError { SystemError(code: errno) }

  var description: String { String(cString: strerror(code)) }
}
