import Foundation

/// The tables of the article *Laziness*: of each operator, what its documentation says about laziness, and
/// the kinds of closures that it takes.
enum LazinessTables {
  private static let package = Command.folder.appending(path: "../../../..").standardizedFileURL
  static let article = package.appending(path: "Sources/Tailrace/Tailrace.docc/Laziness.md")
  private static let folders = ["Lists", "Operators", "Concurrency"]
  private static let words = ["deferred", "stepwise", "searching", "exhaustive"]
  private static let (begin, end) = ("<!-- written by marbles -->\n", "<!-- until here -->")

  /// The article, with the tables of today.
  static func text() throws -> String {
    let text = try String(contentsOf: article, encoding: .utf8)
    let parts = text.components(separatedBy: begin)
    guard parts.count == 2, let last = parts[1].range(of: end) else {
      throw Mistake(description: "\(article.path) has no place for the tables")
    }
    return parts[0] + begin + (try tables()) + parts[1][last.lowerBound...]
  }

  struct Mistake: Error, CustomStringConvertible {
    let description: String
  }

  private static func tables() throws -> String {
    var entries: [Entry] = []
    for folder in folders {
      let folder = package.appending(path: "Sources/TailraceLists/\(folder)")
      for file in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
        let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
        for declaration in Declaration.all(in: source) { add(declaration, to: &entries) }
      }
    }
    return table("gives a list", entries.filter(\.givesList)) + "\n"
      + table("gives a value", entries.filter { !$0.givesList }) + "\n"
  }

  /// An operator, with all the kinds of closures that it takes.
  private struct Entry {
    let name: String
    let laziness: String
    let givesList: Bool
    var kinds: Set<String>

    /// Operators of one word are together, in the order of the article.
    var order: (Int, String, String, String) {
      (words.firstIndex { laziness.hasPrefix($0) } ?? words.count, laziness, closures, name)
    }

    var closures: String {
      let all = ["plain", "throwing", "asynchronous", "asynchronous and throwing"]
      if kinds.count == 4 { return "4" }
      if kinds == ["plain", "asynchronous and throwing"] { return "2" }
      return all.filter(kinds.contains).joined(separator: ", ")
    }
  }

  private static func add(_ declaration: Declaration, to entries: inout [Entry]) {
    // A kind that has no word of its own belongs to the one before it.
    let place = entries.lastIndex {
      $0.name == declaration.name && declaration.laziness.map([$0.laziness].contains) ?? true
    }
    if let place {
      entries[place].kinds.formUnion(declaration.kinds)
    } else if let laziness = declaration.laziness {
      entries.append(
        Entry(
          name: declaration.name, laziness: laziness, givesList: declaration.givesList,
          kinds: Set(declaration.kinds)))
    }
  }

  private static func table(_ title: String, _ entries: [Entry]) -> String {
    var rows: [(names: [String], entry: Entry)] = []
    for entry in entries.sorted(by: { $0.order < $1.order }) {
      let name = "`\(entry.name)`"
      if let last = rows.last?.entry, last.laziness == entry.laziness,
        last.closures == entry.closures
      {
        rows[rows.count - 1].names.append(name)
      } else {
        rows.append(([name], entry))
      }
    }
    let lines = rows.map { names, entry in
      "| \(names.joined(separator: ", ")) | \(entry.laziness) | \(entry.closures)"
        + (entry.closures.isEmpty ? "|\n" : " |\n")
    }
    return "| \(title) | word | closures |\n|---|---|---|\n" + lines.joined()
  }
}

/// A public member of `LazyList`, as its source declares it.
private struct Declaration {
  /// With the labels of its arguments.
  let name: String
  let laziness: String?
  let givesList: Bool
  /// The kinds of closures that it takes: one whose failure has a type takes those that never fail, too.
  let kinds: [String]

  static func all(in source: String) -> [Declaration] {
    let pattern =
      #/
      (?<doc>(?:^\x20*\/\/\/.*\n)*)(?:^\x20*(?:@|\/\/\x20).*\n)*
      ^\x20\x20(?:nonisolated\(nonsending\)\x20)?public\x20(?:(?:consuming|static)\x20)*(?:func|var)\x20
      `?(?<name>\w+|\+)`?(?<rest>[^{]*)\{
      /#.anchorsMatchLineEndings()
    // Of other types, such as the readers in step, nothing is in the tables.
    return source.split(separator: /^(?=extension )/.anchorsMatchLineEndings())
      .filter { $0.hasPrefix("extension LazyList") }
      .flatMap { part in
        part.matches(of: pattern).map {
          Declaration(name: $0.name, doc: $0.doc, rest: String($0.rest))
        }
      }
  }

  private init(name: Substring, doc: Substring, rest: String) {
    let rest = rest.replacing(/\s+/, with: " ").replacing("->", with: "→")
    let parameters = Self.parameters(of: rest)
    let labels = parameters.map(\.label).filter { $0 != "file" && $0 != "line" }
    let isFunction = rest.hasPrefix("(") || rest.hasPrefix("<")
    self.name =
      name == "+" || !isFunction
      ? String(name) : "\(name)(\(labels.map { $0 + ":" }.joined()))"
    laziness = Self.laziness(in: doc)
    givesList = rest.contains(/(?:→|:) LazyList\b(?!.*→)/)
    kinds = parameters.flatMap(\.kinds)
  }

  /// The field of the documentation, as one sentence.
  private static func laziness(in doc: Substring) -> String? {
    let lines = doc.split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces).dropFirst(3).dropFirst()
    }
    guard let first = lines.firstIndex(where: { $0.hasPrefix("- Laziness: ") }) else { return nil }
    let rest = lines[(first + 1)...].prefix { $0.hasPrefix("  ") && !$0.hasPrefix("  - ") }
    let words = ([lines[first].dropFirst("- Laziness: ".count)] + rest).map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    let text = words.joined(separator: " ").replacing("``", with: "`")
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }

  private static func parameters(of rest: String) -> [(label: String, kinds: [String])] {
    var (depth, parts, isInside) = (0, [""], false)
    for character in rest {
      if "([<".contains(character) { depth += 1 }
      if ")]>".contains(character) { depth -= 1 }
      if !isInside {
        isInside = character == "(" && depth == 1
        continue
      }
      if depth == 0 { break }
      if character == ",", depth == 1 {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    let all = parts.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    return all.map { part in
      let bare = part.replacing(/^(?:@\w+(?:<.*>|\(.*\))? )+(?=\w+ \w*:|\w+:)/, with: "")
      let label = bare.prefix { $0 != " " && $0 != ":" }
      let effects = part.firstMatch(of: /\) ?(?<effects>[a-z ]*)(?<typed>\(\w+\))? ?→/)
      let kinds = [
        "": ["plain"], "throws": ["throwing"], "async": ["asynchronous"],
        "async throws": ["asynchronous and throwing"],
      ]
      let words = effects?.effects.trimmingCharacters(in: .whitespaces) ?? "none"
      let others = effects?.typed == nil ? [] : kinds[words.replacing(/\s?throws/, with: "")] ?? []
      return (String(label), others + (kinds[words] ?? []))
    }
  }
}
