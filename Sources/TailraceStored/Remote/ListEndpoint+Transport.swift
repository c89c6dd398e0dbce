import Foundation
import TailraceLists
import TailraceSupport

extension ListEndpoint {
  /// A way to this endpoint without a network, for tests and previews.
  ///
  /// ```swift
  /// let prices = MemoryStore<Int, Int>([17, 18, 21], isEnded: true)
  /// let remote = RemoteList<Int>(
  ///   ListEndpoint(prices).transport, path: "/prices", element: .json)
  /// try await LazyList(reading: remote).array()   // [17, 18, 21]
  /// ```
  ///
  /// The path's query has the parameters; the path itself makes no difference.
  public var transport: RemoteTransport {
    { request in
      let items = URLComponents(string: request.path)?.queryItems
      let response = try await response(
        to: ListRequest(method: request.method) { name in
          items?.first { $0.name == name }?.value
        } header: { name in
          request.headers.first { $0.key.lowercased() == name.lowercased() }?.value
        })
      return RemoteResponse(response)
    }
  }
}

extension RemoteResponse {
  init(_ response: ListResponse) {
    switch response.body {
    case .empty: self.init(status: response.status, headers: response.headers)
    case .data(let data):
      self.init(status: response.status, headers: response.headers, body: [Array(data)])
    case .events(let events):
      self.init(status: response.status, headers: response.headers, body: events)
    }
  }
}
