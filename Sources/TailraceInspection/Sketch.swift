import TailraceLists

/// The visible pipeline of a list, as a value: a diagram is made from it.
///
/// Lists are drawn one by one from a pile, without recursion. While a claim is held, only the
/// upstreams of a stage are noted; lists among them are inspected after the claim is released.
struct Sketch {
  /// At most this many stages and values are drawn: larger diagrams are unreadable, and Mermaid
  /// refuses them.
  static let limit = 400

  private struct Node: Equatable {
    var text: String
    /// Values are drawn differently from stages.
    var isStage = true
  }

  /// A memoized list: the stages that compute it, and its evaluated elements.
  private struct Layer {
    var text: String
    var nodes: [Int] = []
  }

  private struct Edge: Equatable {
    let from: Int
    let to: Int
    var text: String?
  }

  private var nodes: [Node] = []
  private var layers: [Layer] = []
  private var edges: [Edge] = []
  private(set) var isCut = false
  /// The last stage of each list seen.
  private var known: [ObjectIdentifier: Int] = [:]
  /// Objects retained while their addresses are used.
  private var met: [AnyObject] = []
  private var pile: [(list: any LookedList, place: Place)] = []

  /// The place of a node.
  struct Place {
    /// The stage that pulls from it.
    var consumer: Int?
    /// The layer of that stage, if it is the same.
    var layer: Int?
    /// A name found on the way to it.
    var name: String?
  }

  /// An empty picture, for other things than lists.
  init() {}

  init(of list: any LookedList) {
    pile = [(list, Place())]
    while let (list, place) = pile.popLast() { list.draw(&self, place) }
    if nodes.isEmpty { _ = node("empty list", isStage: false) }
  }

  // MARK: Drawing

  /// `nil` if there are too many.
  mutating func node(_ text: String, isStage: Bool = true, in layer: Int? = nil) -> Int? {
    guard nodes.count < Self.limit else {
      isCut = true
      return nil
    }
    nodes.append(Node(text: text, isStage: isStage))
    if let layer { layers[layer].nodes.append(nodes.count - 1) }
    return nodes.count - 1
  }

  mutating func connect(_ from: Int?, _ to: Int?, _ text: String? = nil) {
    guard let from, let to else { return }
    let edge = Edge(from: from, to: to, text: text)
    // A zip may pull the same list several times: that is one arrow.
    if !edges.contains(edge) { edges.append(edge) }
  }

  mutating func layer(_ text: String) -> Int {
    layers.append(Layer(text: text))
    return layers.count - 1
  }

  mutating func describe(_ layer: Int, _ text: String) { layers[layer].text = text }

  mutating func describe(node: Int, _ text: String) { nodes[node].text = text }

  func node(of object: AnyObject) -> Int? { known[ObjectIdentifier(object)] }

  mutating func meet(_ object: AnyObject, _ node: Int) {
    known[ObjectIdentifier(object)] = node
    met.append(object)
  }

  /// Draws the stages that are pulled, from the last one on, and notes the lists that they read.
  ///
  /// The caller holds the claim that guards the stages.
  mutating func draw(_ last: any Staged, as node: Int?, in layer: Int) {
    var stages: [(stage: any Staged, node: Int?, consumer: Int?)] = [(last, node, nil)]
    var lists: [(any LookedList, Place)] = []
    while let (stage, drawn, consumer) = stages.popLast(), !isCut {
      var here = drawn ?? consumer
      if drawn == nil, let name = stage.stage {
        here = self.node(name.text, in: layer)
        connect(here, consumer)
      }
      var view = StageView()
      // A step that runs uses what it pulls from.
      if stage.isComputing {
        view.isBusy = true
      } else {
        (stage.upstream as? any Upstream)?.look(&view)
      }
      if view.isBusy { drawCut(here, in: layer) }
      for stage in view.stages.reversed() { stages.append((stage, nil, here)) }
      for (list, isFused) in view.lists {
        lists.append((list, Place(consumer: here, layer: isFused ? layer : nil)))
      }
    }
    pile += lists.reversed()
  }

  /// The stage is in use: nothing further is visible.
  mutating func drawCut(_ consumer: Int?, in layer: Int) {
    connect(node("computing", isStage: false, in: layer), consumer)
  }
}

/// A list of any elements, for inspection.
protocol LookedList {
  /// Draws the parts of the list. Evaluates nothing, and holds no claim on return.
  func draw(_ sketch: inout Sketch, _ place: Sketch.Place)
}

extension Sketch {
  /// A flowchart, from the sources down to the list.
  var mermaid: String {
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
