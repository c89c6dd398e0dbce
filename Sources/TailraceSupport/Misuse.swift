/// Stops a wrong program at its author's line, with the same message in all builds: `precondition`
/// omits its message in optimised ones.
@inlinable @inline(__always)
package func require(
  _ isRight: Bool, _ words: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if !isRight { fatalError(words(), file: file, line: line) }
}
