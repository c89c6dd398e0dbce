import Tailrace

@testable import TailraceStored

/// The names of a list's positions.
struct ListNames: Sendable {
  let identity: String?

  init(_ source: some ListSource) async throws { identity = try await source.extent().identity }

  func callAsFunction(_ position: Int) -> String { ListOffset(identity, position).name }
}
