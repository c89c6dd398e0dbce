#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Why a system call failed.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  package let code: Int32

  package init(code: Int32) { self.code = code }

  /// The error of the call that this thread made last.
  package static var last: SystemError { SystemError(code: errno) }

  package var description: String { String(cString: strerror(code)) }
}
