/// Stops the program when it was written wrongly, at the line that its author wrote, in optimised
/// builds with the same words as in others: `precondition` keeps its words to itself there.
@inlinable @inline(__always)
func require(
  _ isRight: Bool, _ words: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if !isRight { fatalError(words(), file: file, line: line) }
}
