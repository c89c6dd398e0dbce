// Lists that grow by arrays: blocks, such as those of a file, are not copied into cells.
extension LazyList {
  /// The elements of the arrays that an asynchronous sequence gives, read in place.
  ///
  /// - Laziness: stepwise, one array at a time.
  package init<S: AsyncSequence>(runs sequence: sending S)
  where S.Element == [Element], S.Failure == Failure {
    self = .growing(by: Owned(sequence.makeAsyncIterator()))
  }

  /// The rest of a source, which each list passes to the list after it.
  private static func growing<I: AsyncIteratorProtocol>(by source: Owned<I>) -> LazyList
  where I.Element == [Element], I.Failure == Failure {
    LazyList(
      stage: "LazyList",
      inTask: { steps in
        await steps.take {
          do throws(Failure) {
            while let run = try await source.state.next(isolation: #isolation) {
              if !run.isEmpty {
                return .become(LazyList(sharing: run, then: growing(by: source)).widened())
              }
            }
            return .nothing(.end)
          } catch {
            return .nothing(.failed(error))
          }
        }
      })
  }

  /// The elements of an array, in place, then those of a list.
  ///
  /// - Parameter elements: one or more.
  @usableFromInline
  init(sharing elements: [Element], then rest: LazyList) {
    let storage = Storage(elements[...])
    let link: Link<Element> = rest.segment.map { .more($0, rest.offset) } ?? .end
    self.init(segment: Segment(storage: storage, link: link), offset: 0)
  }
}
