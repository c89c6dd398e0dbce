import Observation

struct SearchAPI: Sendable {
  var search: @Sendable (String) async -> [String]
}

extension SearchAPI {
  /// Answers after a while, and does not stop when it is cancelled.
  static func deaf(_ seconds: @escaping @Sendable (String) -> Int) -> SearchAPI {
    SearchAPI { text in
      await Task {
        try? await Task.sleep(for: .seconds(seconds(text)))
        return [text]
      }.value
    }
  }
}

/// A model as applications have it: it knows nothing of tests.
@MainActor @Observable final class SearchModel {
  private(set) var results: [String] = []
  private var task: Task<Void, Never>?
  private let api: SearchAPI

  init(api: SearchAPI) { self.api = api }

  func type(_ text: String) {
    task?.cancel()
    task = Task {
      try? await Task.sleep(for: .milliseconds(300))
      results = await api.search(text)
    }
  }
}

/// The same without its mistakes.
@MainActor @Observable final class MendedSearchModel {
  private(set) var results: [String] = []
  private var task: Task<Void, Never>?
  private let api: SearchAPI

  init(api: SearchAPI) { self.api = api }

  func type(_ text: String) {
    task?.cancel()
    task = Task {
      do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
      let found = await api.search(text)
      if !Task.isCancelled { results = found }
    }
  }
}
