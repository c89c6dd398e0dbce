import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#else
  import Glibc
#endif

/// How the library behaves under a test that tries the orders of its tasks (`explore` of
/// TailraceTesting): everything that it does otherwise is decided here.
///
/// Waiting tasks say what they wait for.
///
/// Code belongs to a run if the run drives the thread that it runs on: also that of detached tasks, which
/// have no task-locals. Outside of such a test, each of these costs one load of a word, where a task is
/// about to suspend or to be made.
@usableFromInline
package enum Exploring {
  /// The run of a test that the running code belongs to.
  package protocol Run: AnyObject, Sendable {
    /// A task begins to wait. Returns a number for this wait.
    func begins(_ wait: Wait) -> Int
    func ends(_ wait: Int)
  }

  /// What a task waits for, in words: `before`, the name of an object, `after`.
  package struct Wait: Sendable {
    package let before: String
    package let title: String
    /// Tells objects of one name apart.
    package let identity: ObjectIdentifier
    package let after: String

    package init(_ before: String = "", _ title: String, _ object: AnyObject, _ after: String = "")
    {
      (self.before, self.title, self.after) = (before, title, after)
      identity = ObjectIdentifier(object)
    }
  }

  /// How many tests explore; mostly none, and then nothing is looked up.
  private static let count = Atomic(0)

  package static var run: (any Run)? { count.load(ordering: .relaxed) > 0 ? driven : nil }
  @usableFromInline package static var isOn: Bool { run != nil }

  /// A test begins or ends to explore.
  package static func begin() { count.add(1, ordering: .relaxed) }
  package static func end() { count.subtract(1, ordering: .relaxed) }

  // MARK: The thread that is driven

  private final class Driver {
    let run: any Run
    init(_ run: any Run) { self.run = run }
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    guard pthread_key_create(&key, nil) == 0 else {
      fatalError("explore: the process has no more keys for values of its threads")
    }
    return key
  }()

  /// Not inlined: an asynchronous function may change its thread between two uses of one.
  @inline(never)
  private static var driven: (any Run)? {
    pthread_getspecific(key).map { Unmanaged<Driver>.fromOpaque($0).takeUnretainedValue().run }
  }

  /// Runs a closure whose code, on this thread, belongs to a run.
  package static func driving<Value>(_ run: any Run, _ body: () -> Value) -> Value {
    let driver = Driver(run)
    let outer = pthread_getspecific(key)
    pthread_setspecific(key, Unmanaged.passUnretained(driver).toOpaque())
    defer { pthread_setspecific(key, outer) }
    return withExtendedLifetime(driver) { body() }
  }

  /// A wait that has begun.
  @usableFromInline
  package struct Mark: Sendable {
    let run: any Run
    let number: Int

    @usableFromInline
    package func end() { run.ends(number) }
  }

  /// The running task is about to wait. `nil` if no test explores it.
  package static func waits(for wait: @autoclosure () -> Wait) -> Mark? {
    run.map { Mark(run: $0, number: $0.begins(wait())) }
  }
}
