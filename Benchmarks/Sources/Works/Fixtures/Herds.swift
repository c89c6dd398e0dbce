import Measuring
import Allocations
import AsyncAlgorithms
import Synchronization
import Tailrace

/// Many computations that have given one element each, and wait for somebody to want the next.
let herds: [Quantity] =
  herd("LazyList") { animal in
    let list: LazyList<Int, Never> = LazyList(0...).map { element in
      await animal.step(element)
    }
    _ = await list.head()
    return list
  }
  + herd("a task that sends to an `AsyncChannel`") { animal in
    let channel = AsyncChannel<Int>()
    let task = Task {
      var element = 0
      while !Task.isCancelled {
        await channel.send(await animal.step(element))
        element += 1
      }
    }
    var iterator = channel.makeAsyncIterator()
    _ = await iterator.next()
    return Leash(channel: channel, task: task)
  }

/// The memory of one computation that waits, and the time to release it.
private func herd<Member: Sendable>(
  _ who: String, _ make: @escaping @Sendable (Animal) async -> Member
) -> [Quantity] {
  [
    .bytesPerElement(
      "bytes of a computation that waits, with its step", who: who, size: 10_000
    ) { count in
      var members: [Member] = []
      for _ in 0..<count { members.append(await make(Animal())) }
      return members
    },
    Quantity("letting go of one that waits", who: who, unit: "µs", size: 10_000) { count in
      let instances = InstanceCounter()
      var members: [Member] = []
      for _ in 0..<count { members.append(await make(Animal(in: instances))) }
      let start = ContinuousClock.now
      members = []
      // Tasks that are cancelled still have to run to their end.
      while instances.isAlive { await Task.yield() }
      return start.duration(to: .now) / .microseconds(1) / Double(count)
    },
  ]
}

/// A value that a step captures: it is released with the step.
private final class Animal: Sendable {
  private let instances: InstanceCounter?

  init(in instances: InstanceCounter? = nil) {
    self.instances = instances
    instances?.number.add(1, ordering: .relaxed)
  }

  deinit { instances?.number.subtract(1, ordering: .releasing) }

  func step(_ element: Int) async -> Int {
    await Task.yield()
    return element
  }
}

private final class InstanceCounter: Sendable {
  let number = Atomic(0)

  var isAlive: Bool { number.load(ordering: .acquiring) > 0 }
}

/// A task ends with whoever reads from its channel.
private final class Leash: Sendable {
  let channel: AsyncChannel<Int>
  let task: Task<Void, Never>

  init(channel: AsyncChannel<Int>, task: Task<Void, Never>) {
    self.channel = channel
    self.task = task
  }

  deinit { task.cancel() }
}
