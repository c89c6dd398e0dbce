/// Stops a wrong program at its author's line, with the same message in all builds: `precondition`
/// omits its message in optimised ones.
@inlinable @inline(__always)
package func require(
  _ isRight: Bool, _ words: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if !isRight { fatalError(words(), file: file, line: line) }
}

/// Stops a wrong program where its author's line is not known, as in what a protocol requires, or in a task
/// that somebody else started. The message names the package in the place of a file: a line of ours would
/// lead its reader astray.
@inlinable
package func misuse(_ words: String) -> Never { fatalError(words, file: "Tailrace", line: 0) }
