public import Foundation

/// The response of an ``ListEndpoint``: the values from which a server makes an HTTP response.
public struct ListResponse: Sendable {
  /// The status code, such as 200.
  public var status: Int
  /// The header fields by name. Length and encoding of the body are left to the server.
  public var headers: [String: String]
  /// The body.
  public var body: Body

  /// The body of a response.
  public enum Body: Sendable {
    /// No body, as for 204, 304 and `HEAD`.
    case empty
    /// Bytes that are there.
    case data(Data)
    /// Bytes that come as the list grows.
    case events(ListEvents)
  }

  init(_ status: Int, _ headers: [String: String], _ body: Body) {
    self.status = status
    let common = [
      "X-Content-Type-Options": "nosniff",
      // One address has pages and events.
      "Vary": "Accept",
      ListOffset.field: ListOffset.form,
    ]
    self.headers = headers.merging(common) { own, _ in own }
    self.body = body
  }
}
