import Foundation
import TailraceLists
import TailraceObservation

#if canImport(SwiftUI)
  import SwiftUI
#endif

/// The view of the article *Pagination and SwiftUI*, compiled on every platform. Where SwiftUI is missing,
/// the declarations that it uses stand below with SwiftUI's signatures.
enum InSwiftUI {
  // begin Order
  struct Order: Identifiable, Sendable {
    let id: Int
    let title: String
  }
  // end

  struct OrderAPI: Sendable {
    let load: @Sendable (Int) async throws -> [Order]?

    func orders(page: Int) async throws -> [Order]? { try await load(page) }
  }

  // begin OrdersView
  struct OrdersView: View {
    @State private var model: ListModel<Order>

    init(api: OrderAPI) {
      _model = State(
        initialValue: ListModel(pageSize: 20) {
          LazyList(state: 1, retryingFailures: true) { page in
            let orders = try await api.orders(page: page)
            page += 1
            return orders
          }
          .flatMap { $0 }
        })
    }

    var body: some View {
      List {
        ForEach(model.elements) { order in
          Text(order.title)
            .onAppear {
              if order.id == model.elements.last?.id { model.loadMore() }
            }
        }
        switch model.phase {
        case .failed(let error):
          Text(error.localizedDescription)
          Button("Try again") { model.retry() }
        case .idle, .ended: EmptyView()
        default: ProgressView()
        }
      }
      .task { if model.elements.isEmpty { model.loadMore() } }
      .refreshable { await model.refresh().value }
    }
  }
  // end
}

#if !canImport(SwiftUI)
  @MainActor
  protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
  }

  extension View {
    func onAppear(perform action: (() -> Void)? = nil) -> some View { self }
    func task(
      @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { self }
    func refreshable(action: @escaping @Sendable () async -> Void) -> some View { self }
  }

  extension Never: View {
    var body: Never { fatalError("there is no such view") }
  }

  protocol Primitive: View where Body == Never {}

  extension Primitive {
    var body: Never { fatalError("\(Self.self) has no body") }
  }

  struct EmptyView: Primitive {}
  struct ProgressView: Primitive {}
  struct Pair<First: View, Second: View>: Primitive {}
  struct Either: Primitive {}
  struct Text: Primitive { init(_ content: some StringProtocol) {} }
  struct Button: Primitive { init(_ title: some StringProtocol, action: @escaping () -> Void) {} }
  struct List<Content: View>: Primitive { init(@ViewBuilder content: () -> Content) {} }
  struct ForEach<Data: RandomAccessCollection, Content: View>: Primitive
  where Data.Element: Identifiable {
    init(_ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content) {}
  }

  @resultBuilder @MainActor
  enum ViewBuilder {
    static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    static func buildBlock<First: View, Second: View>(
      _ first: First, _ second: Second
    ) -> some View { Pair<First, Second>() }
    static func buildEither(first: some View) -> Either { Either() }
    static func buildEither(second: some View) -> Either { Either() }
  }

  @propertyWrapper
  struct State<Value> {
    var wrappedValue: Value

    init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
    init(initialValue: Value) { self.init(wrappedValue: initialValue) }
  }
#endif
