import Foundation
import Observation
import TailraceLists
import TailraceObservation

#if canImport(UIKit)
  import UIKit
#endif

/// The table of the article *Pagination and SwiftUI*, compiled on every platform. Where UIKit is missing, the
/// declarations that it uses stand below with UIKit's signatures.
enum InUIKit {
  typealias Order = InSwiftUI.Order

  static func orders() -> LazyList<Order, any Error> { .empty }

  // begin OrdersController
  final class OrdersController: UITableViewController {
    private let model = ListModel(pageSize: 20) { orders() }
    private lazy var source = UITableViewDiffableDataSource<Int, Order.ID>(
      tableView: tableView
    ) { [model] table, path, _ in
      let cell = table.dequeueReusableCell(withIdentifier: "order", for: path)
      cell.textLabel?.text = model.elements[path.row].title
      return cell
    }

    override func viewDidLoad() {
      super.viewDidLoad()
      observe()
      model.loadMore()
    }

    private func observe() {
      withObservationTracking {
        var snapshot = NSDiffableDataSourceSnapshot<Int, Order.ID>()
        snapshot.appendSections([0])
        snapshot.appendItems(model.elements.map(\.id))
        // Elements that were replaced keep their identity.
        let shown = Set(source.snapshot().itemIdentifiers)
        snapshot.reconfigureItems(snapshot.itemIdentifiers.filter(shown.contains))
        source.apply(snapshot, animatingDifferences: true)
      } onChange: { [weak self] in
        Task { @MainActor in self?.observe() }
      }
    }

    override func tableView(
      _ table: UITableView, willDisplay cell: UITableViewCell,
      forRowAt path: IndexPath
    ) {
      if path.row + 5 > model.elements.count { model.loadMore() }
    }
  }
  // end
}

#if !canImport(UIKit)
  @MainActor
  class UITableViewController {
    var tableView: UITableView! = UITableView()

    func viewDidLoad() {}
    func tableView(
      _ table: UITableView, willDisplay cell: UITableViewCell, forRowAt path: IndexPath
    ) {}
  }

  @MainActor
  class UITableView {
    func dequeueReusableCell(
      withIdentifier identifier: String, for path: IndexPath
    ) -> UITableViewCell {
      UITableViewCell()
    }
  }

  @MainActor
  class UITableViewCell { var textLabel: UILabel? }

  @MainActor
  class UILabel { var text: String? }

  extension IndexPath {
    var row: Int { self[1] }
  }

  struct NSDiffableDataSourceSnapshot<Section: Hashable & Sendable, Item: Hashable & Sendable> {
    private(set) var itemIdentifiers: [Item] = []

    mutating func appendSections(_ sections: [Section]) {}
    mutating func appendItems(_ items: [Item]) { itemIdentifiers += items }
    mutating func reconfigureItems(_ items: [Item]) {}
  }

  @MainActor
  class UITableViewDiffableDataSource<Section: Hashable & Sendable, Item: Hashable & Sendable> {
    typealias Snapshot = NSDiffableDataSourceSnapshot<Section, Item>

    private var current = Snapshot()

    init(
      tableView: UITableView,
      cellProvider: @escaping (UITableView, IndexPath, Item) -> UITableViewCell?
    ) {}

    func snapshot() -> Snapshot { current }
    func apply(_ snapshot: Snapshot, animatingDifferences: Bool) { current = snapshot }
  }
#endif
