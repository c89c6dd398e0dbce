import Dispatch
import Tailrace
import TailraceStored

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A crawl that can be killed, and goes on.
@main
struct Recrawl {
  static func main() async {
    let terminal = Terminal()
    do throws(UsageError) {
      switch try Command(CommandLine.arguments.dropFirst()) {
      case .help: print(Options.help)
      case .crawl(let options): exit(await crawl(options, terminal))
      }
    } catch {
      terminal.note("\(error.message)\n\(Options.usage)")
      exit(2)
    }
  }

  private static func crawl(_ options: Options, _ terminal: Terminal) async -> Int32 {
    let crawl = Crawl(options, terminal)
    do {
      var sums: [String] = []
      let totals = try await crawl.run { finding in
        if options.printsSums, case .file(_, let digest) = finding.kind {
          sums.append("\(digest)  \(finding.path)")
        }
      }
      for sum in sums { print(sum) }
      terminal.note(crawl.summary(totals).split(separator: "\n").joined(separator: "\nrecrawl: "))
      return totals.failures == 0 ? 0 : 1
    } catch ListStoreError.inUse {
      terminal.note(
        "\(options.file) is being written by another recrawl: --follow shows what it does")
    } catch {
      terminal.note("\(error)")
    }
    return 1
  }
}
