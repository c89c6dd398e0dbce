/// A place in a list of a server, to be kept: the list is read on from there in another process.
///
/// ```swift
/// let place = RemotePlace.beginning
/// place.position   // 0
/// ```
public struct RemotePlace: Codable, Sendable, Hashable {
  /// How many elements are before it.
  public let position: Int
  /// The server's name of this place, or of one before it.
  let offset: String
  /// How many elements are before the place that the offset names.
  let named: Int
  /// Whether offsets consist of identity and position.
  let isOurs: Bool

  /// Before the first element.
  public static let beginning = RemotePlace(
    position: 0, offset: ListOffset.beginning, named: 0, isOurs: false)
}
