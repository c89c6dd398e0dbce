import TailraceFoundation
import TailraceStored

/// The command line, parsed.
enum Command: Equatable {
  case help
  case crawl(Options)
}

struct Options: Equatable {
  var directory = "."
  var file = ""
  var follows = false
  var printsSums = false
  var durability = Durability.survivesPowerLoss
}

/// A command line that makes no sense.
struct UsageError: Error, Equatable {
  let message: String
}

extension Command {
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var options = Options()
    var directories: [String] = []
    var rest = Array(arguments)[...]
    func value(of option: String) throws(UsageError) -> String {
      guard let value = rest.popFirst() else {
        throw UsageError(message: "\(option) needs a value")
      }
      return value
    }
    while let argument = rest.popFirst() {
      switch argument {
      case "-h", "--help":
        self = .help
        return
      case "--follow": options.follows = true
      case "--sums": options.printsSums = true
      case "--into": options.file = try value(of: argument)
      case "--durability": options.durability = try Durability(named: try value(of: argument))
      case _ where argument.hasPrefix("-"):
        throw UsageError(message: "unknown option \(argument)")
      default: directories.append(argument)
      }
    }
    guard !options.file.isEmpty else { throw UsageError(message: "--into FILE is missing") }
    guard directories.count <= 1 else { throw UsageError(message: "one directory at a time") }
    options.directory = directories.first ?? "."
    self = .crawl(options)
  }
}

extension Durability {
  fileprivate init(named name: String) throws(UsageError) {
    switch name {
    case "process": self = .survivesProcess
    case "power-loss": self = .survivesPowerLoss
    default:
      throw UsageError(message: "--durability takes process or power-loss, not \(name)")
    }
  }
}

extension Options {
  static let usage = """
    usage: recrawl [DIRECTORY] --into FILE [--follow] [--sums] [--durability process|power-loss]
    """

  static let help = """
    \(usage)

    Walks a tree, computes the SHA-256 of every file, and stores what it finds, as a list, in a file. It
    can be killed at any time: started again it reads what is there, and goes on behind it.

    options
      --into FILE        where the list is stored; made if it is not there
      --follow           does not walk: shows what another recrawl stores, as it does, until its end
      --sums             prints the sums at the end, for `sha256sum -c`
      --durability WHAT  what a finding survives once it is counted: `process`, the end of the process;
                         `power-loss`, which is the default, a loss of power
      -h, --help         prints this

    Links are not followed; they, and what is no file, are skipped. At its end it says how many steps ran, and
    how many were there.

    exit status
      0  all went well
      1  something could not be read or stored
      2  the command line makes no sense
    """
}
