// Look-ahead may cause look-ahead in older lists only.
extension StepExecutor {
  /// Whether a list must not look ahead for the running code, because look-ahead has caused that.
  ///
  /// Look-ahead in a source goes on: it was made before the list that looks ahead. In a list that was made
  /// later, such as one that a step makes for `flatMap`, it pauses. So the numbers of a chain of causes fall,
  /// and a list that is defined by its own later elements causes no look-ahead without end.
  @usableFromInline
  static func isLimited(_ mark: LookaheadMark) -> Bool {
    current.map { mark.number >= $0.cause.load(ordering: .relaxed) } == true
  }
}
