// Mistakes as users make them, and what the compiler has to say about them, at once. It belongs to no
// target: the checks of the project type-check it alone.
import Tailrace

struct ParseError: Error {}

func parse(_ text: String) throws -> Int { text.count }
func score(_ id: Int) async -> Int { id }
let numbers = LazyList(1...100)

func wrongTypes() async {
  _ = await numbers.map { $0 + "1" }.filter { $0 == "2" }.array()
  // expected-error@-1 {{binary operator '+' cannot be applied to operands of type 'Int' and}}
  // expected-note@-2 {{overloads for '+' exist}}
  _ = await numbers.map { $0 * 2 }.filter { $0.isEmpty }.count()
  // expected-error@-1 {{cannot infer type of closure parameter '$0' without a type annotation}}
  _ = await numbers.map { $0 * 2 }.filter { $0 % 3 }.array()
  // expected-error@-1 {{cannot infer type of closure parameter '$0' without a type annotation}}
  _ = await numbers.map { "\($0)" }.reduce(0) { $0 + $1 }
  // expected-error@-1 {{cannot convert value of type 'String' to closure result type 'Int'}}
  let _: [String] = await numbers.map { $0 * 2 }.array()
  // expected-error@-1 {{cannot convert value of type 'Int' to expected argument type 'String'}}
}

func missingEffects() async {
  _ = numbers.map { $0 * 2 }.count()
  // expected-error@-1 {{expression is 'async' but is not marked with 'await'}}
  // expected-note@-2 {{call is 'async'}}
  _ = await numbers.map { try parse("\($0)") }.array()
  // expected-error@-1 {{call can throw, but it is not marked with 'try' and the error is not}}
  _ = numbers.map { score($0) }
  // expected-error@-1 {{'async' call in a function that does not support concurrency}}
  _ = numbers.map { parse("\($0)") }
  // expected-error@-1 {{call can throw, but it is not marked with 'try' and the error is not}}
}

func missingNames() async {
  _ = await numbers.map { $0.name }.array()
  // expected-error@-1 {{value of type 'Int' has no member 'name'}}
  _ = await numbers.maps { $0 * 2 }.array()
  // expected-error@-1 {{value of type 'LazyList<Int, Never>' has no member 'maps'}}
  _ = await numbers.map { $0 * factor }.filter { $0 > 1 }.array()
  // expected-error@-1 {{cannot find 'factor' in scope}}
}

func demandsWithoutCall() async {
  // Here the compiler takes the method before it looks whether the type fits.
  if let first = numbers.first { print(first) }
  // expected-error@-1 {{initializer for conditional binding must have Optional type}}
  let _: Int? = numbers.map { $0 * 2 }.first
  // expected-error@-1 {{'first' is unavailable: it takes a call to demand an element: 'await list}}
  _ = numbers.map { $0 * 2 }.first == 2
  // expected-error@-1 {{'first' is unavailable: it takes a call to demand an element: 'await list}}
  _ = numbers.first! + 1
  // expected-error@-1 {{'first' is unavailable: it takes a call to demand an element: 'await list}}
}

func countsWithoutCall() async {
  if await numbers.count > 3 { print("many") }
  // expected-error@-1 {{'count' is unavailable: it takes a call to count the elements: 'await list.count()'}}
  // expected-warning@-2 {{no 'async' operations occur within 'await' expression}}
  let _: Int = await numbers.map { $0 * 2 }.count
  // expected-error@-1 {{'count' is unavailable: it takes a call to count the elements: 'await list.count()'}}
  // expected-warning@-2 {{no 'async' operations occur within 'await' expression}}
  print(await numbers.count)
  // Here any type would do, and the compiler has to choose a method.
  // expected-error@-2 {{ambiguous use of 'count'}}
}

struct Feed: Sendable {
  func onEvent(_ handler: @escaping @Sendable (Int) -> Void) {}
}

func sourcesOfSignals(_ feed: Feed, _ stream: AsyncStream<Int>) {
  _ = Signal<Int, Never> { subscriber in
    feed.onEvent { subscriber.sent($0) }
    // expected-error@-1 {{value of type 'Signal<Int, Never>.Subscriber' has no member 'sent'}}
    subscriber.complete()
  }
  _ = Signal { subscriber in
    // expected-error@-1 {{generic parameter 'Element' could not be inferred}}
    // expected-note@-2 {{explicitly specify the generic arguments to fix this issue}}
    feed.onEvent { subscriber.sent($0) }
    // expected-error@-1 {{value of type 'Signal<Element, Never>.Subscriber' has no member 'sent'}}
    subscriber.complete()
  }
  let signal: Signal<Int, any Error> = Signal { subscriber in
    subscriber.send("one")
    // expected-error@-1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
    subscriber.complete()
  }
  _ = (signal, Signal(stream).map { $0 + 1 })
}

