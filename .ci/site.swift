// Prepares what docc reads, and checks what it has written:
//   site graphs <folder of symbol graphs>
//   site catalog <a .docc folder> <its copy>
//   site search <folder of the site>
//   site check <folder of symbol graphs> <folder of the site> <folder of the catalogs>
import Foundation

func files(below folder: String, named suffix: String) -> [URL] {
  (FileManager.default.enumerator(at: URL(filePath: folder), includingPropertiesForKeys: nil)
    ?? .init())
    .compactMap { $0 as? URL }
    .filter { $0.lastPathComponent.hasSuffix(suffix) }
    .sorted { $0.path < $1.path }
}

func object(_ file: URL) throws -> [String: Any] {
  try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
}

// MARK: Symbol graphs

/// Makes the comments those of the module whose pages these are, or docc takes a comment of another
/// module for an inherited one and drops it. Makes the fields of comments look alike. Leaves out an
/// attribute, and conditions that a type has anyway, which tell a reader nothing.
func prepareGraph(_ file: URL) throws {
  var graph = try object(file)
  let module = (graph["module"] as? [String: Any])?["name"] as? String ?? ""
  let symbols = graph["symbols"] as? [[String: Any]] ?? []
  let conditions = Dictionary(
    symbols.map { (path($0), constraints($0, of: "swiftGenerics")) }, uniquingKeysWith: +)
  graph["symbols"] = symbols.map { symbol in
    var symbol = symbol
    if var place = symbol["swiftExtension"] as? [String: Any] {
      let own = conditions[path(symbol).dropLast()] ?? []
      place["constraints"] = constraints(symbol, of: "swiftExtension").filter { !own.contains($0) }
      symbol["swiftExtension"] = place
    }
    if var comment = symbol["docComment"] as? [String: Any] {
      if let owner = comment["module"] as? String, owner.hasPrefix("Tailrace") {
        comment["module"] = module
      }
      let lines = comment["lines"] as? [[String: Any]] ?? []
      comment["lines"] = withoutFormerName(lines).map(withPlainField)
      symbol["docComment"] = comment
    }
    return withoutCheckedAlone(symbol) as? [String: Any] ?? symbol
  }
  try JSONSerialization.data(withJSONObject: graph).write(to: file)
}

func path(_ symbol: [String: Any]) -> ArraySlice<String> {
  (symbol["pathComponents"] as? [String] ?? [])[...]
}

func constraints(_ symbol: [String: Any], of key: String) -> [[String: String]] {
  (symbol[key] as? [String: Any])?["constraints"] as? [[String: String]] ?? []
}

/// The names that a symbol replaces have a table of their own, in *Coming from ReactiveObjC*.
func withoutFormerName(_ lines: [[String: Any]]) -> [[String: Any]] {
  func text(_ line: [String: Any]) -> String { line["text"] as? String ?? "" }
  guard let start = lines.firstIndex(where: { text($0).hasPrefix("Replaces `") }) else {
    return lines
  }
  let end = lines[start...].firstIndex { text($0).isEmpty } ?? lines.endIndex
  return Array(lines[..<start] + lines[end...])
}

let fields = ["Laziness", "Isolation", "Failure", "Cancellation", "Complexity"]

/// docc makes a box of `- Complexity:`, and a plain item of fields that it does not know.
func withPlainField(_ line: [String: Any]) -> [String: Any] {
  guard let text = line["text"] as? String,
    let field = fields.first(where: { text.hasPrefix("- \($0):") })
  else { return line }
  var line = line
  line["text"] = "- **\(field)**:" + text.dropFirst(field.count + 3)
  return line
}

/// Removes the fragments `@`, `_CheckedAlone`, `<`, the type, `>` and the space, in any depth.
func withoutCheckedAlone(_ value: Any) -> Any {
  if let dictionary = value as? [String: Any] { return dictionary.mapValues(withoutCheckedAlone) }
  guard let array = value as? [Any] else { return value }
  func spelling(_ index: Int) -> String {
    (array[index] as? [String: Any])?["spelling"] as? String ?? ""
  }
  guard let name = array.indices.first(where: { spelling($0) == "_CheckedAlone" }), name > 0 else {
    return array.map(withoutCheckedAlone)
  }
  var (end, depth) = (name + 1, 0)
  repeat {
    depth += spelling(end).count { $0 == "<" } - spelling(end).count { $0 == ">" }
    end += 1
  } while depth > 0 && end < array.count
  if end < array.count, spelling(end) == " " { end += 1 }
  return withoutCheckedAlone(Array(array[..<(name - 1)] + array[end...]))
}

