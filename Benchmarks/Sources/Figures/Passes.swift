import AsyncAlgorithms
import Tailrace

/// One reader: reading again, and the first pass.
func passes() -> [Row] {
  let count = 1_000_000
  let array = Array(0..<count)
  let list = array.lazyList
  return [
    Row(
      work: "read an evaluated list again, `for await`", floor: .atMostTimesSlower(4), rounds: 25,
      ours: Contestant(name: "Tailrace") { await readAgain(list, count) },
      peer: Contestant(name: "`for x in array`") { read(array) }),
    Row(
      work: "first pass of map + filter, `for await`, head held", floor: .atLeastTimesFaster(15),
      ours: Contestant(name: "Tailrace") { await firstPass(count) },
      peer: Contestant(name: "`(0..<n).async.map.filter`") { await firstPassOfChain(count) }),
    Row(
      work: "the same, `.array()`", floor: .atMostTimesSlower(10), rounds: 25,
      ours: Contestant(name: "Tailrace") { await collect(count) },
      peer: Contestant(name: "`Array((0..<n).lazy.map.filter)`") { collectLazily(count) }),
  ]
}

private func readAgain(_ list: LazyList<Int, Never>, _ count: Int) async -> Int {
  var sum = 0
  for await element in list { sum &+= element }
  blackHole(sum)
  return count
}

// The compiler may turn this loop into vector instructions. So it may in a user's program.
private func read(_ array: [Int]) -> Int {
  var sum = 0
  for element in array { sum &+= element }
  blackHole(sum)
  return array.count
}

private func firstPass(_ count: Int) async -> Int {
  let list: LazyList<Int, Never> = (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in list { sum &+= element }
  withExtendedLifetime(list) { blackHole(sum) }
  return count
}

private func firstPassOfChain(_ count: Int) async -> Int {
  let chain = (0..<count).async.map { $0 &* 3 }.filter { $0 % 2 == 0 }
  var sum = 0
  for await element in chain { sum &+= element }
  blackHole(sum)
  return count
}

private func collect(_ count: Int) async -> Int {
  let array = await (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }.array()
  blackHole(array[array.count / 2])
  return count
}

private func collectLazily(_ count: Int) -> Int {
  let array = Array((0..<count).lazy.map { $0 &* 3 }.filter { $0 % 2 == 0 })
  blackHole(array[array.count / 2])
  return count
}

// MARK: Memory

/// The most that a pass over elements that nobody holds adds to the process, in bytes.
func growthOfLongPass(_ count: Int) async -> Double? {
  await pass(over: 100_000)
  guard let before = Memory.resident.bytes else { return nil }
  await pass(over: count)
  return Memory.peak.bytes.map { $0 - before }
}

private func pass(over count: Int) async {
  let sum = await (0..<count).lazyList.map { $0 &* 3 }.filter { $0 % 2 == 0 }.reduce(0, &+)
  blackHole(sum)
}
