/// How errors and recordings call a list, or the cell of a value that is no list for its user.
@usableFromInline
package struct Title: Equatable, Sendable {
  package let text: String
  /// For the cell of a value: the advice to who has defined values that need each other.
  let remedy: String?

  package init(_ text: String, remedy: String? = nil) { (self.text, self.remedy) = (text, remedy) }
}

extension Title: ExpressibleByStringInterpolation, CustomStringConvertible {
  @usableFromInline package init(stringLiteral text: String) { self.init(text) }
  @usableFromInline package var description: String { text }
}
