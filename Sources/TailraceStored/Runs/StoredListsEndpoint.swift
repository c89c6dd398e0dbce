import Foundation
import TailraceLists
import TailraceSupport

/// Serves all lists of a ``StoredLists`` over HTTP: a key and a request's values in, a response's values out.
///
/// ```swift
/// let runs = StoredLists<String, Int>(
///   in: directory, element: .text, state: .raw
/// ) { _, _ in nil }
/// let endpoint = StoredListsEndpoint(runs)
/// try await runs.start("7", state: 0)
///
/// // In the handler of GET /runs/7:
/// let response = try await endpoint.response(to: ListRequest(), key: "7")
/// response.status   // 200
/// try await endpoint.response(to: ListRequest(), key: "8").status   // 404
/// await runs.close()
/// ```
///
/// Each list is served as ``ListEndpoint`` serves it. Beginning and stopping a list are requests of the
/// application's own: it decides who may.
public struct StoredListsEndpoint<Element: Sendable, State: Sendable>: Sendable {
  private typealias Endpoint = ListEndpoint<FileStore<Element, State>>

  private let lists: StoredLists<Element, State>
  private let origins: AllowedOrigins
  private let make: @Sendable (String, FileStore<Element, State>) -> Endpoint
  private let endpoints = SharedEndpoints<Endpoint>()

  /// Creates an endpoint.
  ///
  /// - Parameters:
  ///   - lists: the lists.
  ///   - isShared: whether caches between server and client may keep pages.
  ///   - origins: the other sites whose pages may read the lists in a browser.
  public init(
    _ lists: StoredLists<Element, State>, isShared: Bool = false,
    origins: AllowedOrigins = .sameOrigin
  ) where Element: Encodable {
    self.lists = lists
    self.origins = origins
    make = { key, store in
      ListEndpoint(store, id: ListFiles.name(of: key), isShared: isShared, origins: origins)
    }
  }

  /// Returns the response to a request for the list with a key: 404 if there is none.
  ///
  /// - Cancellation: throws `CancellationError` when the task is cancelled while it waits.
  public nonisolated(nonsending) func response(
    to request: ListRequest, key: String
  ) async throws -> ListResponse {
    if let preflight = origins.preflight(request) { return preflight }
    guard let store = try await lists.store(key) else {
      let response = ListResponse(
        404, ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"],
        request.method == "HEAD" ? .empty : .data(Data("there is no such list\n".utf8)))
      return origins.answering(request, response)
    }
    let known = endpoints.known.withLock { $0[key] }
    // Of a list that was removed, and begun anew with the same key, the store is another one.
    if let known, known.tail.source === store { return try await known.response(to: request) }
    let endpoint = make(key, store)
    endpoints.known.withLock { known in
      known = known.filter { lists.isOpen($0.key) }
      // Nobody waits for a list that has ended.
      if lists.isOpen(key) { known[key] = endpoint }
    }
    return try await endpoint.response(to: request)
  }
}

/// The endpoints of lists that have not ended, by key: those that wait for one list share an endpoint.
private final class SharedEndpoints<Endpoint: Sendable>: Sendable {
  let known = Locked<[String: Endpoint]>([:])
}
