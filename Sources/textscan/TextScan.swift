import Dispatch

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Five readers, one list of lines, every line read from disk once.
@main
struct TextScan {
  /// Not asynchronous itself: before the first task runs, Dispatch has opened descriptors.
  static func main() {
    StandardStreams.reserveClosed()
    Task { await run() }
    dispatchMain()
  }

  private static func run() async {
    let console = Console()
    do throws(UsageError) {
      switch try Command(CommandLine.arguments.dropFirst()) {
      case .help: exit(console.print(Options.help) ? ExitStatus.success : ExitStatus.failure)
      case .scan(let options): exit(await scan(options, console))
      }
    } catch {
      console.note("\(error.message)\n\(Options.usage)")
      exit(ExitStatus.misuse)
    }
  }

  private static func scan(_ options: Options, _ console: Console) async -> Int32 {
    let trace = options.tracePath.map { Trace($0, console) }
    let status = await report(options, console)
    let isTraced = trace?.write() ?? true
    return status == ExitStatus.success && !isTraced ? ExitStatus.failure : status
  }

  private static func report(_ options: Options, _ console: Console) async -> Int32 {
    let scan = Scan(options, console)
    let task = Task { try await scan.report() }
    let interruption = onInterrupt { task.cancel() }
    defer { interruption.cancel() }
    do {
      let report = try await task.value
      let isPrinted = console.print(options.printsJSON ? try report.json() : report.table())
      return isPrinted && report.reading.failures == 0 ? ExitStatus.success : ExitStatus.failure
    } catch is CancellationError {
      console.note("interrupted; nothing is complete, so nothing is printed")
      return ExitStatus.interrupted
    } catch {
      console.note("\(error)")
      return ExitStatus.failure
    }
  }

  /// Runs a closure at the first Ctrl-C. The second one ends the process as usual.
  private static func onInterrupt(
    _ action: @escaping @Sendable () -> Void
  ) -> any DispatchSourceSignal {
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
    source.setEventHandler {
      signal(SIGINT, SIG_DFL)
      action()
    }
    // The source sees the signal, the default action must not.
    signal(SIGINT, SIG_IGN)
    source.resume()
    return source
  }
}

/// The exit codes of the process.
enum ExitStatus {
  static let success: Int32 = 0
  /// Something could not be read, or the result or the trace could not be written.
  static let failure: Int32 = 1
  static let misuse: Int32 = 2
  /// As a shell reports a process that died of Ctrl-C.
  static let interrupted: Int32 = 128 + SIGINT
}
