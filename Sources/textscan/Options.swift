/// The command line, parsed.
enum Command {
  case help
  case scan(Options)
}

struct Options {
  /// As they were given; `-` is standard input.
  var paths: [String] = []
  /// In the order of the table.
  var readers = ReaderName.allCases
  var pattern = "TODO"
  var printsJSON = false
  /// Where to write who computed and who waited for which line.
  var tracePath: String?
  var printsDiagram = false
}

/// The readers, by the names that `--only` takes.
enum ReaderName: String, CaseIterable {
  case lines, longest, words, duplicates, find
}

/// A command line that makes no sense.
struct UsageError: Error {
  let message: String
}

extension Command {
  init(_ arguments: some Sequence<String>) throws(UsageError) {
    var options = Options()
    var only: Set<ReaderName> = []
    var pattern: String?
    var takesOptions = true
    var rest = Array(arguments)[...]
    while let argument = rest.popFirst() {
      guard takesOptions, argument.hasPrefix("-"), argument != "-" else {
        options.paths.append(argument)
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      var inlineValue = parts.count == 2 ? String(parts[1]) : nil
      func value() throws(UsageError) -> String {
        if let value = inlineValue.take() { return value }
        guard let value = rest.popFirst() else {
          throw UsageError(message: "\(argument) needs a value")
        }
        return value
      }
      switch parts[0] {
      case "--": takesOptions = false
      case "--help", "-h":
        self = .help
        return
      case "--json": options.printsJSON = true
      case "--trace": options.tracePath = try value()
      case "--diagram": options.printsDiagram = true
      case "--find": pattern = try value()
      case "--only":
        for name in try value().split(separator: ",", omittingEmptySubsequences: false) {
          guard let reader = ReaderName(rawValue: String(name)) else {
            throw UsageError(message: "--only does not know the reader '\(name)'")
          }
          only.insert(reader)
        }
      default: throw UsageError(message: "unknown option \(argument)")
      }
      if inlineValue != nil { throw UsageError(message: "\(parts[0]) takes no value") }
    }
    if !only.isEmpty { options.readers.removeAll { !only.contains($0) } }
    if let pattern {
      guard options.readers.contains(.find) else {
        throw UsageError(message: "--find has no effect without the reader 'find'")
      }
      options.pattern = pattern
    }
    if options.printsJSON, options.printsDiagram {
      throw UsageError(message: "--diagram and --json would be printed into one another")
    }
    if options.paths.isEmpty { options.paths = ["."] }
    self = .scan(options)
  }
}

extension Options {
  static let usage = """
    usage: textscan [--only READER[,READER …]] [--find PATTERN] [--json | --diagram]
                    [--trace FILE] [FILE | DIRECTORY | - …]
    """

  static let help = """
    \(usage)

    Reads files once, as one lazy list of lines, and lets up to five readers walk that list at the
    same time. Without a path it reads the current directory; - is standard input.

    readers
      lines        counts lines, words and bytes, as wc -lwc does in a UTF-8 locale: a line is a
                   newline, a word a run of characters other than white space
      longest      the first longest line, in bytes, without its line end (\\n or \\r\\n)
      words        the twenty most frequent words; a word is what wc counts as one, as it is written
      duplicates   how many distinct lines occur more than once, and the five most frequent of them;
                   line ends do not count
      find         lines that contain a text, up to the tenth

    options
      --only READER   selects readers; takes a list, or can be repeated
      --find PATTERN  the text for find, byte for byte; TODO unless given
      --json          prints JSON instead of a table
      --diagram       prints what computes the lines, as a Mermaid flowchart, when the first is there
      --trace FILE    writes who computed and who waited for which line, to be opened in Perfetto
      -h, --help      prints this
      --              ends the options

    Directories are walked by name. The directories .git and .build are left out unless they are
    named as an argument; nothing else is skipped in silence: binary files (a zero byte in the first
    64 KiB), a directory that is met a second time, and pipes and devices inside of directories are
    each noted on standard error. Symbolic links are followed. Invalid UTF-8 is repaired for display
    and in words, control characters are shown as \\u{…} in the table, and no more than 4096 bytes of
    a line are shown. Of equally frequent words or lines, those that got there first are shown.

    exit status
      0    all went well
      1    something could not be read, or written; all the rest was
      2    the command line makes no sense
      130  interrupted by Ctrl-C; nothing is printed
    """
}
