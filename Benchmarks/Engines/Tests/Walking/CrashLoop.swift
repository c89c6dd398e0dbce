import Foundation
import Tailrace
import TailraceStored

/// The findings after all kills.
public struct CrashReport: Sendable {
  /// How many elements there are at the end.
  public var length = 0
  /// How many elements were given out and are not stored.
  public var lost = 0
  /// How many steps ran more than once, counted for each time.
  public var runAgain = 0
  /// How many elements are stored that no step has computed.
  public var neverRun = 0
  /// The last lines of the last writer and of the followers; all alike if they saw the same.
  public var ends: [String] = []
}

extension CrashReport: CustomStringConvertible {
  public var description: String {
    let agreement = Set(ends).count == 1 ? "\(ends.count) readers alike" : "\(ends)"
    return "\(length) elements, lost \(lost), steps run again \(runAgain), "
      + "never run \(neverRun), \(agreement)"
  }
}

/// Kills processes that write a stored chain, and starts new ones, again and again.
///
/// The processes are those of a program that runs a ``Walk``.
public struct CrashLoop<Source: ListSource> where Source.Element: ChainElement {
  private let program: String
  private let place: [String]
  private let steps: URL
  private let source: Source

  /// Creates a loop over an empty store.
  ///
  /// - Parameters:
  ///   - program: the name of the program, built beside the tests.
  ///   - store: the name of the store's kind, for the program.
  ///   - address: where the store is, for the program.
  ///   - steps: a file for the numbers of the steps that run; it does not exist yet.
  ///   - source: reads the same list in this process.
  public init(
    program: String = "enginewalk", store: String, address: String, steps: URL,
    reading source: Source
  ) {
    self.program = program
    self.place = [store, address]
    self.steps = steps
    self.source = source
  }

  /// Kills one writer after the other, while three processes follow.
  public func run(kills: Int, mode: Walk.Mode) async throws -> CrashReport {
    var report = CrashReport()
    var children: [Child] = []
    defer { for child in children { child.signal(SIGKILL) } }
    for _ in 0..<3 { children.append(try follower()) }
    var count = 0
    for _ in 0..<kills {
      let writer = try writer(mode)
      children.append(writer)
      // Anywhere: before the store is opened, in the middle of the first element, or later.
      let more = Int.random(in: -1...40)
      if more >= 0 { await writer.printed(count + more) }
      let last = await writer.kill()
      children.removeLast()
      count = try await stored()
      report.lost += max(0, last - count)
    }
    try await finish(&report, mode, children)
    return report
  }

  /// Kills one of three writers, which all want to compute, and starts another instead, again and
  /// again. Three processes follow at the end.
  public func contend(kills: Int) async throws -> CrashReport {
    var report = CrashReport()
    var contenders: [Child] = []
    var followers: [Child] = []
    defer { for child in contenders + followers { child.signal(SIGKILL) } }
    for _ in 0..<3 { contenders.append(try writer(.contend)) }
    var last = 0
    for _ in 0..<kills {
      let index = Int.random(in: 0..<3)
      await contenders[index].printed(last + Int.random(in: 0...40))
      last = max(last, await contenders[index].kill())
      contenders[index] = try writer(.contend)
    }
    for _ in 0..<3 { followers.append(try follower()) }
    for contender in contenders { last = max(last, await contender.kill()) }
    report.lost = max(0, last - (try await stored()))
    try await finish(&report, .contend, followers)
    return report
  }

  private func follower() throws -> Child { try Child(program, ["follow"] + place) }

  private func writer(_ mode: Walk.Mode, upTo length: Int? = nil) throws -> Child {
    let end = length.map { ["\($0)"] } ?? []
    return try Child(program, ["write"] + place + [mode.rawValue, steps.path] + end)
  }

  /// The number of stored elements; their chain is checked.
  private func stored() async throws -> Int {
    var check = ChainCheck()
    while true {
      let page = try await source.read(from: check.count, upTo: 1024)
      if page.elements.isEmpty { return check.count }
      for element in page.elements { try check.pass(element) }
    }
  }

  /// Runs a last writer, which ends the list, so that the followers end, too.
  private func finish(
    _ report: inout CrashReport, _ mode: Walk.Mode, _ followers: [Child]
  ) async throws {
    let last = try writer(mode, upTo: try await stored() + 50)
    defer { last.signal(SIGKILL) }
    for child in [last] + followers { report.ends.append(await child.lastLine()) }
    report.length = try await stored()
    let counts = try StepLog.counts(in: steps.path, upTo: report.length)
    report.runAgain = counts.reduce(0) { $0 + max(0, $1 - 1) }
    report.neverRun = counts.count { $0 == 0 }
  }
}
