/// A request for a part of a list: the values that an ``ListEndpoint`` needs of an HTTP request.
///
/// ```swift
/// let query = ["offset": "-1", "live": "long-poll"]
/// let fields = ["accept": "application/json"]
/// let request = ListRequest(
///   method: "GET", query: { query[$0] },
///   header: { fields[$0.lowercased()] })
/// request.live   // "long-poll"
/// ```
public struct ListRequest: Sendable, Hashable {
  /// `GET` or `HEAD`, and `OPTIONS` if the endpoint allows other origins; other methods are answered with
  /// 405.
  public var method: String
  /// The query parameter `offset`: where to begin. An offset that a response has named, `-1` for
  /// the first element, or `now` for the end of what is stored.
  public var offset: String?
  /// The query parameter `live`: `long-poll` or `sse`; without it, only stored elements are read.
  public var live: String?
  /// The query parameter `limit`: at most how many elements; the endpoint has a limit of its own.
  public var limit: String?
  /// The query parameter `cursor`: the `Stream-Cursor` of the last response.
  public var cursor: String?
  /// The header field `If-None-Match`.
  public var ifNoneMatch: String?
  /// The header field `Accept`: `text/event-stream` asks for `live=sse`.
  public var accept: String?
  /// The header field `Last-Event-ID`, which a browser sends when it connects again.
  public var lastEventID: String?
  /// The header field `Origin`: of a page of another site, in a browser.
  public var origin: String?

  /// Creates a request.
  public init(
    method: String = "GET", offset: String? = nil, live: String? = nil, limit: String? = nil,
    cursor: String? = nil, ifNoneMatch: String? = nil, accept: String? = nil,
    lastEventID: String? = nil, origin: String? = nil
  ) {
    self.method = method
    self.offset = offset
    self.live = live
    self.limit = limit
    self.cursor = cursor
    self.ifNoneMatch = ifNoneMatch
    self.accept = accept
    self.lastEventID = lastEventID
    self.origin = origin
  }

  /// Creates a request from that of a server.
  ///
  /// - Parameters:
  ///   - method: the method, such as `GET`.
  ///   - query: returns the decoded value of a query parameter; `nil` if there is none.
  ///   - header: returns the value of a header field; `nil` if there is none. Names of header
  ///     fields are case-insensitive.
  public init(
    method: String, query: (_ name: String) -> String?, header: (_ name: String) -> String?
  ) {
    self.init(
      method: method, offset: query("offset"), live: query("live"), limit: query("limit"),
      cursor: query("cursor"), ifNoneMatch: header("If-None-Match"), accept: header("Accept"),
      lastEventID: header("Last-Event-ID"), origin: header("Origin"))
  }
}
