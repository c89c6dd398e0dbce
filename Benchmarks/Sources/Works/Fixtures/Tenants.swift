import Dispatch

// Actors that live on an executor of their own, and what is asked of them.

actor Tenant {
  private let executor: any SerialExecutor
  private(set) var sum = 0

  init(_ executor: any SerialExecutor) { self.executor = executor }

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  func add(_ element: Int) { sum &+= element }
}

actor Resident {
  private(set) var sum = 0

  func add(_ element: Int) { sum &+= element }
}

/// The executor that one writes first.
final class BlockPerJob: SerialExecutor {
  private let queue = DispatchQueue(label: "block per job")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

@inline(never) func call(_ tenant: Tenant, _ count: Int) async -> Int {
  for element in 0..<count { await tenant.add(element) }
  return await tenant.sum
}

@inline(never) func callResident(_ count: Int) async -> Int {
  let resident = Resident()
  for element in 0..<count { await resident.add(element) }
  return await resident.sum
}

@inline(never) func burst(to tenant: Tenant, _ count: Int) async -> Int {
  await withDiscardingTaskGroup { group in
    for element in 0..<count { group.addTask { await tenant.add(element) } }
  }
  return await tenant.sum
}

@inline(never) func pingPong(_ one: Tenant, _ other: Tenant, _ count: Int) async -> Int {
  for element in 0..<count {
    if element % 2 == 0 { await one.add(element) } else { await other.add(element) }
  }
  return await one.sum + other.sum
}
