/// A failure type that can say that a reader was cancelled.
///
/// A reader of a list whose `Failure` conforms throws ``cancelled`` when its task is cancelled while it
/// would have to wait. A failure type that does not conform cannot say it: then an iteration ends, and
/// a question waits for the true answer. `any Error` needs no conformance: there readers throw
/// `CancellationError`.
///
/// ```swift
/// enum LoadError: CancellableFailure {
///   case offline
///   case cancelled
/// }
///
/// let pages = LazyList(1...3).setFailureType(to: LoadError.self)
/// let reader = Task {
///   withUnsafeCurrentTask { $0?.cancel() }
///   return try await pages.count()
/// }
/// do {
///   print(try await reader.value)
/// } catch LoadError.cancelled {
///   print("not all pages")   // not all pages
/// }
/// ```
///
/// See <doc:Cancellation>.
public protocol CancellableFailure: Error {
  /// The failure of a reader that was cancelled. It is never remembered as an element's fate.
  static var cancelled: Self { get }
}
