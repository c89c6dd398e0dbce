/// The asynchronous part of a producer: a closure that may suspend, seen from a producer that does
/// not.
///
/// The producer takes what the last run left; when there is nothing it throws `waiting`, and the
/// flight that owns the producer runs the closure and comes back.
// Guard: it belongs to one producer, whose owner is the only one to take and to settle.
// May touch it: that producer's closure, and the flight that owns the producer.
@usableFromInline
final class Suspension<Element: Sendable, Failure: Error>: Blocker, @unchecked Sendable {
  @usableFromInline
  typealias Body =
    nonisolated(nonsending) () async throws(Interruption<Failure>) -> Step<
      Element, Failure
    >

  @usableFromInline let body: Body
  @exclusivity(unchecked) @usableFromInline
  var outcome: Result<Step<Element, Failure>, Interruption<Failure>>?

  @inlinable
  init(_ body: @escaping Body) { self.body = body }

  @usableFromInline var isPartOfProducer: Bool { true }

  @inlinable
  func take() throws(Interruption<Failure>) -> Step<Element, Failure> {
    guard let outcome = outcome.take() else { throw .waiting(Obstacle(self)) }
    return try outcome.get()
  }

  @inlinable
  func attempt(_ mark: Int) -> Attempt { .mustSuspend }

  @inlinable
  nonisolated(nonsending) func settle(_ mark: Int) async -> Wake {
    do throws(Interruption<Failure>) {
      outcome = .success(try await body())
    } catch {
      outcome = .failure(error)
    }
    return .retry
  }
}
