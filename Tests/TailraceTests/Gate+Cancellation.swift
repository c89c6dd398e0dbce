import TailraceTesting

extension Gate {
  /// Waits for what never comes.
  func waitUntilCancelled() async throws {
    await withTaskCancellationHandler {
      await wait()
    } onCancel: {
      open()
    }
    try Task.checkCancellation()
  }
}
