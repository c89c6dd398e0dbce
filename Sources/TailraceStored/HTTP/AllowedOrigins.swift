/// The other sites whose pages may read a list in a browser (CORS).
///
/// A page of the endpoint's own origin always may, and so does every client that is no browser: this is no
/// protection of the list, but of people whose browser has rights that another site's page has not.
public enum AllowedOrigins: Sendable, Hashable {
  /// No other site's pages.
  case sameOrigin
  /// The pages of all sites, without cookies and the like.
  case all
  /// The pages of these sites, such as `https://example.com`, also with cookies.
  case only(Set<String>)
}

extension AllowedOrigins {
  /// What a page may read of a response beside its body.
  private static let exposed =
    "ETag, Stream-Next-Offset, Stream-First-Offset, Stream-Cursor, Stream-Up-To-Date, Stream-Closed, "
    + ListOffset.field

  /// A response with the fields for other sites.
  func answering(_ request: ListRequest, _ response: ListResponse) -> ListResponse {
    var response = response
    response.headers.merge(headers(for: request.origin)) { _, new in new }
    return response
  }

  /// The response to the request that a browser makes before others, whether or not there is a list: if it is
  /// refused, the page never hears the status of what follows. `nil` if it is another request, or if no other
  /// site may read.
  func preflight(_ request: ListRequest) -> ListResponse? {
    guard request.method == "OPTIONS", self != .sameOrigin else { return nil }
    let response = ListResponse(
      204,
      [
        "Allow": "GET, HEAD, OPTIONS", "Access-Control-Allow-Methods": "GET, HEAD",
        "Access-Control-Allow-Headers":
          "Accept, Authorization, Cache-Control, If-None-Match, Last-Event-ID",
        "Access-Control-Max-Age": "86400", "Cache-Control": "no-store",
      ], .empty)
    return answering(request, response)
  }

  /// - Parameter origin: of the page that asks; `nil` if none does.
  private func headers(for origin: String?) -> [String: String] {
    switch self {
    case .sameOrigin: return ["Cross-Origin-Resource-Policy": "same-origin"]
    case .all:
      return [
        "Cross-Origin-Resource-Policy": "cross-origin", "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": Self.exposed,
      ]
    case .only(let origins):
      // The same address has other fields for other sites.
      let common = ["Cross-Origin-Resource-Policy": "cross-origin", "Vary": "Accept, Origin"]
      guard let origin, origins.contains(origin) else { return common }
      return common.merging([
        "Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true",
        "Access-Control-Expose-Headers": Self.exposed,
      ]) { own, _ in own }
    }
  }
}
