import Observation
import Tailrace
import TailraceObservation
import TailraceTesting
import Testing

@MainActor
@Suite("A list as an observable model", .timeLimit(.minutes(15)))
struct ListModelTests {
  struct Refused: Error {}

  struct Row: Identifiable, Equatable, Sendable {
    let id: Int
    var text = "row"
  }

  /// Numbers from 1 on, each of which takes a second. Every load is recorded.
  struct World {
    let scheduler = VirtualScheduler()
    let loads = Probe<Int>()

    @MainActor
    func model(
      pageSize: Int, upTo end: Int = .max,
      failing: @escaping @Sendable (Int) -> Bool = { _ in false }
    )
      -> ListModel<Int>
    {
      ListModel(pageSize: pageSize) { [scheduler, loads] in
        LazyList(state: 1, retryingFailures: true) { number async throws -> Int? in
          loads.record(number)
          try await scheduler.clock.sleep(for: .seconds(1))
          if failing(loads.count) { throw Refused() }
          defer { number += 1 }
          return number <= end ? number : nil
        }
      }
    }

    /// Lets so many loads end, one after the other.
    func pass(_ count: Int = 1) async {
      for _ in 0..<count {
        await scheduler.waitForSleepers(1)
        scheduler.advance(by: .seconds(1))
      }
    }
  }

  @Test("a page at a time, in bursts, until there is no more")
  func pages() async {
    let world = World()
    let model = world.model(pageSize: 2, upTo: 3)
    #expect(model.elements.isEmpty && model.phase.description == "idle" && world.loads.count == 0)
    var page = model.loadMore()
    for _ in 0..<5 { page = model.loadMore() }
    #expect(model.phase.isLoading)
    await world.pass(2)
    await page.value
    #expect(model.elements == [1, 2] && model.phase.description == "idle")
    #expect(world.loads.values == [1, 2], "no look-ahead")
    page = model.loadMore()
    await world.pass(2)
    await page.value
    #expect(model.elements == [1, 2, 3] && model.phase.description == "ended")
    await model.loadMore().value
    #expect(world.loads.values == [1, 2, 3, 4])
  }

  @Test("an error keeps what is there; the failed page is loaded again when it is asked for")
  func failure() async {
    let world = World()
    let model = world.model(pageSize: 2) { $0 == 2 }
    var page = model.loadMore()
    await world.pass(2)
    await page.value
    #expect(model.elements == [1] && model.phase.error is Refused)
    await model.loadMore().value
    #expect(world.loads.values == [1, 2], "not by scrolling")
    page = model.retry()
    await world.pass(2)
    await page.value
    #expect(model.elements == [1, 2, 3] && model.phase.description == "idle")
    #expect(world.loads.values == [1, 2, 2, 3])
  }

  @Test("to refresh: the old elements stay until the first new page is there")
  func refresh() async {
    let world = World()
    let model = world.model(pageSize: 2)
    var page = model.loadMore()
    await world.pass(2)
    await page.value
    page = model.loadMore()
    await world.scheduler.waitForSleepers(1)
    #expect(model.phase.description == "loading more")
    page = model.refresh()
    await world.scheduler.waitForSleepers(2)
    world.scheduler.advance(by: .seconds(1))
    #expect(model.elements == [1, 2] && model.phase.description == "refreshing")
    await world.pass()
    await page.value
    #expect(model.elements == [1, 2] && world.loads.values == [1, 2, 3, 1, 2])
    page = model.loadMore()
    await world.pass(2)
    await page.value
    #expect(model.elements == [1, 2, 3, 4])
  }

  @Test("a refreshment that fails keeps the old elements, and is what is tried again")
  func failedRefresh() async {
    let (world, fails) = (World(), Probe<Void>())
    let model = world.model(pageSize: 1) { _ in fails.count == 1 }
    var page = model.loadMore()
    await world.pass()
    await page.value
    fails.record(())
    page = model.refresh()
    await world.pass()
    await page.value
    #expect(model.elements == [1] && model.phase.error is Refused)
    fails.record(())
    page = model.retry()
    await world.pass()
    await page.value
    #expect(model.elements == [1] && world.loads.values == [1, 1, 1])
    page = model.loadMore()
    await world.pass()
    await page.value
    #expect(model.elements == [1, 2])
  }

