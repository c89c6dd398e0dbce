public import TailraceTesting

extension ExplorationOptions {
  /// Catches the tasks of the whole process: `Task { }`, detached tasks, the main actor and `Task.sleep`, in
  /// code that knows nothing of it.
  ///
  /// <!-- only on Linux -->
  /// ```swift
  /// @MainActor final class Greeting {
  ///   var text = ""
  ///   func load() {
  ///     Task {
  ///       try? await Task.sleep(for: .seconds(60))   // takes no time
  ///       text = "hello"
  ///     }
  ///   }
  /// }
  ///
  /// try await explore(.wholeProcess) { run in
  ///   let greeting = Greeting()
  ///   await greeting.load()
  ///   try await Task.sleep(for: .seconds(61))
  ///   try run.require(await greeting.text == "hello")
  /// }
  /// ```
  ///
  /// See <doc:TailraceTestingProcess> for what is caught and what is not.
  ///
  /// - Isolation: the steps run on the main actor's thread, those of the main actor isolated to it.
  ///   One such exploration runs at a time.
  /// - Failure: `explore` throws ``ExplorationUnavailable`` where the compiler cannot do it.
  public static var wholeProcess: ExplorationOptions { wholeProcess(ExplorationOptions()) }

  /// Catches the tasks of the whole process, with other options.
  ///
  /// <!-- only on Linux -->
  /// ```swift
  /// try await explore(.wholeProcess(ExplorationOptions(timeIsFree: true))) { run in
  ///   try await Task.sleep(for: .seconds(60))
  /// }
  /// ```
  public static func wholeProcess(_ options: ExplorationOptions) -> ExplorationOptions {
    var options = options
    options.catcher = ProcessCatcher.shared
    return options
  }

  /// Whether ``wholeProcess`` works with this compiler, on this system: for `.enabled(if:)` of a test.
  ///
  /// <!-- only on Linux -->
  /// ```swift
  /// if ExplorationOptions.canCatchTheProcess {
  ///   try await explore(.wholeProcess) { _ in await Task {}.value }
  /// }
  /// ```
  public static var canCatchTheProcess: Bool { ProcessExecutors.areReplaced }
}

/// The tasks of this process cannot be caught.
///
/// `explore(.wholeProcess)` throws it, before the body runs for the first time.
public struct ExplorationUnavailable: Error, CustomStringConvertible {
  /// Why they cannot.
  public let reason: String

  /// The reason, and what a test can do instead.
  public var description: String {
    "explore(.wholeProcess) does not work here: \(reason). Give the code under test an executor and a clock, "
      + "and use explore without .wholeProcess; or disable the test: "
      + ".enabled(if: ExplorationOptions.canCatchTheProcess)"
  }
}
