// Mutation testing of the values that hold concurrent state: changes one operator, bound, literal, condition
// or statement at a time, compiles the changed file beside the tests of its own suites only, runs them, and
// prints which changes no test has noticed. The share that is noticed is the mutation score.
//
//   swift build --build-tests
//   swiftc -O -o .build/mutate .ci/mutate.swift && .build/mutate [--sample NUMBER] [NAME …]
//
// `.ci/mutants` has a row for each value: its name, the files that are changed, and the files that are compiled
// with them: its tests, and other parts of the library that name its types. A folder stands for its files; suites
// that are named beside a folder of tests run before the others. All of them are one module, over the modules of the
// debug build: a type that is defined there hides the one of the same name in the library.
// Lines below a row that begin with `same:` are changes that change nothing, or no part of the value, each with
// its reason; they are not counted. A sample has the same changes each time.
import Foundation

func fail(_ words: String) -> Never {
  FileHandle.standardError.write(Data("mutate: \(words)\n".utf8))
  exit(2)
}

/// Runs a command of the shell; its status and what it printed.
@discardableResult
func shell(_ command: String, in folder: String) -> (status: Int32, output: String) {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/bin/bash")
  process.arguments = ["-c", "set -o pipefail; " + command]
  process.currentDirectoryURL = URL(fileURLWithPath: folder)
  let pipe = Pipe()
  (process.standardOutput, process.standardError) = (pipe, pipe)
  do { try process.run() } catch { fail("bash does not start: \(error)") }
  let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return (process.terminationStatus, output)
}

func text(_ path: String) throws -> String {
  try String(contentsOfFile: root + "/" + path, encoding: .utf8)
}

// MARK: Rows

struct Row {
  let name: String
  let values: [String]
  let tests: [String]
  /// If there is a folder of tests: the suites that are named beside it, which run first.
  let own: [String]
  /// What a change makes of its line, and why it changes nothing.
  var same: [String: String] = [:]
}

/// Reads rows `name: value.swift … | test.swift …`. The tests of the row `all` are compiled with each.
func rows(in list: String) -> [Row] {
  var (rows, shared): ([Row], [String]) = ([], [])
  for line in list.split(separator: "\n") where !line.hasPrefix("#") {
    let body = line.drop { $0 != ":" }.dropFirst()
    if line.hasPrefix("  same:") {
      guard let mark = body.range(of: " // "), !rows.isEmpty else { fail("no reason: \(line)") }
      rows[rows.count - 1].same[body[..<mark.lowerBound].trimmed] = String(body[mark.upperBound...])
      continue
    }
    let halves = body.split(separator: "|", omittingEmptySubsequences: false).map {
      $0.split(separator: " ").flatMap { files(at: String($0)) }
    }
    guard halves.count == 2 else {
      fail("a row of .ci/mutants is `name: values | tests`, not: \(line)")
    }
    let name = String(line.prefix { $0 != ":" })
    if name == "all" {
      shared = halves[1]
    } else {
      var known = Set(halves[0])
      let others = (halves[1] + shared).filter { known.insert($0).inserted }
      let tests = body.split(separator: " ").filter { $0.hasPrefix("Tests/") }
      let own =
        tests.allSatisfy { $0.hasSuffix(".swift") }
        ? [] : tests.map { $0.split(separator: "/").last! }.filter { $0.hasSuffix("Tests.swift") }
      rows.append(
        Row(
          name: name, values: halves[0], tests: others, own: own.map { String($0.dropLast(6)) }))
    }
  }
  return rows
}

/// A file, or the Swift files of a folder.
func files(at path: String) -> [String] {
  guard !path.hasSuffix(".swift") else { return [path] }
  guard let names = try? FileManager.default.contentsOfDirectory(atPath: root + "/" + path) else {
    fail("there is no folder \(path)")
  }
  return names.filter { $0.hasSuffix(".swift") }.sorted().map { "\(path)/\($0)" }
}

