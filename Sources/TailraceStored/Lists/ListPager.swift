import TailraceLists

/// Gives the elements of a list in pages. One pager waits, another stores.
// Guard: the claim of the list that it pages for. May touch it: that list's task.
@usableFromInline
protocol ListPager {
  associatedtype Element: Sendable

  /// Gives the next page: one element or more, or the end.
  nonisolated(nonsending) mutating func page(
    _ steps: ListTask<Element>
  ) async throws -> ListPage<Element>
}

extension LazyList where Failure == any Error {
  /// The list of a pager's elements.
  ///
  /// A single element is written into a cell. Several are not copied: the list becomes their
  /// array, followed by a list that takes over the pager.
  ///
  /// - Parameters:
  ///   - pager: gives the elements. Its errors are thrown to readers and not remembered.
  ///   - capacity: of the first segment, and so how many elements a fold wants at once.
  ///   - stage: the function that makes the list.
  ///   - name: the name of the list before.
  @inlinable
  init<Pager: ListPager>(
    paging pager: Owned<Pager>, capacity: Int = Capacity<Element>.first, stage: StageName,
    name: ListName? = nil
  ) where Pager.Element == Element {
    let task = ListTask<Element>(stage: stage) { steps in
      while steps.begin() {
        let step: Step<Element>
        do {
          let page = try await pager.state.page(steps)
          if page.elements.count > 1 {
            let rest =
              page.isEnd
              ? LazyList()
              : LazyList(
                paging: pager, capacity: Capacity<Element>.following(capacity), stage: stage,
                name: steps.withList { $0.label })
            step = .become(LazyList(sharing: page.elements, then: rest))
          } else if let element = page.elements.first {
            step = page.isEnd ? .last(element) : .element(element)
          } else {
            step = .nothing(.end)
          }
        } catch {
          step = .nothing(.failedTransiently(error))
        }
        if steps.finish(step) { await steps.executor.park() }
      }
    }
    let evaluator = Evaluator(task)
    evaluator.label = name
    self.init(
      segment: Segment(owner: evaluator, capacity: capacity), offset: 0)
  }
}

/// How many elements are read at once: few at the head, then more and more.
@usableFromInline
struct PageSize {
  @usableFromInline private(set) var count = 32

  @inlinable
  init() {}

  @usableFromInline
  mutating func grow() { count = min(count * 2, 1024) }
}
