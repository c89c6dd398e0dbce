/// What an operator is called, for those who look at a list: the function that made the stage.
///
/// One word: a stage of a list has it for as long as it lives.
// Guard: never written; the text is a constant of the program. May read it: everybody.
@usableFromInline
struct StageName: ExpressibleByStringLiteral, @unchecked Sendable {
  @usableFromInline let start: UnsafePointer<UInt8>

  @inlinable @inline(__always)
  init(stringLiteral: StaticString) { start = stringLiteral.utf8Start }

  /// Without the labels of an operator: `map`; with those of an initializer: `LazyList(state:next:)`.
  var text: String {
    let name = String(cString: start)
    if name == "init(_:)" { return "LazyList" }
    if name.hasPrefix("init(") { return "LazyList\(name.dropFirst(4))" }
    return String(name.prefix { $0 != "(" })
  }
}

/// A stage, as seen from outside. Guard: as the stage's own.
protocol Staged: AnyObject {
  var stage: StageName? { get }
  /// What the stage pulls from: an object that can be looked at, as long as the stage does not run.
  var upstream: AnyObject? { get }
}

extension Producer: Staged {}
extension AsyncProducer: Staged {}