extension StringProtocol {
  var trimmed: String { trimmingCharacters(in: .whitespaces) }
}

// MARK: Changes

struct Mutant {
  let file: Int
  let line: Int
  let before: String
  let after: String
  /// How `.ci/mutants` names it.
  var key: String { after.trimmed == dropped ? "drop " + before.trimmed : after.trimmed }
  /// Its place in a sample: a hash (FNV-1a) of its text, so that it is not chosen by its neighbours.
  var rank: UInt64 {
    (before + after).utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

let dropped = "_ = ()"

/// What an operator or a literal becomes. Operators have spaces around them: the others are generic brackets.
let replacements =
  pairs(
    "< <= <= < > >= >= > == != != == === !== !== === && || || && + - - + &+ &- &- &+ += -= -= += | & & |"
  )
  .map { (" \($0) ", " \($1) ") }
  + pairs(
    "true false false true min( max( max( min( .first .last .removeFirst( .removeLast( (! ( ..< ..."
  )
  + [(" !", " "), (" 0", " 1"), (" 1", " 2"), (".isEmpty", ".isEmpty == false")]

func pairs(_ words: String) -> [(String, String)] {
  let words = words.split(separator: " ").map(String.init)
  return stride(from: 0, to: words.count, by: 2).map { (words[$0], words[$0 + 1]) }
}

/// How lines begin that are no statements of their own, and those that only check or say something.
let declares =
  #/^(let|var|if|guard|case|switch|for|while|func|else|default|struct|enum|extension|init|deinit|static|private|fileprivate|package|public|internal|final|mutating|nonmutating|consuming|defer|repeat|do|return|typealias|where|throw|break|continue)\b|^[}@.?:&|_]/#
let says = #/^ *(\/\/|assert|precondition|require\(|import |#|fatal|@available)|"/#

/// What a line of code can become.
func changes(of line: String) -> [String] {
  let code = line.range(of: " //").map { String(line[..<$0.lowerBound]) } ?? line
  if code.contains(says) { return [] }
  let (statement, indent) = (code.trimmed, String(code.prefix { $0 == " " }))
  var result: [String] = []
  if !code.contains(#/func |init\(|subscript\(| where /#) {
    for (old, new) in replacements {
      for found in code.ranges(of: old) {
        // A part of a longer word, number or operator stays.
        let next = code[found.upperBound...].first ?? " "
        let continues: (Character) -> Bool = { $0.isLetter || $0.isNumber || "_".contains($0) }
        if old == " !"
          ? "= ".contains(next)
          : old.last.map(continues) == true && (continues(next) || next == ".")
        {
          continue
        }
        result.append(code[..<found.lowerBound] + new + code[found.upperBound...])
      }
    }
  }
  // A condition that binds nothing is negated.
  if let match = statement.wholeMatch(of: #/(if |guard |while )(.+?)( else)?( \{.*)/#),
    !match.2.contains(#/let |case |var |, /#)
  {
    result.append("\(indent)\(match.1)!(\(match.2))\(match.3 ?? "")\(match.4)")
  }
  let depth = code.reduce(0) { $0 + ("([{".contains($1) ? 1 : ")]}".contains($1) ? -1 : 0) }
  if depth == 0, !statement.contains(declares), statement.contains(#/= |\)$/#),
    !statement.hasSuffix(",")
  {
    result.append(indent + dropped)
  }
  return result
}

/// All changes of a file. What checks invariants or describes a value stays: a check that is weaker, or another
/// word, is no fault of the value.
func mutants(of lines: [String], file: Int) -> [Mutant] {
  let silent = ["Invariants(", "description: String", "func word", "func sketch", "func diagram"]
  var (result, skipped): ([Mutant], Int?) = ([], nil)
  for (number, line) in lines.enumerated() {
    let indent = line.prefix { $0 == " " }.count
    if let outer = skipped {
      if indent == outer, line.contains("}") { skipped = nil }
    } else if line.hasSuffix("{"), silent.contains(where: line.contains) {
      skipped = indent
    } else {
      result += changes(of: line).map {
        Mutant(file: file, line: number, before: line, after: $0)
      }
    }
  }
  return result
}

// MARK: Programs

let root = FileManager.default.currentDirectoryPath
let work = root + "/.build/mutation"
let build = root + "/.build/debug"

/// The objects of the library, as one archive, and the package's name in the compiler's calls.
func prepare() -> String {
  try? FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
  let objects =
    "ls \(build)/{Tailrace*,FileReading,CProcessExecutors}.build/*.o | grep -v Tests.build"
  let made = shell("\(objects) | xargs ar rcs $$.a && mv -f $$.a library.a", in: work)
  if made.status != 0 { fail("build first: swift build --build-tests\n" + made.output) }
  let name = "grep -om1 '\"-package-name\",\"[^\"]*' .build/debug.yaml | cut -d'\"' -f4"
  return shell(name, in: root).output.trimmingCharacters(in: .whitespacesAndNewlines)
}

/// A folder with the files of a row, in which they are compiled again and again.
struct Bench {
  let folder: String
  let files: [String]
  let flags: String

  init(_ row: Row, package: String) throws {
    folder = work + "/" + row.name
    files = (row.values + row.tests).map { ($0 as NSString).lastPathComponent } + ["Runner.swift"]
    // Some toolchains have the macros of Testing in a folder of their own.
    let plugins = #""$(dirname "$(readlink -f "$(which swiftc)")")"/../lib/swift/host/plugins"#
    flags = """
      -module-name Mutant -parse-as-library -swift-version 6 -package-name \(package) -enable-testing \
      -suppress-warnings -O -assert-config Debug -D DEBUG -I \(build)/Modules \
      -plugin-path \(plugins) -plugin-path \(plugins)/testing
      """
    shell("rm -rf \(folder); mkdir -p \(folder)", in: work)
    try """
    import Testing
    @main struct Runner { static func main() async { await Testing.__swiftPMEntryPoint() as Never } }
    """.write(toFile: folder + "/Runner.swift", atomically: true, encoding: .utf8)
    for path in row.values + row.tests { try put(text(path), path) }
  }

  /// The words of the compiler, if it refuses the files as they are.
  func refusal() -> String? {
    let compile = "swiftc -c -j1 \(flags) \(files.joined(separator: " "))"
    let result = shell("\(compile) && swiftc *.o ../library.a -o suite", in: folder)
    return result.status == 0 ? nil : result.output
  }

  /// Compiles one file that has changed, and links it with the objects of the others.
  func compiles(_ file: String) -> Bool {
    let all = files.map { $0 == file ? "-primary-file " + $0 : $0 }.joined(separator: " ")
    let object = (file as NSString).deletingPathExtension + ".o"
    let link = "swiftc $(ls *.o | grep -vx '\(object)') changed/mutant.o ../library.a -o suite"
    let compile = "mkdir -p changed && swiftc -frontend -c \(flags) \(all) -o changed/mutant.o"
    return shell("\(compile) && \(link)", in: folder).status == 0
  }

  /// The module of a value needs the rest of its own module: the import stands on the first line, before all.
  func put(_ text: String, _ path: String) throws {
    let module =
      path.hasPrefix("Sources/") ? "@testable import \(path.split(separator: "/")[1]); " : ""
    // Of one module's files, either all or none say how far an import reaches.
    let text = module + text.replacing(#/(internal|package|public) import /#, with: "import ")
    let name = folder + "/" + (path as NSString).lastPathComponent
    try text.write(toFile: name, atomically: true, encoding: .utf8)
  }

  /// Whether no test fails, traps or hangs: the first failure ends the run. Suites that try all orders are the
  /// longest, and run last.
  func passes(_ tests: String, within seconds: Double) -> Bool {
    let suite = "TAILRACE_SEED=1 SWIFT_BACKTRACE=enable=no timeout -s KILL \(seconds) ./suite"
    // 69: it has none of these tests.
    let output = "(\(suite) --testing-library swift-testing \(tests) Orders 2>&1 || [[ $? == 69 ]])"
    return shell("\(output) | { ! grep -qm1 '\u{2718}'; }", in: folder).status == 0
  }
}

// MARK: Main

setvbuf(stdout, nil, _IOLBF, 0)
var names = CommandLine.arguments.dropFirst()
let sample: Int
if names.first == "--sample" {
  guard let number = names.dropFirst().first.flatMap({ Int($0) }) else { fail("--sample NUMBER") }
  (sample, names) = (number, names.dropFirst(2))
} else {
  sample = .max
}
let known = try rows(in: text(".ci/mutants"))
if let name = names.first(where: { name in !known.contains { $0.name == name } }) {
  fail("there is no row \(name) in .ci/mutants")
}
let chosen = known.filter { names.isEmpty || names.contains($0.name) }
let package = prepare()
var (killed, survived) = (0, 0)
print(
  "| value | changes tried | noticed | not noticed | score | seconds |\n| --- | --- | --- | --- | --- | --- |"
)
for row in chosen {
  let clock = ContinuousClock()
  let started = clock.now
  let bench = try Bench(row, package: package)
  if let words = bench.refusal() { fail("\(row.name) does not compile:\n\(words)") }
  for file in bench.files.prefix(row.values.count) where !bench.compiles(file) {
    fail("\(file) does not compile by itself: no change of it would be tried")
  }
  // Each part's tests, and for how long a change may keep them busy.
  let own = row.own.isEmpty ? [] : [#"--filter '\.(\#(row.own.joined(separator: "|")))/' --skip"#]
  let parts = (own + ["--skip", "--filter"]).map { tests in
    let begun = clock.now
    guard bench.passes(tests, within: 600) else {
      fail("the tests of \(row.name) fail as they are: see \(bench.folder)")
    }
    return (tests: tests, patience: 3 + 3 * ((clock.now - begun) / .seconds(1)))
  }
  let lines = try row.values.map { try text($0).components(separatedBy: "\n") }
  var changes = lines.enumerated().flatMap { mutants(of: $1, file: $0) }
  let unknown = Set(row.same.keys).subtracting(changes.map(\.key))
  changes.removeAll { row.same[$0.key] != nil }
  if sample < changes.count { changes.sort { $0.rank < $1.rank } }
  var (noticed, missed): (Int, [Mutant]) = (0, [])
  for mutant in changes where noticed + missed.count < sample {
    let path = row.values[mutant.file]
    var changed = lines[mutant.file]
    changed[mutant.line] = mutant.after
    try bench.put(changed.joined(separator: "\n"), path)
    if bench.compiles(bench.files[mutant.file]) {
      if parts.allSatisfy({ bench.passes($0.tests, within: $0.patience) }) {
        missed.append(mutant)
      } else {
        noticed += 1
      }
    }
    try bench.put(lines[mutant.file].joined(separator: "\n"), path)
  }
  (killed, survived) = (killed + noticed, survived + missed.count)
  show(row.name, noticed, missed.count, Int((clock.now - started) / .seconds(1)))
  for mutant in missed {
    print("    \(row.values[mutant.file]):\(mutant.line + 1)")
    print("      - \(mutant.before.trimmed)\n      + \(mutant.after.trimmed)")
  }
  for key in unknown.sorted() { print("    no such change: \(key)") }
}
if chosen.count > 1 { show("all", killed, survived, 0) }

func show(_ name: String, _ killed: Int, _ survived: Int, _ seconds: Int) {
  let score = String(format: "%.1f", 100 * Double(killed) / Double(max(1, killed + survived)))
  print("| \(name) | \(killed + survived) | \(killed) | \(survived) | \(score) % | \(seconds) |")
}
