public import Observation
public import TailraceLists

/// The pages of a list as far as they are loaded, for a view.
///
/// ```swift
/// let model = await ListModel(pageSize: 2) {
///   LazyList(state: 1) { number async throws -> String? in
///     defer { number += 1 }
///     return number <= 3 ? "order \(number)" : nil
///   }
/// }
/// await model.loadMore().value
/// print(await model.elements)   // ["order 1", "order 2"]
/// await model.loadMore().value
/// print(await model.elements, await model.phase)
/// // ["order 1", "order 2", "order 3"] ended
/// ```
///
/// On the main actor, only the wait for a page needs an `await`.
///
/// The model reads its list a page at a time, and lets go of what it has read, so the elements are kept
/// once. It begins with nothing, and loads nothing by itself.
///
/// - Isolation: the main actor, also for the closure that makes the list. The list computes where lists
///   compute.
/// - Failure: the elements that are there stay. The phase has the error, and ``retry()`` continues at the
///   same place. Make the list with `retryingFailures: true`; otherwise it keeps the failure.
/// - Cancellation: ``cancel()``, and the cancellation of the task that loads, end the wait; and the
///   request, too, if the list was made with `cancelsUnobservedSteps: true`. The release of the model
///   ends the request: then nobody holds the rest of the list any more.
@MainActor
@Observable
public final class ListModel<Element: Sendable> {
  /// What the model does.
  public enum Phase: Sendable {
    /// There may be more, and nothing is being loaded.
    case idle
    /// The next page is being loaded.
    case loadingMore
    /// The first page of a new list is being loaded. The elements are those of the former list.
    case refreshing
    /// A page could not be loaded.
    case failed(any Error)
    /// There is no more.
    case ended
  }

  /// What has been loaded.
  public private(set) var elements: [Element] = []
  /// What the model does.
  public var phase: Phase { state.phase() }

  private var state = PagingState()
  @ObservationIgnored private let pageSize: Int
  @ObservationIgnored private let makeList: @MainActor () -> LazyList<Element, any Error>
  @ObservationIgnored private let identify: (@Sendable (Element) -> AnyHashable)?
  /// What comes after the elements; `nil` before the first page.
  @ObservationIgnored private var rest: LazyList<Element, any Error>?
  /// Where each element is, by its identity.
  @ObservationIgnored private var positions: [AnyHashable: Int] = [:]
  @ObservationIgnored private var task: Task<Void, Never>?

  private init(
    _ pageSize: Int, _ file: StaticString, _ line: UInt,
    _ identify: (@Sendable (Element) -> AnyHashable)?,
    _ makeList: @escaping @MainActor () -> LazyList<Element, any Error>
  ) {
    precondition(
      pageSize > 0, "a ListModel takes pages of 1 element or more, not \(pageSize)", file: file,
      line: line)
    (self.pageSize, self.identify, self.makeList) = (pageSize, identify, makeList)
  }

  /// Creates a model of a list.
  ///
  /// - Parameters:
  ///   - pageSize: the elements of a page, 1 or more; less is a programmer's error and traps.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  ///   - makeList: makes the list, for the first page, and again for each ``refresh()``. It runs on the
  ///     main actor, so it can read what the list is made of from the model's owner. The model holds the
  ///     closure: capture the owner weakly.
  public convenience init<Failure: Error>(
    pageSize: Int, file: StaticString = #fileID, line: UInt = #line,
    _ makeList: @escaping @MainActor () -> LazyList<Element, Failure>
  ) {
    self.init(pageSize, file, line, nil) { makeList().throwingCancellation }
  }

  /// Creates a model of a list whose elements have an identity: no element is shown twice. If it comes
  /// again, because pages have moved, the newer one takes the place of the older one.
  public convenience init<Failure: Error>(
    pageSize: Int, file: StaticString = #fileID, line: UInt = #line,
    _ makeList: @escaping @MainActor () -> LazyList<Element, Failure>
  ) where Element: Identifiable {
    self.init(pageSize, file, line, { AnyHashable($0.id) }) { makeList().throwingCancellation }
  }

  deinit { task?.cancel() }

