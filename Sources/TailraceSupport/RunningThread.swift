#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Glibc
#endif

/// Tells whether code runs on the stack of a thread that has noted itself.
///
/// Only a thread writes its own number, and it takes the number away before its frame ends. So whoever reads its
/// own number runs above that frame.
@usableFromInline
package enum RunningThread {
  // Not optimised: the C library declares its call constant. In an asynchronous function LLVM would keep the
  // value across a suspension, after which the thread is another.
  /// The number of this thread, which is not 0.
  @usableFromInline @inline(never) @_optimize(none)
  package static func number() -> UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
