// Lists that grow by arrays: what is read in blocks, such as a file, is not copied into cells.
extension LazyList {
  /// The elements of the arrays that an asynchronous sequence gives, read where they are.
  ///
  /// - Laziness: stepwise, one array at a time.
  package init<S: AsyncSequence>(runs sequence: sending S)
  where S.Element == [Element], S.Failure == Failure {
    self = .growing(by: Owned(sequence.makeAsyncIterator()))
  }

  /// What is left of a source, which is handed from the list in front to the list behind.
  private static func growing<I: AsyncIteratorProtocol>(by source: Owned<I>) -> LazyList
  where I.Element == [Element], I.Failure == Failure {
    .suspending { () throws(Interruption<Failure>) in
      do throws(Failure) {
        while let run = try await source.state.next(isolation: #isolation) {
          if !run.isEmpty { return .become(LazyList(sharing: run, then: growing(by: source))) }
        }
        return .end
      } catch {
        throw .failed(error)
      }
    }
  }

  /// The elements of an array, where they are, then those of a list.
  ///
  /// - Parameter elements: one or more.
  private init(sharing elements: [Element], then rest: LazyList) {
    self.init(sharing: elements)
    // Nobody else can see the segment yet.
    if let segment, let next = rest.segment { segment.link = .more(next, rest.offset) }
  }
}