  // MARK: Loading

  /// Loads the next page, unless a page is being loaded, the list has ended, or the last page could not
  /// be loaded.
  ///
  /// ```swift
  /// let model = await ListModel(pageSize: 2) { LazyList(1...9) }
  /// for _ in 1...5 { await model.loadMore() }   // one page
  /// ```
  ///
  /// Each call loads at most one page. If nothing in it is new, the phase is ``Phase/idle`` all the
  /// same, and the next call loads the page after it: a server that repeats itself is not asked without
  /// end.
  ///
  /// - Returns: the task that loads. To await it is to wait for the page. To cancel it is ``cancel()``.
  @discardableResult
  public func loadMore() -> Task<Void, Never> { load(state.loadMore()) }

  /// Tries again what could not be loaded: the next page, or the refreshment.
  ///
  /// - Returns: the task that loads.
  @discardableResult
  public func retry() -> Task<Void, Never> { load(state.retry()) }

  /// Makes a new list, and loads its first page. The elements stay until that page is there.
  ///
  /// A page that is being loaded is given up, also that of an earlier refreshment: it may be of a list
  /// that was made of something else, such as an older search text. Its task ends, and shows nothing.
  ///
  /// - Returns: the task that loads, for `.refreshable { await model.refresh().value }`.
  @discardableResult
  public func refresh() -> Task<Void, Never> {
    task?.cancel()
    return load(state.refresh())
  }

  /// Ends the loading of a page. The next one is the same page again.
  public func cancel() {
    task?.cancel()
    task = nil
    state.cancel()
  }

  private func load(_ loading: (work: PagingState.Work, number: Int)?) -> Task<Void, Never> {
    guard let (work, number) = loading else { return task ?? Task {} }
    let start = work == .more ? rest ?? makeList() : makeList()
    // The list computes on, and is remembered, if the page is given up.
    if work == .more { rest = start }
    let task = Task { [weak self, pageSize] in
      var page = Page(of: start)
      await page.load(pageSize)
      self?.end(number, with: page)
    }
    self.task = task
    return task
  }

  /// A task has loaded what it could.
  private func end(_ number: Int, with page: Page<Element>) {
    let outcome: PagingState.Outcome =
      if Task.isCancelled {
        .cancelled
      } else if let failure = page.failure {
        .failure(failure, hasElements: !page.elements.isEmpty)
      } else {
        .page(isLast: page.hasEnded)
      }
    var state = state
    let shown = state.end(number, outcome)
    if let shown {
      show(page.elements, replacing: shown == .again)
      rest = page.rest
    }
    // After the elements: whoever is told of the phase sees them.
    self.state = state
    if case .loading = state.state { return }
    task = nil
  }

  // Observers are told once.
  private func show(_ page: [Element], replacing: Bool) {
    if page.isEmpty, !replacing || elements.isEmpty { return }
    if replacing { positions = [:] }
    var changed = replacing ? [] : elements
    for element in page {
      let identity = identify?(element)
      if let identity, let position = positions[identity] {
        changed[position] = element
      } else {
        if let identity { positions[identity] = changed.count }
        changed.append(element)
      }
    }
    elements = changed
  }
}

extension PagingState {
  fileprivate func phase<Element>() -> ListModel<Element>.Phase {
    switch state {
    case .idle: .idle
    case .loading(.more, _): .loadingMore
    case .loading(.again, _): .refreshing
    case .failed(let error, _): .failed(error)
    case .ended: .ended
    }
  }
}

extension ListModel.Phase: CustomStringConvertible {
  /// Whether a page is being loaded, the next one or the first one of a new list.
  public var isLoading: Bool {
    switch self {
    case .loadingMore, .refreshing: true
    case .idle, .failed, .ended: false
    }
  }

  /// Why a page could not be loaded.
  public var error: (any Error)? { if case .failed(let error) = self { error } else { nil } }

  public var description: String {
    switch self {
    case .idle: "idle"
    case .loadingMore: "loading more"
    case .refreshing: "refreshing"
    case .failed(let error): "failed(\(error))"
    case .ended: "ended"
    }
  }
}
