import Dispatch
import TailraceLists
import TailraceSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Glibc
#endif

/// Tells tasks that a file was changed or created.
///
/// One for the process: the kernel allows few. Without one, and for changes that the kernel does
/// not report, waiting tasks check again after a while.
final class FileChanges: Sendable {
  static let shared = FileChanges()

  #if !canImport(Darwin)
    private let watches: Locked<Watches>
    // Guard: Dispatch's own; written once. May touch it: the initializer.
    private nonisolated(unsafe) let source: (any DispatchSourceRead)?
    private let descriptor: Int32

    private init() {
      descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      watches = Locked(Watches())
      guard descriptor >= 0 else {
        source = nil
        return
      }
      let queue = DispatchQueue(label: "Tailrace.file-changes", qos: .userInitiated)
      source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source?.setEventHandler { FileChanges.shared.tell() }
      source?.activate()
    }

    /// Wakes a waiter at the next change of a file, or of its folder if the file does not exist.
    ///
    /// - Returns: a closure that ends the watch.
    func watch(_ path: [CChar], _ waiter: Waiter) -> @Sendable () -> Void {
      guard descriptor >= 0 else { return {} }
      // A removed watch's number may be reused: both under the lock.
      let number = watches.withLock { watches in
        var number = inotify_add_watch(
          descriptor, path, UInt32(IN_MODIFY) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ATTRIB))
        if number < 0 {
          number = inotify_add_watch(
            descriptor, path.folder, UInt32(IN_CREATE) | UInt32(IN_MOVED_TO))
        }
        if number >= 0 { watches.add(waiter, to: number) }
        return number
      }
      guard number >= 0 else { return {} }
      return { [self] in
        watches.withLock { watches in
          if watches.remove(waiter, from: number) { inotify_rm_watch(descriptor, number) }
        }
      }
    }

    private func tell() {
      var bytes = [UInt8](repeating: 0, count: 1 << 14)
      while true {
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return }
        let numbers = bytes.withUnsafeBytes { bytes in
          var numbers: [Int32] = []
          var offset = 0
          while offset + 16 <= count {
            numbers.append(bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
            offset += 16 + Int(bytes.loadUnaligned(fromByteOffset: offset + 12, as: UInt32.self))
          }
          return numbers
        }
        let waiters = watches.withLock { $0.waiters(of: numbers) }
        for waiter in waiters { waiter.wake(.lookAgain) }
      }
    }
  #else
    private init() {}

    /// Wakes a waiter at the next change of a file, or of its folder if the file does not exist.
    ///
    /// - Returns: a closure that ends the watch.
    func watch(_ path: [CChar], _ waiter: Waiter) -> @Sendable () -> Void {
      var descriptor = open(path, O_EVTONLY | O_CLOEXEC)
      if descriptor < 0 { descriptor = open(path.folder, O_EVTONLY | O_CLOEXEC) }
      guard descriptor >= 0 else { return {} }
      // Guard: Dispatch's own; a source is thread-safe. May touch it: this call, and the closure
      // that ends the watch.
      nonisolated(unsafe) let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .attrib, .link, .rename, .delete])
      source.setEventHandler { waiter.wake(.lookAgain) }
      source.setCancelHandler { [descriptor] in close(descriptor) }
      source.activate()
      return { source.cancel() }
    }
  #endif
}

/// The waiters of each watch of the kernel.
struct Watches: Sendable {
  private var waiters: [Int32: [Waiter]] = [:]

  mutating func add(_ waiter: Waiter, to number: Int32) {
    waiters[number, default: []].append(waiter)
  }

  /// True if no other waiter has that watch.
  mutating func remove(_ waiter: Waiter, from number: Int32) -> Bool {
    guard var others = waiters[number] else { return false }
    others.removeAll { $0 === waiter }
    waiters[number] = others.isEmpty ? nil : others
    return others.isEmpty
  }

  /// The waiters for some events; all, if events were lost.
  func waiters(of numbers: [Int32]) -> [Waiter] {
    if numbers.contains(-1) { return waiters.values.flatMap { $0 } }
    return Set(numbers).flatMap { waiters[$0] ?? [] }
  }
}

extension Waiter {
  /// Wakes the waiter after a pause.
  func wake(after pause: Duration) {
    let parts = pause.components
    let nanoseconds = Int(parts.seconds) * 1_000_000_000 + Int(parts.attoseconds / 1_000_000_000)
    DispatchQueue.global(qos: .userInitiated).asyncAfter(
      deadline: .now() + .nanoseconds(nanoseconds)
    ) { self.wake(.lookAgain) }
  }
}
