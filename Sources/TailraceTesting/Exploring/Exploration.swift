import Tailrace
import TailraceSupport

/// One run of a body that ``explore(_:replaying:countingIssues:body:)`` runs again and again.
public final class Exploration: Sendable {
  /// The executor of the run, which is also a scheduler: the body and its child tasks prefer it.
  ///
  /// Tasks that are made by `Task(executorPreference: run.executor)` run on it, too.
  public let executor: ExplorationScheduler

  struct Spawned: Sendable {
    var names: [Int: String] = [:]
    var cancels: [Int: @Sendable () -> Void] = [:]
    var count = 0
    /// The body has ended, and waits for the tasks.
    var joiner: UnsafeContinuation<Void, Never>?
    var waits = WaitRegistry()
  }

  let spawned = Locked(Spawned())
  private let isTold: Bool
  private static let name = TaskLocal<String?>(wrappedValue: nil)

  init(_ executor: ExplorationScheduler, isTold: Bool) {
    (self.executor, self.isTold) = (executor, isTold)
  }

  /// The clock of the run: virtual and exact.
  ///
  /// ```swift
  /// try await explore { run in
  ///   try await run.clock.sleep(for: .seconds(3600))   // takes no time
  ///   try run.require(run.clock.now.offset == .seconds(3600))
  /// }
  /// ```
  public var clock: ExplorationScheduler.Clock { executor.clock }

  // MARK: Tasks

  /// Starts a task that is part of the run. The run is not over before it has ended.
  ///
  /// ```swift
  /// try await explore { run in
  ///   let gate = Gate()
  ///   run.spawn(name: "opener") { gate.open() }
  ///   await gate.wait()
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: names the task in a failure; by default “task” and a number.
  ///   - body: what it does.
  @discardableResult
  public func spawn<Value: Sendable>(
    name: String? = nil, _ body: sending @escaping () async -> Value
  ) -> Task<Value, Never> {
    // Guard: it was sent here, and the one task below gets it. May touch it: that task.
    nonisolated(unsafe) let body = body
    let (number, name) = begin(name)
    let task = Self.name.withValue(name) {
      Task(executorPreference: executor) {
        let value = await body()
        self.hasEnded(number)
        return value
      }
    }
    began(number) { task.cancel() }
    return task
  }

  /// Starts a throwing task that is part of the run. An error is no failure of the run, unless the body
  /// awaits the task and throws it.
  @discardableResult @_disfavoredOverload
  public func spawn<Value: Sendable>(
    name: String? = nil, _ body: sending @escaping () async throws -> Value
  ) -> Task<Value, any Error> {
    // Guard: it was sent here, and the one task below gets it. May touch it: that task.
    nonisolated(unsafe) let body = body
    let (number, name) = begin(name)
    let task = Self.name.withValue(name) {
      Task(executorPreference: executor) {
        let result: Result<Value, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        self.hasEnded(number)
        return try result.get()
      }
    }
    began(number) { task.cancel() }
    return task
  }

  private func begin(_ name: String?) -> (Int, String) {
    let (number, name) = spawned.withLock { spawned in
      spawned.count += 1
      let text = name ?? "task \(spawned.count)"
      spawned.names[spawned.count] = text
      return (spawned.count, text)
    }
    if isTold { executor.state.withLock { $0.story?.announces(name) } }
    return (number, name)
  }

  private func began(_ number: Int, _ cancel: @escaping @Sendable () -> Void) {
    if isTold { executor.state.withLock { $0.story?.announces(nil) } }
    spawned.withLock { if $0.names[number] != nil { $0.cancels[number] = cancel } }
  }

  private func hasEnded(_ number: Int) {
    // Released outside of the lock: it may be the last reference to the task.
    let cancel = spawned.withLock { spawned in
      spawned.names[number] = nil
      return spawned.cancels.removeValue(forKey: number)
    }
    withExtendedLifetime(cancel) {}
    let joiner = spawned.withLock { $0.names.isEmpty ? $0.joiner.take() : nil }
    joiner?.resume()
  }

  /// Waits until all spawned tasks have ended.
  nonisolated(nonsending) func join() async {
    guard spawned.withLock({ !$0.names.isEmpty }) else { return }
    await withUnsafeContinuation { continuation in
      let isOver = spawned.withLock { spawned in
        if spawned.names.isEmpty { return true }
        spawned.joiner = continuation
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  // MARK: Failing

  /// Fails the run if a condition does not hold.
  ///
  /// - Parameters:
  ///   - isTrue: the condition.
  ///   - words: what is wrong.
  ///   - file: the caller's file, for the failure.
  ///   - line: the caller's line.
  public func require(
    _ isTrue: Bool, _ words: @autoclosure () -> String = "a requirement was not met",
    file: StaticString = #fileID, line: UInt = #line
  ) throws(Unmet) {
    guard !isTrue else { return }
    fail(words(), file: file, line: line)
    throw Unmet()
  }

  /// Thrown by ``require(_:_:file:line:)``. The run has failed, even if it is caught.
  public struct Unmet: Error, CustomStringConvertible {
    /// A sentence: the words of the requirement are in the ``ExplorationFailure``.
    public var description: String { "a requirement of the exploration was not met" }
  }

  /// Fails the run. Its first failure counts.
  public func fail(_ words: String, file: StaticString = #fileID, line: UInt = #line) {
    executor.state.withLock { $0.fails(.failed(words, file: "\(file)", line: line)) }
  }

  /// Tells something in the steps of a failure.
  ///
  /// ```swift
  /// try await explore { run in
  ///   run.note("the body begins")
  /// }
  /// ```
  ///
  /// The text is made only for a run that is known to fail.
  public func note(_ text: @autoclosure () -> String) {
    guard isTold else { return }
    let text = text()
    let own = OwnName.ofRunningTask
    let name = own?.text ?? Self.name.get()
    executor.state.withLock { state in
      if let own { state.story?.isCalled(own) }
      let isNamed = name.map { state.story?.isTold(of: $0) ?? false } ?? true
      state.story?.notes(isNamed ? text : "\(text) [\(name ?? "")]")
    }
  }
}

// Who waits for what.
extension Exploration: Exploring.Run {
  package func begins(_ wait: Exploring.Wait) -> Int {
    guard isTold else { return 0 }
    let name = OwnName.ofRunningTask?.text ?? Self.name.get() ?? "body"
    return spawned.withLock { $0.waits.begins(wait, by: name) }
  }

  package func ends(_ wait: Int) {
    if wait != 0 { spawned.withLock { $0.waits.ends(wait) } }
  }

  /// Those who wait, in words.
  func waiting(bodyHasEnded: Bool) -> [String] {
    let (waits, names) = spawned.withLock { spawned in
      (spawned.waits.lines, spawned.names.sorted { $0.key < $1.key }.map(\.value))
    }
    var lines = waits.map { "\($0.task) waits for \($0.text)" }
    for name in (bodyHasEnded ? [] : ["body"]) + names
    where !waits.contains(where: { $0.task == name }) {
      lines.append(
        "\(name) waits for something that does not say so: a task, a continuation, or a stream")
    }
    return lines
  }
}