// MARK: Catalogs

/// The module that declares `URL`.
#if canImport(Darwin)
  let urlModule = "Foundation"
#else
  let urlModule = "FoundationEssentials"
#endif

/// Copies a catalog. Its articles link to one another as files, which a code host can follow; docc
/// follows `doc:` links. A link to an article of another module names that module.
func copyCatalog(_ catalog: String, to copy: String) throws {
  try? FileManager.default.removeItem(atPath: copy)
  try FileManager.default.copyItem(atPath: catalog, toPath: copy)
  for file in files(below: copy, named: ".md") {
    let text = try String(contentsOf: file, encoding: .utf8)
    let linked = text.replacing(
      /\]\((?<folder>[.\/\w]*\/(?<module>\w+)\.docc\/)?(?<article>\w+)\.md(?:#(?<anchor>[\w-]+))?\)/
    ) {
      let module = $0.output.module.map { "/\($0)/" } ?? ""
      let target = "\(catalog)/\($0.output.folder ?? "")\($0.output.article).md"
      let heading = $0.output.anchor.flatMap { fragment(String($0), in: target) } ?? ""
      // The article of a module itself is that module's page.
      let isRoot = $0.output.module == $0.output.article
      return "](doc:\(isRoot ? "/\($0.output.article)" : module + $0.output.article)\(heading))"
    }
    .replacing(/``FoundationEssentials\//) { _ in "``\(urlModule)/" }
    .replacing(/\]\(Resources\/(?<picture>[\w-]+)\.svg\)/) { "](\($0.output.picture))" }
    try linked.write(to: file, atomically: true, encoding: .utf8)
  }
}

/// A heading as docc links to it, found by the anchor that a code host makes of it.
func fragment(_ anchor: String, in article: String) -> String? {
  let text = (try? String(contentsOfFile: article, encoding: .utf8)) ?? ""
  for line in text.split(separator: "\n") where line.hasPrefix("##") {
    let words = String(line.drop { $0 == "#" || $0 == " " })
      .filter { $0.isLetter || $0.isNumber || " -_".contains($0) }.replacing(" ", with: "-")
    if words.lowercased() == anchor { return "#" + words }
  }
  return nil
}

// MARK: Search

/// Writes what a search finds: the titles and summaries of all pages, and the whole text of articles.
func writeSearch(in site: String) throws {
  let pages = try files(below: site + "/data/documentation", named: ".json").map(object)
  let entries = pages.compactMap { page -> [String]? in
    let metadata = page["metadata"] as? [String: Any] ?? [:]
    guard let title = metadata["title"] as? String,
      let paths = (page["variants"] as? [[String: Any]])?.first?["paths"] as? [String],
      let path = paths.first
    else { return nil }
    let isArticle = page["kind"] as? String == "article"
    let text = words(page["abstract"]) + (isArticle ? words(page["primaryContentSections"]) : "")
    let kind = metadata["roleHeading"] as? String ?? ""
    return [title, kind, String(path.dropFirst()) + "/", text]
  }
  try JSONSerialization.data(withJSONObject: entries)
    .write(to: URL(filePath: site + "/search.json"))
  try FileManager.default.copyItem(atPath: ".ci/search.html", toPath: site + "/search.html")
}

/// All text of a part of a page.
func words(_ value: Any?) -> String {
  if let list = value as? [Any] { return list.map { words($0) }.joined() }
  guard let part = value as? [String: Any] else { return "" }
  if let lines = part["code"] as? [String] { return lines.joined(separator: " ") + " " }
  let text = (part["text"] as? String ?? part["code"] as? String).map { $0 + " " } ?? ""
  return ["content", "inlineContent", "items", "rows"].reduce(text) { $0 + words(part[$1]) }
}

// MARK: Checks

struct Written {
  let module: String
  let symbol: [String: Any]

  var precise: String { (symbol["identifier"] as? [String: Any])?["precise"] as? String ?? "" }
  var path: String { (symbol["pathComponents"] as? [String] ?? []).joined(separator: "/") }
  var comment: [String: Any]? { symbol["docComment"] as? [String: Any] }
  var lines: [String] {
    (comment?["lines"] as? [[String: Any]] ?? []).compactMap { $0["text"] as? String }
  }
  var isOurs: Bool { (comment?["module"] as? String)?.hasPrefix("Tailrace") ?? true }
}

/// The symbols that somebody wrote: neither extensions as such, nor members that came with a conformance.
func written(in folder: String) throws -> [Written] {
  try files(below: folder, named: ".symbols.json").flatMap { file in
    let graph = try object(file)
    let module = (graph["module"] as? [String: Any])?["name"] as? String ?? ""
    return (graph["symbols"] as? [[String: Any]] ?? []).map { Written(module: module, symbol: $0) }
  }
  .filter {
    ($0.symbol["kind"] as? [String: Any])?["identifier"] as? String != "swift.extension"
      && !$0.precise.contains("::SYNTHESIZED::") && $0.symbol["location"] != nil
  }
}

/// Complains about public symbols without documentation. What a protocol of another module documents
/// needs no words of ours.
func checkDocumentation(in graphs: String) throws -> [String] {
  var seen: Set<String> = []
  let symbols = try written(in: graphs).filter { seen.insert($0.precise).inserted }
  let undocumented = symbols.filter(\.lines.isEmpty)
  let own = symbols.filter { !$0.lines.isEmpty && $0.isOurs }
  let examples = own.count { $0.lines.contains { $0.hasPrefix("```swift") } }
  print(
    "\(symbols.count) public symbols: \(own.count) documented, \(examples) of them with an example;",
    "\(symbols.count - own.count - undocumented.count) documented by the protocol they satisfy;",
    "\(undocumented.count) undocumented")
  let none = symbols.isEmpty ? ["no public symbols in \(graphs)"] : []
  return none
    + undocumented.map {
      "no documentation: \($0.module)/\($0.path)"
    }
}

/// The symbols that have words of their own, by their name for the linker and by their path: the page of
/// a group of overloads may be that of another module's.
func ownComments(in graphs: String) throws -> Set<String> {
  let own = try written(in: graphs).filter { !$0.lines.isEmpty && $0.isOurs }
  return Set(own.map(\.precise)).union(own.map { "\($0.module)/\($0.path)" })
}

/// Complains about pages that show other words than ours, about documented symbols that only tables made
/// by docc list, and about calls that people begin with and do not find.
func checkPages(in site: String, own: Set<String>) throws -> [String] {
  var (foreign, unlisted): ([String], [String]) = ([], [])
  var (listed, conforming, parents): (Set<String>, Set<String>, Set<String>) = ([], [], [])
  let pages = try files(below: site + "/data/documentation", named: ".json").map(object)
  for page in pages {
    let url = (page["identifier"] as? [String: Any])?["url"] as? String ?? ""
    for section in page["topicSections"] as? [[String: Any]] ?? [] {
      let identifiers = section["identifiers"] as? [String] ?? []
      if url.hasSuffix("-Implementations") {
        // What a conformance requires has a table of docc's own.
        conforming.formUnion(identifiers)
      } else if section["generated"] == nil {
        listed.formUnion(identifiers)
        // A page with a table that somebody wrote must list all that belongs to it.
        if identifiers.contains(where: { parent(of: $0) == url }) { parents.insert(url) }
      }
    }
  }
  for page in pages {
    let metadata = page["metadata"] as? [String: Any] ?? [:]
    guard let symbol = metadata["externalID"] as? String,
      let identifier = (page["identifier"] as? [String: Any])?["url"] as? String,
      let path = identifier.firstMatch(of: /\/documentation\/(?<path>.*?)(?:-[0-9a-z]{4,5})?$/),
      own.contains(symbol) || own.contains(String(path.output.path))
    else { continue }
    let summary = (page["abstract"] as? [[String: Any]] ?? []).first?["text"] as? String ?? ""
    if summary.hasPrefix("Inherited from") { foreign.append(identifier) }
    let isOverload = identifier.firstMatch(of: /-[0-9a-z]{4,5}$/) != nil
    if !isOverload, !listed.contains(identifier), !conforming.contains(identifier),
      parents.contains(parent(of: identifier))
    {
      unlisted.append(identifier)
    }
  }
  let names = listed.map { $0.replacing("doc://", with: "") }
  let missing = entryPoints.filter { entry in !names.contains { $0.contains(entry) } }
  print(
    "\(pages.count) pages; \(foreign.count) show another declaration's words;",
    "\(unlisted.count) are in no table; \(missing.count) entry points are in no table")
  return foreign.map { "shows another declaration's words: \($0)" }
    + unlisted.sorted().map { "in no table of contents: \($0)" }
    + missing.map { "an entry point in no table of contents: \($0)" }
}

/// Complains about calls in articles, such as `map(retryingFailures:)`, of a name of ours with labels that
/// no declaration of that name has. Prose is not compiled.
func checkCalls(in catalogs: String, graphs: String) throws -> [String] {
  var labels: [String: [[String]]] = [:]
  for symbol in try written(in: graphs) {
    guard let call = (symbol.symbol["pathComponents"] as? [String])?.last.flatMap(Call.init) else {
      continue
    }
    labels[call.name, default: []].append(call.labels)
  }
  var (count, complaints): (Int, [String]) = (0, [])
  // Functions that examples declare are the reader's own.
  for file in files(below: catalogs, named: ".md") {
    let text = try String(contentsOf: file, encoding: .utf8)
    for function in text.matches(of: /func (?<name>\w+)/) {
      labels[String(function.output.name)] = nil
    }
  }
  for file in files(below: catalogs, named: ".md")
  where !file.lastPathComponent.hasPrefix("ComingFrom") {
    let text = try String(contentsOf: file, encoding: .utf8)
    for span in text.matches(of: /`+(?:\w+[.\/])*(?<call>\w+\([\w:]+:\))[^`]*`+/) {
      guard let call = Call(String(span.output.call)), let known = labels[call.name] else {
        continue
      }
      count += 1
      // Labels may be left out, as in a call.
      let fits = known.contains { declared in
        var rest = declared[...]
        return call.labels.allSatisfy { label in
          guard let place = rest.firstIndex(of: label) else { return false }
          rest = rest[(place + 1)...]
          return true
        }
      }
      if !fits {
        complaints.append(
          "\(file.lastPathComponent): no \(call.name) has the labels \(span.output.call)")
      }
    }
  }
  print("\(count) calls in articles; \(complaints.count) that no declaration has")
  return complaints
}

struct Call {
  let name: String
  let labels: [String]

  init?(_ text: String) {
    guard let parts = text.wholeMatch(of: /(?<name>\w+)\((?<labels>[\w:]*)\)/) else { return nil }
    name = String(parts.output.name)
    labels = parts.output.labels.split(separator: ":").map(String.init)
  }
}

func parent(of identifier: String) -> String {
  identifier.lastIndex(of: "/").map { String(identifier[..<$0]) } ?? identifier
}

/// What people begin with, wherever it is declared.
let entryPoints = [
  "LazyList/init(state:", "LazyList/init(_:)", "LazyList/init(storedIn:", "LazyList/init(reading:",
  "LazyList/init(mirroring:", "LazyList/source", "AsyncSequence/memoized(", "Signal/memoized()",
  "URL/lazyLines", "URL/lazyChunks(", "FileHandle/lazyLines", "NSArray/lazyList",
  "Collection/lazyList", "Signal/shared(", "LazyList/concurrentMap(", "LazyList/map(_:)",
  "TailraceObservation/ListModel", "TailraceStored/FileStore", "TailraceTesting/explore(",
]

// MARK: The command

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "graphs":
  for file in files(below: arguments[2], named: ".symbols.json") { try prepareGraph(file) }
case "catalog":
  try copyCatalog(arguments[2], to: arguments[3])
case "search":
  try writeSearch(in: arguments[2])
case "check":
  let complaints =
    try checkDocumentation(in: arguments[2])
    + checkPages(in: arguments[3], own: ownComments(in: arguments[2]))
    + checkCalls(in: arguments[4], graphs: arguments[2])
  for complaint in complaints { print(complaint) }
  exit(complaints.isEmpty ? 0 : 1)
default:
  fatalError("site: graphs, catalog, search or check, not \(arguments.dropFirst())")
}
