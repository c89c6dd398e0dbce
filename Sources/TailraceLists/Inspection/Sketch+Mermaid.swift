extension Sketch {
  /// A flowchart, from the sources down to the list.
  package var mermaid: String {
    var lines = ["flowchart TD"]
    var isInLayer = Array(repeating: false, count: nodes.count)
    for (number, layer) in layers.enumerated() where !layer.nodes.isEmpty {
      lines.append("  subgraph list\(number)[\"\(layer.text.mermaid)\"]")
      for node in layer.nodes {
        isInLayer[node] = true
        lines.append("    \(text(of: node))")
      }
      lines.append("  end")
    }
    for node in nodes.indices where !isInLayer[node] { lines.append("  \(text(of: node))") }
    for edge in edges {
      let text = edge.text.map { "|\($0)|" } ?? ""
      lines.append("  \(name(of: edge.from)) -->\(text) \(name(of: edge.to))")
    }
    if isCut { lines.append("  cut([\"more than \(Self.limit) stages: the rest is left out\"])") }
    return lines.joined(separator: "\n") + "\n"
  }

  private func name(of node: Int) -> String {
    nodes[node].isStage ? "stage\(node)" : "value\(node)"
  }

  private func text(of node: Int) -> String {
    let text = nodes[node].text.mermaid
    return nodes[node].isStage
      ? "\(name(of: node))[\"\(text)\"]" : "\(name(of: node))([\"\(text)\"])"
  }
}

extension String {
  /// As a label of a Mermaid diagram: characters with a meaning there become their numbers.
  var mermaid: String {
    var label = ""
    for (count, character) in enumerated() {
      if count == 200 { return label + "…" }
      for scalar in character.unicodeScalars {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", " ", ",", ":", "(", ")", "/", "=", "!", "?", "'":
          label.unicodeScalars.append(scalar)
        case "\n": label += "<br/>"
        case "\r", "\t": label += " "
        default:
          let isPrinted = scalar.properties.generalCategory != .control
          if scalar.isASCII, isPrinted {
            label += "#\(scalar.value);"
          } else {
            label.unicodeScalars.append(isPrinted ? scalar : "\u{FFFD}")
          }
        }
      }
    }
    return label
  }
}
