// The recipes that need swift-async-algorithms: the same text as in the article, compiled.
import AsyncAlgorithms
import Tailrace

func debounce(
  search: @escaping @Sendable (String) async -> [String], show: ([String]) -> Void
) async {
  // begin
  let (queries, field) = Signal<String, Never>.makeSignal()
  let results = queries.debounce(for: .milliseconds(300))
    .flatMapLatest { query in
      // A list of one element, which is computed when it is read.
      LazyList.deferred { [await search(query)].lazyList }
    }

  for await result in results { show(result) }
  // end
  field.complete()
}

func takeFromAChannel() async {
  // begin
  let channel = AsyncChannel<String>()
  let orders = channel.memoized()

  Task {
    for number in 1...3 { await channel.send("order \(number)") }
    channel.finish()
  }
  print(await orders.head() ?? "none")  // order 1
  print(await orders.count())  // 3
  // end
}
