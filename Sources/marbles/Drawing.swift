import TailraceTesting

/// A diagram as SVG: the sources, the operator in a box, and under it what came of it.
struct Drawing {
  private enum Size {
    static let margin = 16
    static let radius = 13
    static let row = 40
    static let box = 30
    static let bar = 18
    /// Of a sign of the font.
    static let letter = 8
  }

  private let call: String
  private let rows: [Scene.Row]
  private let theme: Theme
  private let tick: Int
  /// One more than the last tick at which something happens.
  private let length: Int

  init(_ call: String, _ rows: [Scene.Row], _ theme: Theme) {
    (self.call, self.rows, self.theme) = (call, rows, theme)
    let sights = rows.flatMap(\.seen)
    length =
      1
      + (sights.map { sight in
        if case .work(_, let end) = sight.kind { end } else { sight.tick }
      }.max() ?? 0)
    let widest = sights.map { Self.width($0) }.max() ?? 0
    tick = max(30, (widest + 8) / 2 + 4)
  }

  /// A marble is as wide as its name.
  private static func width(_ sight: Scene.Sight) -> Int {
    guard case .marble(.element(let name)) = sight.kind else { return 2 * Size.radius }
    return max(2 * Size.radius, name.count * Size.letter + 12)
  }

  private func x(_ tick: Int) -> Int { Size.margin + Size.radius + tick * self.tick }

  var svg: String {
    var parts: [String] = []
    var y = 6
    let (sources, others) = (rows.filter { $0.role == .source }, rows.filter { $0.role != .source })
    for (index, row) in sources.enumerated() {
      parts += draw(row, theme.sources[index % theme.sources.count], &y)
    }
    let width = max(
      x(length) + Size.margin, call.count * Size.letter + 2 * Size.margin + 2 * Size.radius)
    parts += [
      """
      <rect x="\(Size.margin)" y="\(y + 4)" width="\(width - 2 * Size.margin)" \
      height="\(Size.box)" rx="8" fill="\(theme.box)" stroke="\(theme.border)"/>
      """,
      text(call, width / 2, y + 4 + Size.box / 2, theme.text),
    ]
    y += Size.box + 8
    for row in others where row.role != .work || !row.seen.isEmpty {
      parts +=
        row.role == .work ? drawWork(row, &y) : draw(row, theme.result, &y)
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(y + 6)" \
      viewBox="0 0 \(width) \(y + 6)" role="img" font-size="13" text-anchor="middle" \
      font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace">
      <title>\(escaped(call))</title>
      \(parts.joined(separator: "\n"))
      </svg>

      """
  }

  // MARK: Rows

  /// A line with its marbles: those of one tick stand one under the other.
  private func draw(_ row: Scene.Row, _ color: String, _ y: inout Int) -> [String] {
    var parts: [String] = []
    if !row.label.isEmpty {
      parts.append(text(row.label, x(row.start) - Size.radius, y + 12, theme.text, anchor: "start"))
      y += 16
    }
    let marbles = Dictionary(grouping: row.seen, by: \.tick).sorted { $0.key < $1.key }
    let elements = marbles.map { tick in
      (tick.key, tick.value.filter { if case .marble(.element) = $0.kind { true } else { false } })
    }
    let middle = y + Size.row / 2
    let ending = row.seen.last.flatMap { sight -> (tick: Int, hasFailed: Bool)? in
      switch sight.kind {
      case .marble(.completed): (sight.tick, false)
      case .marble(.failure): (sight.tick, true)
      default: nil
      }
    }
    // An ending at the tick of an element stands after the element.
    let end =
      ending.map { ending in
        let widths = elements.filter { $0.0 == ending.tick }.flatMap(\.1).map { Self.width($0) }
        return x(ending.tick) + (widths.max().map { $0 / 2 + 6 } ?? 0)
      } ?? x(length) - 4
    parts.append(line(x(row.start) - Size.radius, middle, end, middle, theme.line))
    switch ending?.hasFailed {
    case nil:
      parts += [
        line(end - 6, middle - 5, end, middle, theme.line),
        line(end - 6, middle + 5, end, middle, theme.line),
      ]
    case false: parts.append(line(end, middle - 12, end, middle + 12, theme.line))
    case true:
      parts += [
        line(end - 7, middle - 7, end + 7, middle + 7, theme.failure),
        line(end - 7, middle + 7, end + 7, middle - 7, theme.failure),
      ]
    }
    var deepest = middle
    for (tick, sights) in elements {
      for (index, sight) in sights.enumerated() {
        let y = middle + index * (2 * Size.radius + 2)
        deepest = max(deepest, y)
        guard case .marble(.element(let name)) = sight.kind else { continue }
        let width = Self.width(sight)
        parts += [
          """
          <rect x="\(x(tick) - width / 2)" y="\(y - Size.radius)" width="\(width)" \
          height="\(2 * Size.radius)" rx="\(Size.radius)" fill="\(color)"/>
          """,
          text(name, x(tick), y, theme.label),
        ]
      }
    }
    y = deepest + Size.row / 2
    return parts
  }

  /// Bars, each in the first lane that is free.
  private func drawWork(_ row: Scene.Row, _ y: inout Int) -> [String] {
    var parts: [String] = []
    var lanes: [Int] = []
    for sight in row.seen {
      guard case .work(let label, let end) = sight.kind else { continue }
      let lane = lanes.firstIndex { $0 <= sight.tick } ?? lanes.count
      if lane == lanes.count { lanes.append(end) } else { lanes[lane] = end }
      let top = y + 2 + lane * (Size.bar + 3)
      parts += [
        """
        <rect x="\(x(sight.tick) + 1)" y="\(top)" width="\((end - sight.tick) * tick - 2)" \
        height="\(Size.bar)" rx="4" fill="none" stroke="\(theme.work)" stroke-width="1.5"/>
        """,
        text(label, (x(sight.tick) + x(end)) / 2, top + Size.bar / 2, theme.text),
      ]
    }
    y += 4 + lanes.count * (Size.bar + 3)
    return parts
  }

  // MARK: Parts

  private func line(_ x1: Int, _ y1: Int, _ x2: Int, _ y2: Int, _ color: String) -> String {
    """
    <line x1="\(x1)" y1="\(y1)" x2="\(x2)" y2="\(y2)" stroke="\(color)" stroke-width="2" \
    stroke-linecap="round"/>
    """
  }

  private func text(
    _ words: String, _ x: Int, _ y: Int, _ color: String, anchor: String = "middle"
  ) -> String {
    """
    <text x="\(x)" y="\(y)" dy=".35em" fill="\(color)" text-anchor="\(anchor)">\
    \(escaped(words))</text>
    """
  }

  private func escaped(_ words: String) -> String {
    words.map { character in
      switch character {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      default: String(character)
      }
    }.joined()
  }
}