  @Test("no element is shown twice, and a newer one takes the place of the older")
  func identity() async {
    // Between the first page and the second, a row was deleted, and the others moved.
    let model = ListModel(pageSize: 2) {
      LazyList([1, 2, 2, 3, 1, 4].enumerated()).map { Row(id: $0.element, text: "\($0.offset)") }
    }
    await model.loadMore().value
    #expect(model.elements.map(\.id) == [1, 2])
    await model.loadMore().value
    #expect(
      model.elements == [Row(id: 1, text: "0"), Row(id: 2, text: "2"), Row(id: 3, text: "3")])
    await model.loadMore().value
    #expect(model.elements.map(\.id) == [1, 2, 3, 4] && model.elements[0].text == "4")
  }

  @Test("a page without anything new ends the asking; the next call asks for the page after it")
  func nothingNew() async {
    let pages = Probe<Int>()
    // A server that ignores the number of the page, but for the fourth one.
    let model = ListModel(pageSize: 2) {
      LazyList(state: 1) { number async -> [Row]? in
        pages.record(number)
        defer { number += 1 }
        return [Row(id: number < 4 ? 1 : 3), Row(id: 2)]
      }.flatMap { $0 }
    }
    for expected in [[1, 2], [1, 2], [1, 2], [1, 2, 3]] {
      await model.loadMore().value
      #expect(model.elements.map(\.id) == expected && model.phase.description == "idle")
    }
    #expect(pages.values == [1, 2, 3, 4], "a request for each call")
  }

  @Test("the task that loads is cancelled: the model goes on", arguments: [true, false])
  func cancelledTask(refreshes: Bool) async {
    let gate = Gate()
    let model = ListModel(pageSize: 2) {
      LazyList(state: 0, retryingFailures: true) { number async throws -> Int? in
        if number == 0 { await gate.wait() }
        number += 1
        return number
      }
    }
    let task = refreshes ? model.refresh() : model.loadMore()
    await gate.waitForArrivals(1)
    task.cancel()
    await task.value
    #expect(model.phase.description == "idle" && model.elements.isEmpty)
    gate.open()
    await model.loadMore().value
    #expect(model.phase.description == "idle" && model.elements == [1, 2])
    await model.refresh().value
    #expect(model.phase.description == "idle" && model.elements == [1, 2])
  }

  /// A screen whose list depends on a text.
  @MainActor final class Search {
    var text = "" { didSet { model.refresh() } }
    let gate = Gate()
    lazy var model = ListModel<String>(pageSize: 2) { [weak self, gate] in
      let text = self?.text ?? ""
      return LazyList(state: 1, retryingFailures: true) { number async throws -> String? in
        if text == "te" { await gate.wait() }
        defer { number += 1 }
        return "\(text) \(number)"
      }
    }
  }

  @Test("the list is made on the main actor, and a refreshment never joins one that is under way")
  func search() async {
    let search = Search()
    search.text = "te"
    let older = search.model.loadMore()
    await search.gate.waitForArrivals(1)
    search.text = "tea"
    #expect(search.model.phase.description == "refreshing")
    await search.model.loadMore().value
    #expect(search.model.elements == ["tea 1", "tea 2"])
    // What was given up comes too late, and is not shown.
    search.gate.open()
    await older.value
    #expect(search.model.elements == ["tea 1", "tea 2"])
    #expect(search.model.phase.description == "idle")
  }

  @Test("cancelled: the place is kept, and what was loaded meanwhile is not loaded again")
  func cancel() async {
    let world = World()
    let model = world.model(pageSize: 2)
    var page = model.loadMore()
    await world.pass()
    await world.scheduler.waitForSleepers(1)
    model.cancel()
    #expect(model.phase.description == "idle" && model.elements.isEmpty)
    await page.value
    page = model.loadMore()
    await world.pass()
    await page.value
    #expect(model.elements == [1, 2] && world.loads.values == [1, 2])
  }

  @Test("cancelled: the request, too, if the list cancels steps that nobody waits for")
  func cancelRequest() async {
    let (begun, cancelled, gate) = (Probe<Int>(), Probe<Int>(), Gate())
    let model = ListModel(pageSize: 2) {
      LazyList(state: 0, cancelsUnobservedSteps: true) { number async throws -> Int? in
        number += 1
        begun.record(number)
        if begun.count == 2 {
          await withTaskCancellationHandler {
            await gate.wait()
          } onCancel: {
            gate.open()
          }
          if Task.isCancelled { cancelled.record(number) }
        }
        return number <= 3 ? number : nil
      }
    }
    model.loadMore()
    await begun.waitForCount(2)
    model.cancel()
    await cancelled.waitForCount(1)
    await model.loadMore().value
    #expect(model.elements == [1, 2] && begun.values == [1, 2, 2])
    #expect(cancelled.values == [2])
  }

  /// What a model does when its owner lets it go.
  enum Moment: String, CaseIterable {
    case new, idle, loading, cancelled, failed, ended, refreshing, refreshed
  }

  @Test(
    "released at any moment: no model, no list, no closure, no element is left",
    arguments: Moment.allCases)
  func leaks(_ moment: Moment) async {
    // The closure holds a member; so does the state of each list, and each element is one.
    let (instances, gate, begun) = (InstanceCounter(), Gate(), Probe<Int>())
    weak var released: ListModel<InstanceCounter.Member>?
    do {
      let model = ListModel(pageSize: 2) { [closure = instances.member(-1)] in
        LazyList(state: (number: 0, held: instances.member(-2)), retryingFailures: true) {
          state async throws -> InstanceCounter.Member? in
          state.number += 1
          begun.record(state.number)
          if begun.count == 4 {
            await withTaskCancellationHandler {
              await gate.wait()
            } onCancel: {
              gate.open()
            }
            if moment == .failed { throw Refused() }
          }
          guard state.number < 6, closure.number < 0 else { return nil }
          return instances.member(state.number)
        }
      }
      released = model
      if moment != .new { await model.loadMore().value }
      switch moment {
      case .new, .idle: break
      case .loading, .cancelled:
        model.loadMore()
        await gate.waitForArrivals(1)
        if moment == .cancelled { model.cancel() }
      case .refreshing:
        model.refresh()
        await gate.waitForArrivals(1)
      case .failed, .ended:
        gate.open()
        while case .idle = model.phase { await model.loadMore().value }
      case .refreshed:
        gate.open()
        await model.refresh().value
      }
      let isAsExpected =
        switch (moment, model.phase) {
        case (.new, .idle), (.idle, .idle), (.cancelled, .idle), (.refreshed, .idle): true
        case (.loading, .loadingMore), (.refreshing, .refreshing): true
        case (.failed, .failed), (.ended, .ended): true
        default: false
        }
      #expect(isAsExpected, "\(moment): \(model.phase)")
      #expect(instances.alive > 0)
    }
    await instances.waitUntilEmpty()
    #expect(released == nil)
  }

  @Test(
    "released while it loads: the request is cancelled, and nothing is left",
    arguments: [true, false])
  func release(isFailing: Bool) async {
    let (instances, gate, cancelled) = (InstanceCounter(), Gate(), Probe<Bool>())
    weak var released: ListModel<InstanceCounter.Member>?
    do {
      let owner = instances.member()
      let model: ListModel<InstanceCounter.Member>
      let load: @Sendable (inout Int) async -> InstanceCounter.Member? = { [owner] number in
        defer { number += 1 }
        if number == owner.number { return instances.member(number) }
        await withTaskCancellationHandler {
          await gate.wait()
        } onCancel: {
          gate.open()
        }
        cancelled.record(Task.isCancelled)
        return nil
      }
      if isFailing {
        model = ListModel(pageSize: 1) {
          LazyList(state: 0) { state async throws in await load(&state) }
        }
      } else {
        model = ListModel(pageSize: 1) { LazyList(state: 0) { state async in await load(&state) } }
      }
      await model.loadMore().value
      #expect(model.elements.count == 1)
      model.loadMore()
      await gate.waitForArrivals(1)
      released = model
    }
    await cancelled.waitForCount(1)
    #expect(cancelled.values == [true] && released == nil)
    await instances.waitUntilEmpty()
  }

  @Test("views are told of each change")
  func observation() async {
    let model = ListModel(pageSize: 2) { LazyList(1...5) }
    let changes = Probe<String>()
    func watch() {
      withObservationTracking {
        _ = model.elements
      } onChange: {
        changes.record("elements")
      }
    }
    watch()
    await model.loadMore().value
    #expect(changes.count == 1)
    watch()
    await model.loadMore().value
    #expect(changes.count == 2 && model.elements == [1, 2, 3, 4])
  }

  @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
  @Test("as a sequence of states")
  func observations() async {
    let model = ListModel(pageSize: 2) { LazyList(1...3) }
    let counts = Observations { "\(model.elements.count) \(model.phase)" }
    var seen: [String] = []
    model.loadMore()
    for await count in counts {
      seen.append(count)
      if count.hasSuffix("idle") { model.loadMore() }
      if count.hasSuffix("ended") { break }
    }
    #expect(seen.last == "3 ended")
  }

  @Test("a page of nothing traps, with words")
  func nothing() async {
    await #expect(processExitsWith: .failure) {
      _ = await ListModel(pageSize: 0) { LazyList(1...3) }
    }
  }
}
