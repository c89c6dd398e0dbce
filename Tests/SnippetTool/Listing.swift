/// A generated file: functions, and a list of them.
struct Listing {
  let name: String
  private var functions = ""
  private var entries = ""
  private var functionCount = 0
  private var counts = (blocks: 0, compiled: 0, run: 0)

  init(name: String) { self.name = name }

  mutating func add(_ document: Document, in context: String) {
    counts.blocks += document.blocks.count
    counts.compiled += document.blocks.count { $0.isCompiled }
    var chains: [[Block]] = []
    for block in document.blocks where block.isCompiled {
      if block.continues, !chains.isEmpty {
        chains[chains.count - 1].append(block)
      } else {
        chains.append([block])
      }
    }
    for chain in chains { add(chain, of: document, in: context) }
  }

  private mutating func add(_ chain: [Block], of document: Document, in context: String) {
    let line = chain[0].line
    if chain.contains(where: \.isGlobal) {
      for block in chain { functions += source(block, of: document) }
      return
    }
    // Two documents of different folders may have one name.
    functionCount += 1
    let function = "\(document.key)Line\(line)_\(functionCount)"
    functions += "extension \(context) {\nfunc \(function)() async throws {\n"
    for (index, block) in chain.enumerated() {
      if index > 0 { functions += "do {\n" }
      if block.isForLinux { functions += "#if os(Linux)\n" }
      functions += source(block, of: document)
      if block.isForLinux { functions += "#endif\n" }
      if let output = block.output { functions += "itSays(\(output.literals))\n" }
      functions += "itSaysNoMore()\n"
    }
    functions += String(repeating: "}\n", count: chain.count - 1) + "}\n}\n"
    if chain.allSatisfy(\.isRun) {
      counts.run += chain.count
      entries += """
          result.append(
            Snippet("\(document.name)", \(chain.map(\.line))) { try await \(context)().\(function)() })

        """
    }
  }

  private func source(_ block: Block, of document: Document) -> String {
    """
    #sourceLocation(file: "\(document.path)", line: \(block.line))
    \(block.checked.joined(separator: "\n"))
    #sourceLocation()

    """
  }

  var text: String {
    """
    import Dispatch
    import Foundation
    import Synchronization
    import Tailrace
    import TailraceFoundation
    import TailraceInspection
    import TailraceObservation
    import TailraceStored
    import TailraceTesting
    import TailraceTestingProcess
    import Testing

    let \(name)Counts = (blocks: \(counts.blocks), compiled: \(counts.compiled), run: \(counts.run))

    let \(name): [Snippet] = {
      var result: [Snippet] = []
    \(entries)  return result
    }()

    \(functions)
    """
  }
}
