#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Glibc
#endif

/// The error of a failed system call.
package struct SystemError: Error, Equatable, CustomStringConvertible {
  package let code: Int32

  package init(code: Int32) { self.code = code }

  /// The error of this thread's last call.
  package static var last: SystemError { SystemError(code: errno) }

  /// The error of a call that was given up because its task was cancelled.
  package static var cancelled: SystemError { SystemError(code: ECANCELED) }

  package var description: String { String(cString: strerror(code)) }
}
