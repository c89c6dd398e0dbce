/// An operator's name, for inspection: the function that made the stage.
///
/// One word: a stage of a list retains it for life.
// Guard: never written; the text is a constant of the program. May read it: everyone.
@usableFromInline
package struct StageName: ExpressibleByStringLiteral, @unchecked Sendable {
  @usableFromInline let start: UnsafePointer<UInt8>

  @inlinable @inline(__always)
  package init(stringLiteral: StaticString) { start = stringLiteral.utf8Start }

  /// An operator without its labels: `map`; an initializer with them: `LazyList(state:next:)`.
  package var text: String {
    let name = String(cString: start)
    if name == "init(_:)" { return "LazyList" }
    if name.hasPrefix("init(") { return "LazyList\(name.dropFirst(4))" }
    return String(name.prefix { $0 != "(" })
  }
}
