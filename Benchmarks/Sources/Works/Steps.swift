/// The three kinds of asynchronous steps. Lists and peers call the same ones.

@inline(never)
func staying(_ element: Int) async -> Int { element &* 3 }

@inline(never)
func yielding(_ element: Int) async -> Int {
  await Task.yield()
  return element &* 3
}

/// It counts what it is asked: of an actor that touches nothing of its own the optimizer leaves out
/// the switch there and back.
actor Server {
  private(set) var requests = 0

  @inline(never)
  func triple(_ element: Int) -> Int {
    requests += 1
    return element &* 3
  }
}