// The type of a closure's result, where its first `return` has none: `{ number -> Int? in … }`.
func resultsWithoutType() {
  _ = LazyList(state: 3) { rest in
    // expected-error@-1 {{generic parameter 'Element' could not be inferred}}
    // expected-note@-2 {{explicitly specify the generic arguments to fix this issue}}
    guard rest > 0 else { return nil }
    return rest
  }
  _ = numbers.compactMap { number in
    // expected-error@-1 {{could not be inferred}}
    guard number > 1 else { return nil }
    return number
  }
}

// An `if` is a value only with an `else`. The compiler says so at both its ends.
func valuesWithoutElse() async {
  _ = await numbers.map { if $0 > 1 { $0 } }.array()
  // expected-error@-1 2 {{an 'if' without an 'else' gives no value: add the 'else'; 'filter' and}}
  _ = numbers.compactMap { if $0 > 1 { $0 } }
  // expected-error@-1 2 {{an 'if' without an 'else' gives no value: add the 'else'; 'filter' and}}
  _ = numbers.filter { if $0 > 1 { true } }
  // expected-error@-1 2 {{an 'if' without an 'else' gives no value: add the 'else'; 'filter' and}}
}

func wrongStatements() {
  _ = numbers.filter { number in number = 1 }
  // expected-error@-1 {{cannot assign to value: 'number' is a 'let' constant}}
}

// The ways out: `setFailureType(to:)`, `mapFailure`.
func failuresOfOtherTypes(
  _ failing: LazyList<Int, ParseError>, _ others: LazyList<Int, CancellationError>
) {
  _ = numbers + failing
  // expected-error@-1 {{the left list cannot fail, and the right one can: write 'left.setFailureType() + right'}}
  _ = failing + numbers
  // expected-error@-1 {{the right list cannot fail, and the left one can: write 'left + right.setFailureType()'}}
  _ = failing + others
  // expected-error@-1 {{these lists fail in different ways: 'left.setFailureType() + right.setFailureType()' fails in}}
  _ = failing.setFailureType(to: CancellationError.self)
  // expected-error@-1 {{a list that can fail is no list that fails with another type: 'setFailureType()'}}
  let _: LazyList<Int, ParseError> = numbers
  // expected-error@-1 {{cannot assign value of type 'LazyList<Int, Never>' to type}}
  // expected-note@-2 {{arguments to generic parameter 'Failure' ('Never' and 'ParseError') are expected}}
  let _: LazyList<Int, ParseError> = numbers.map { try parse("\($0)") }
  // expected-error@-1 {{the result has another failure than the expected type: 'map(failingAs:_:)' names}}
  let _: LazyList<Int, Never> = failing.compactMap { number in
    // expected-error@-1 {{the result has another failure than the expected type: 'map(failingAs:_:)' with}}
    let half = number / 2
    return half > 1 ? half : nil
  }
  let _: LazyList<Int, ParseError> = numbers.compactMap { await score($0) }
  // expected-error@-1 {{the result has another failure than the expected type: 'map(failingAs:_:)' with}}
  let _: LazyList<Int, ParseError> = numbers.filter { $0 > 1 }
  // expected-error@-1 {{the result has another failure than the expected type: 'map(failingAs:_:)' with}}
  _ = numbers.setFailureType() + failing
  _ = failing + numbers.setFailureType(to: ParseError.self)
  _ = numbers.zip(failing)
  _ = failing.zip(numbers)
  _ = failing.map { _ in numbers }.joined()
  _ = numbers.map { _ in failing }.joined()
  _ = failing.mapFailure { $0 as any Error }
  _ = failing.setFailureType() + others.setFailureType()
  // Lists that fail in different ways.
  let pairs = failing.zip(others)
  let _: LazyList<(Int, Int), any Error> = pairs
  let free = zip(numbers, failing)
  let _: LazyList<(Int, Int), any Error> = free
  let triples = zip(numbers.setFailureType(), failing.setFailureType(), numbers.setFailureType())
  let _: LazyList<(Int, Int, Int), any Error> = triples
  let inner = numbers.map { _ in failing }.joined()
  let _: LazyList<Int, ParseError> = inner
  let outer = failing.map { _ in numbers }.joined()
  let _: LazyList<Int, ParseError> = outer
  let same = numbers.map { _ in numbers }.joined()
  let _: LazyList<Int, Never> = same
  let both = failing.map { _ in others }.joined()
  let _: LazyList<Int, any Error> = both
  let mapped = numbers.flatMap { _ in failing }
  let _: LazyList<Int, ParseError> = mapped
  let mappedLater = failing.flatMap { number async in LazyList(0..<number) }
  let _: LazyList<Int, ParseError> = mappedLater
}
