import Tailrace
import Testing

/// Expects that a search without a find ends when its task is cancelled: at the ninth of many elements.
func expectCancelled(
  sourceLocation: SourceLocation = #_sourceLocation,
  _ search: @escaping @Sendable (LazyList<Int, Never>) async throws -> Void
) async {
  let list = LazyList(1...200_000).onEach { if $0 == 9 { withUnsafeCurrentTask { $0?.cancel() } } }
  let task = Task { try await search(list) }
  await #expect(throws: CancellationError.self, sourceLocation: sourceLocation) {
    try await task.value
  }
}
