/// One file, directory or failure of the tree: an element of the stored list.
struct Finding: Codable, Sendable, Equatable {
  enum Kind: Codable, Sendable, Equatable {
    /// With the names of its entries, sorted.
    case directory(entries: [String])
    case file(size: Int, digest: String)
    /// It is left out.
    case skipped(because: String)
    case failed(String)
  }

  let path: String
  let kind: Kind
}

/// The places that are still to be looked at: the state of the crawl.
///
/// It can have a hundred thousand entries, and so it is not stored with every finding, but made of
/// the findings again.
struct Frontier: Codable, Sendable, Equatable {
  /// The next one last.
  private(set) var pending: [String]

  init(_ root: String) { pending = [root] }

  var next: String? { pending.last }

  /// Passes a finding: its place is done, and what is in it is still to be done.
  mutating func pass(_ finding: Finding) {
    pending.removeLast()
    guard case .directory(let entries) = finding.kind else { return }
    let folder = finding.path.hasSuffix("/") ? finding.path : finding.path + "/"
    for entry in entries.reversed() { pending.append(folder + entry) }
  }
}

/// The numbers of findings, by kind, and of bytes.
struct Totals: Sendable, Equatable {
  private(set) var findings = 0
  private(set) var files = 0
  private(set) var directories = 0
  private(set) var bytes = 0
  private(set) var failures = 0
  private var sum = SHA256()

  static func == (one: Totals, other: Totals) -> Bool { one.digest == other.digest }

  mutating func add(_ finding: Finding) {
    findings += 1
    sum.update(Array("\(finding.path)\n\(finding.kind)\n".utf8))
    switch finding.kind {
    case .directory: directories += 1
    case .file(let size, _):
      files += 1
      bytes += size
    case .failed: failures += 1
    case .skipped: break
    }
  }

  /// A digest of all findings in their order: the same for the same tree, however it was crawled.
  var digest: String { sum.digest() }
}
