import Dispatch
import Tailrace

// The inputs of contenders. Lists and peers are given the same.

/// Strings that live on the heap, as most do.
func strings(_ count: Int) -> [String] {
  (0..<count).map { "the element at position \($0)" }
}

func array(_ count: Int) -> [Int] { Array(0..<count) }

/// A list whose elements are all there.
func evaluated(_ count: Int) async -> LazyList<Int, Never> {
  let list = (0..<count).lazyList
  _ = await list.count()
  return list
}

// MARK: The four kinds of asynchronous steps

@inline(never)
func staying(_ element: Int) async -> Int { element &* 3 }

@inline(never)
func yielding(_ element: Int) async -> Int {
  await Task.yield()
  return element &* 3
}

/// Ends on another thread, as an answer of a network does.
@inline(never)
func leaving(_ element: Int) async -> Int {
  await withUnsafeContinuation { continuation in
    DispatchQueue.global().async { continuation.resume(returning: element &* 3) }
  }
}

/// Two children at once, neither of which suspends.
@inline(never)
func branching(_ element: Int) async -> Int {
  async let twice = staying(element)
  async let thrice = staying(element &+ 1)
  return await twice &+ thrice
}

/// It counts what it is asked: of an actor that touches nothing of its own the optimiser leaves out
/// the switch there and back.
actor Server {
  private(set) var requests = 0

  @inline(never)
  func triple(_ element: Int) -> Int {
    requests += 1
    return element &* 3
  }
}
