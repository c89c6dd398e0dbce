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
/// print(await model.elements, await model.phase)   // ["order 1", "order 2", "order 3"] ended
/// ```
///
/// On the main actor, only the wait for a page needs an `await`.
///
/// The model reads its list a page at a time, and lets go of what it has read, so the elements are kept
/// once. It begins with nothing, and loads nothing by itself.
///
/// - Isolation: the main actor. The list computes where lists compute.
/// - Failure: the elements that are there stay. The phase has the error, and ``retry()`` goes on at the
///   same place. Make the list with `retryingFailures: true`; otherwise it remembers the failure.
/// - Cancellation: ``cancel()`` ends the wait, and the request, too, if the list was made with
///   `cancelsUnobservedSteps: true`. The release of the model ends the request: then nobody holds the
///   rest of the list any more.
@MainActor
@Observable
public final class ListModel<Element: Sendable> {
  /// What the model does.
  public enum Phase: Sendable {
    /// There may be more, and nothing is being loaded.
    case idle
    /// A page is being loaded.
    case loading
    /// A page could not be loaded.
    case failed(any Error)
    /// There is no more.
    case ended
  }

  /// What has been loaded.
  public private(set) var elements: [Element] = []
  /// What the model does.
  public private(set) var phase = Phase.idle

  @ObservationIgnored private let pageSize: Int
  @ObservationIgnored private let makeList: @Sendable () -> LazyList<Element, any Error>
  @ObservationIgnored private let identify: (@Sendable (Element) -> AnyHashable)?
  /// What comes after the elements; `nil` before the first page.
  @ObservationIgnored private var rest: LazyList<Element, any Error>?
  /// Where each element is, by its identity.
  @ObservationIgnored private var positions: [AnyHashable: Int] = [:]
  @ObservationIgnored private var work: Work?
  @ObservationIgnored private var task: Task<Void, Never>?

  /// What is being loaded, or could not be.
  private enum Work { case more, refresh }

  private init(
    _ pageSize: Int, _ file: StaticString, _ line: UInt,
    _ identify: (@Sendable (Element) -> AnyHashable)?,
    _ makeList: @escaping @Sendable () -> LazyList<Element, any Error>
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
  ///   - makeList: makes the list, for the first page, and again for each ``refresh()``. A closure that
  ///     captures the model's owner should do so weakly.
  public convenience init<Failure: Error>(
    pageSize: Int, file: StaticString = #fileID, line: UInt = #line,
    _ makeList: @escaping @Sendable () -> LazyList<Element, Failure>
  ) {
    self.init(pageSize, file, line, nil) { makeList().throwingCancellation }
  }

  /// Creates a model of a list whose elements have an identity: no element is shown twice. If it comes
  /// again, because pages have moved, the newer one takes the place of the older one.
  public convenience init<Failure: Error>(
    pageSize: Int, file: StaticString = #fileID, line: UInt = #line,
    _ makeList: @escaping @Sendable () -> LazyList<Element, Failure>
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
  /// - Returns: the task that loads. To await it is to wait for the page. To cancel it is ``cancel()``.
  @discardableResult
  public func loadMore() -> Task<Void, Never> {
    if case .idle = phase { return begin(.more) }
    return task ?? Task {}
  }

  /// Tries again what could not be loaded: the next page, or the refreshment.
  ///
  /// - Returns: the task that loads.
  @discardableResult
  public func retry() -> Task<Void, Never> {
    if case .failed = phase { return begin(work ?? .more) }
    return task ?? Task {}
  }

  /// Makes a new list, and loads its first page. The elements stay until that page is there.
  ///
  /// A next page that is being loaded is given up. A second refreshment while one is under way joins
  /// it.
  ///
  /// - Returns: the task that loads, for `.refreshable { await model.refresh().value }`.
  @discardableResult
  public func refresh() -> Task<Void, Never> {
    if case .loading = phase {
      if case .refresh? = work, let task { return task }
      cancel()
    }
    return begin(.refresh)
  }

  /// Ends the loading of a page. The next one is the same page again.
  public func cancel() {
    guard case .loading = phase else { return }
    task?.cancel()
    (task, work, phase) = (nil, nil, .idle)
  }

  private func begin(_ work: Work) -> Task<Void, Never> {
    (self.work, phase) = (work, .loading)
    let start =
      switch work {
      case .more: rest ?? makeList()
      case .refresh: makeList()
      }
    // The list computes on, and is remembered, if the page is given up.
    if case .more = work { rest = start }
    let task = Task { [weak self, pageSize] in
      var page = Page(of: start)
      repeat {
        await page.load(pageSize)
        guard !Task.isCancelled, let self else { return }
        if self.show(&page, of: work) { return }
      } while true
    }
    self.task = task
    return task
  }

  /// Shows what has been loaded. False if there was nothing new in it, and there is more.
  private func show(_ page: inout Page<Element>, of work: Work) -> Bool {
    let isFirst = if case .refresh? = self.work { true } else { false }
    if isFirst, let failure = page.failure, page.elements.isEmpty {
      phase = .failed(failure)
      return true
    }
    if isFirst {
      // From here on it is a page as others.
      (elements, positions, self.work) = ([], [:], .more)
    }
    let isNew = append(page.elements)
    rest = page.rest
    page.elements = []
    if let failure = page.failure {
      phase = .failed(failure)
    } else if page.hasEnded {
      phase = .ended
    } else if isNew {
      phase = .idle
    } else {
      return false
    }
    if case .failed = phase { return true }
    (self.work, task) = (nil, nil)
    return true
  }

  /// True if one of them was not there.
  private func append(_ page: [Element]) -> Bool {
    guard let identify else {
      elements += page
      return !page.isEmpty
    }
    var isNew = false
    var changed = elements
    for element in page {
      let identity = identify(element)
      if let position = positions[identity] {
        changed[position] = element
      } else {
        positions[identity] = changed.count
        changed.append(element)
        isNew = true
      }
    }
    // Observers are told once.
    if !page.isEmpty { elements = changed }
    return isNew
  }
}

extension ListModel.Phase: CustomStringConvertible {
  /// Whether a page is being loaded.
  public var isLoading: Bool { if case .loading = self { true } else { false } }

  /// Why a page could not be loaded.
  public var error: (any Error)? { if case .failed(let error) = self { error } else { nil } }

  public var description: String {
    switch self {
    case .idle: "idle"
    case .loading: "loading"
    case .failed(let error): "failed(\(error))"
    case .ended: "ended"
    }
  }
}
