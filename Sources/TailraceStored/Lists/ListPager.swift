import TailraceLists

/// Gives the elements of a list in pages. One pager waits, another stores.
// Guard: the list's steps. May touch it: their task.
@usableFromInline
protocol ListPager {
  associatedtype Element: Sendable

  /// Gives the next page: one element or more, or the end.
  nonisolated(nonsending) mutating func page(
    _ demand: PageDemand<Element>
  ) async throws -> ListPage<Element>
}

/// How many elements the reader wants for whom a page is made.
@usableFromInline
struct PageDemand<Element: Sendable> {
  @usableFromInline let steps: AsyncSteps<Element>
  @usableFromInline let capacity: Int

  @_alwaysEmitIntoClient
  init(_ steps: AsyncSteps<Element>, _ capacity: Int) {
    (self.steps, self.capacity) = (steps, capacity)
  }

  /// One, also once the reader does not drive the step any more, or was cancelled.
  @_alwaysEmitIntoClient var wanted: Int { steps.wanted(of: capacity) }
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
  @_alwaysEmitIntoClient
  init<Pager: ListPager>(
    paging pager: Owned<Pager>, capacity: Int = Capacity<Element>.first, stage: StageName,
    name: ListName? = nil
  ) where Pager.Element == Element {
    let steps = AsyncSteps<Element>(stage: stage, bringsPages: true) { steps in
      while steps.begin() {
        let step: Step<Element>
        do {
          let page = try await pager.state.page(PageDemand(steps, capacity))
          if page.elements.count > 1 {
            let rest =
              page.isEnd
              ? LazyList()
              : LazyList(
                paging: pager, capacity: Capacity<Element>.following(capacity), stage: stage,
                name: steps.label)
            step = .become(LazyList(sharing: page.elements, then: rest).place)
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
    let evaluator = Evaluator(steps)
    evaluator.label = name
    self.init(
      segment: Segment(owner: evaluator, capacity: capacity), offset: 0)
  }
}

/// How many elements are read at once: few at the head, then more and more.
@usableFromInline
struct PageSize {
  @usableFromInline private(set) var count = 32

  @_alwaysEmitIntoClient
  init() {}

  @usableFromInline
  mutating func grow() { count = min(count * 2, 1024) }
}
