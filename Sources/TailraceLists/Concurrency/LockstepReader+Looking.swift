extension LockstepReader: CustomDebugStringConvertible {
  /// The reader's number among the readers, its position, and the readers that it waits for.
  ///
  /// ```swift
  /// let readers = LazyList(1...).lockstep(readers: 2, maxLead: 4)
  /// var iterator = readers[0].makeAsyncIterator()
  /// _ = await iterator.next()
  /// print(readers)
  /// // [LockstepReader(0 of 2, within 4: at 1), LockstepReader(1 of 2, within 4: at 0, not read yet)]
  /// ```
  ///
  /// A reader that waits says for which, by their places in the array: `LockstepReader(0 of 3, within
  /// 4: at 21, waits for reader 2, at 17)`. A position is the number of elements taken, or their
  /// cost.
  ///
  /// - Laziness: requests nothing, and disturbs no reader.
  /// - Complexity: O(*readers*).
  public var debugDescription: String {
    let (group, number) = (start.group, start.number)
    let words = group.standings(of: number..<number + 1).map(LockstepWords.text)
    return "LockstepReader(\(number) of \(group.count), within \(group.distance): \(words[0]))"
  }
}

enum LockstepWords {
  /// The position of a reader, and how it is getting on.
  static func text(_ reader: LockstepStanding) -> String {
    switch reader.standing {
    case .notRead: "at \(reader.position), not read yet"
    case .reading: "at \(reader.position)"
    case .waiting(let others, let position):
      "at \(reader.position), waits for \(names(others)), at \(position)"
    case .over: "at \(reader.position), over"
    }
  }

  /// At most three of them.
  private static func names(_ readers: [Int]) -> String {
    guard readers.count > 1, let last = readers.last else {
      return "reader \(readers.first.map(String.init) ?? "?")"
    }
    if readers.count <= 3 {
      return "readers \(readers.dropLast().map(String.init).joined(separator: ", ")) and \(last)"
    }
    let first = readers.prefix(2).map(String.init).joined(separator: ", ")
    return "readers \(first) and \(readers.count - 2) others"
  }
}
