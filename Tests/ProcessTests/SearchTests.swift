import TailraceTesting
import TailraceTestingProcess
import Testing

/// The model under test, as applications have it.
@MainActor final class Search {
  private(set) var results: [String] = []
  private var task: Task<Void, Never>?
  private let find: @Sendable (String) async -> [String]

  init(find: @escaping @Sendable (String) async -> [String]) { self.find = find }

  func type(_ text: String) {
    task?.cancel()
    task = Task(name: "search") {
      do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
      let found = await find(text)
      if !Task.isCancelled { results = found }
    }
  }
}

@Suite(.enabled(if: ExplorationOptions.canCatchTheProcess))
struct SearchTests {
  @Test func showsNoOldAnswer() async throws {
    try await explore(.wholeProcess) { (run: Exploration) in
      let model = await Search { text in
        // The first answer is the slower one, and does not stop.
        await Task {
          try? await Task.sleep(for: .seconds(text.count == 1 ? 90 : 60))
        }.value
        return [text]
      }
      await model.type("t")
      try await Task.sleep(for: .milliseconds(400))
      await model.type("te")
      try await Task.sleep(for: .seconds(600))  // takes no time
      try run.require(await model.results == ["te"], "an old answer")
    }
  }
}
