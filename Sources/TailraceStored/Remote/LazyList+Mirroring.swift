public import TailraceLists
import TailraceSupport

extension LazyList where Failure == any Error {
  /// Creates a list of a server's elements that are kept in a store.
  ///
  /// Stored elements are read without the server, also after this process has ended; the others are read
  /// from the server, and stored. The store's state is the place in the server's list, so that a list which
  /// was begun again on the server is not mixed with the old one.
  ///
  /// ```swift
  /// let store = FileStore<Token, RemotePlace>(url, element: .json, state: .json)
  /// let tokens = LazyList(mirroring: remote, in: store)
  /// try await tokens.map(\.text).array()   // ["Hello", "world"]
  /// try await store.extent().count   // 2
  /// ```
  ///
  /// - Parameters:
  ///   - remote: the server's list.
  ///   - store: keeps the elements that were read.
  ///   - policy: whether the list reads from the server, follows another process that does, or both.
  /// - Laziness: stepwise.
  /// - Failure: the server's or the store's, at its position. It is not kept.
  /// - Cancellation: as of `LazyList(storedIn:)`.
  public init<Store: ListStore>(
    mirroring remote: RemoteList<Element>, in store: Store,
    atTail policy: TailPolicy = .computeOrFollow
  ) where Store.Element == Element, Store.State == RemotePlace {
    self.init(storedIn: store, state: .beginning, atTail: policy) { place in
      try await remote.core.next(&place)
    }
  }
}

extension RemoteCore {
  /// The element at a place, which is moved behind it; `nil` at the end of the list.
  func next(_ place: inout RemotePlace) async throws -> Element? {
    try resume(at: place)
    while true {
      let page = try await read(from: place.position, upTo: 1)
      if let element = page.elements.first {
        place = self.place(at: place.position + 1)
        return element
      }
      if page.isEnd { return nil }
      try await waitForMore(than: place.position)
      try Task.checkCancellation()
    }
  }
}
