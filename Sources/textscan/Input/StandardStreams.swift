#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The descriptors 0, 1 and 2.
enum StandardStreams {
  /// Keeps the numbers of those that are closed from being given to what is opened next.
  ///
  /// Reading what was closed, or writing to it, fails as if it still were, with a bad descriptor: it
  /// is open for the other direction only. To be called before anything else is opened.
  static func reserveClosed() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest number that is free is the one that is taken.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
