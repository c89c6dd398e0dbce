import Observation

/// The element of the model by hand.
struct Order: Identifiable, Equatable, Sendable {
  let id: Int
}

// What the article shows beside `ListModel`: the rest of this file.
@MainActor @Observable
final class Orders {
  enum Phase { case idle, loadingMore, refreshing, failed(any Error), ended }

  private(set) var elements: [Order] = []
  private(set) var phase = Phase.idle
  private let load: @Sendable (Int) async throws -> [Order]?
  private var page = 1
  private var isRefreshing = false
  private var positions: [Order.ID: Int] = [:]
  @ObservationIgnored private var task: Task<Void, Never>?

  init(load: @escaping @Sendable (Int) async throws -> [Order]?) { self.load = load }
  deinit { task?.cancel() }

  func loadMore() { if case .idle = phase { begin() } }
  func retry() { if case .failed = phase { begin() } }

  func refresh() {
    cancel()
    isRefreshing = true
    begin()
  }

  func cancel() {
    switch phase {
    case .loadingMore, .refreshing:
      task?.cancel()
      (task, phase, isRefreshing) = (nil, .idle, false)
    case .idle, .failed, .ended: break
    }
  }

  private func begin() {
    phase = isRefreshing ? .refreshing : .loadingMore
    let number = isRefreshing ? 1 : page
    task = Task { [weak self, load] in
      do {
        let orders = try await load(number)
        if !Task.isCancelled { self?.show(orders, number) }
      } catch {
        if !Task.isCancelled { self?.phase = .failed(error) }
      }
    }
  }

  private func show(_ orders: [Order]?, _ number: Int) {
    if isRefreshing { (elements, positions, isRefreshing) = ([], [:], false) }
    guard let orders else { return phase = .ended }
    var changed = elements
    for order in orders {
      if let position = positions[order.id] {
        changed[position] = order
      } else {
        positions[order.id] = changed.count
        changed.append(order)
      }
    }
    (elements, page, phase) = (changed, number + 1, .idle)
  }
}
