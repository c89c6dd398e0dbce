/// Stops the program when it was written wrongly, in optimised builds with the same words as in
/// others: `precondition` keeps its words to itself there.
@inlinable @inline(__always)
func require(_ isRight: Bool, _ words: @autoclosure () -> String) {
  if !isRight { fatalError(words()) }
}
