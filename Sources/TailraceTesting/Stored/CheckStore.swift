public import TailraceStored

/// Checks that a store keeps every ``StoreRule``, and throws its faults.
///
/// For authors of stores, in a test of any framework:
///
/// ```swift
/// try await checkStore { MemoryStore<Int, Int>() }
/// ```
///
/// It appends, acquires leases and reads, sequentially and concurrently. It gives up on a store that hangs
/// after `patience`.
///
/// - Parameters:
///   - patience: the time after which a call that has not returned is a fault.
///   - reopen: opens the contents of a store again, as another process would; `nil` if that is
///     impossible.
///   - trim: discards the elements of a store before a position, or at least some of them; `nil` if
///     that is impossible.
///   - make: makes an empty store, each time in another place.
/// - Throws: ``StoreFaults``.
public func checkStore<Store: ListStore>(
  patience: Duration = .seconds(60),
  reopening reopen: (@Sendable (Store) async throws -> Store)? = nil,
  trimming trim: (@Sendable (Store, Int) async throws -> Void)? = nil,
  _ make: @escaping @Sendable () async throws -> Store
) async throws(StoreFaults) where Store.Element == Int, Store.State == Int {
  try await checkStore(
    element: { $0 }, state: { $0 }, patience: patience, reopening: reopen, trimming: trim,
    make)
}

/// Checks a store of elements and states of any type, made from numbers.
///
/// - Parameters:
///   - element: makes a distinct element for each number.
///   - state: makes a distinct state for each number.
///   - patience: the time after which a call that has not returned is a fault.
///   - reopen: opens the contents of a store again, as another process would; `nil` if that is
///     impossible.
///   - trim: discards the elements of a store before a position, or at least some of them; `nil` if
///     that is impossible.
///   - make: makes an empty store, each time in another place.
/// - Throws: ``StoreFaults``.
public func checkStore<Store: ListStore>(
  element: @escaping @Sendable (Int) -> Store.Element,
  state: @escaping @Sendable (Int) -> Store.State, patience: Duration = .seconds(60),
  reopening reopen: (@Sendable (Store) async throws -> Store)? = nil,
  trimming trim: (@Sendable (Store, Int) async throws -> Void)? = nil,
  _ make: @escaping @Sendable () async throws -> Store
) async throws(StoreFaults) where Store.Element: Equatable, Store.State: Equatable {
  let check = StoreCheck(
    element: element, state: state, patience: patience, reopen: reopen, trim: trim, make: make)
  let parts: [(StoreRule, @Sendable (StoreCheck<Store>) async throws -> Void)] = [
    (.beginsEmpty, { try await $0.emptiness() }),
    (.readsInOrder, { try await $0.order() }),
    (.storesAnEmptyEnd, { try await $0.end() }),
    (.appendsAtTheEndOnly, { try await $0.positions() }),
    (.keepsTheState, { try await $0.states() }),
    (.hasOneWinner, { try await $0.races() }),
    (.refusesStaleLeases, { try await $0.staleClaims() }),
    (.leaseIsOneSnapshot, { try await $0.snapshots() }),
    (.storesCommitsWhole, { try await $0.wholeness() }),
    (.goesOnWhenSuperseded, { try await $0.progress() }),
    (.keepsElements, { try await $0.stability() }),
    (.wakesThoseWhoWait, { try await $0.waiting() }),
    (.wakesThoseWhoWait, { try await $0.wakeUps() }),
    (.letsCancelledOnesGo, { try await $0.cancelledWaiting() }),
    (.survivesCancellation, { try await $0.cancelledAppends() }),
    (.isThereForOthers, { try await $0.reopening() }),
    (.tellsItsExtent, { try await $0.extents() }),
    (.trimsTheBeginning, { try await $0.trimming() }),
  ]
  for (rule, part) in parts {
    let isBack = await check.comesBack(share: 1) {
      do { try await part(check) } catch { check.note(rule, "it failed with \(error)") }
    }
    check.expect(rule, isBack, "a call did not come back")
  }
  let faults = check.faults.values
  if !faults.isEmpty { throw StoreFaults(faults: faults) }
}
