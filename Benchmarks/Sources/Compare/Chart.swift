import Foundation
import Measuring

/// Horizontal bars in groups, on a logarithmic scale, as SVG. Reads on light and on dark pages.
struct Chart {
  let title: String
  /// The quantity on the scale, with its unit.
  let axis: String
  var groups: [Group] = []

  struct Group {
    let label: String
    var bars: [Bar]
  }

  struct Bar {
    let label: String
    let value: Double
    let isOurs: Bool
  }

  private static let width = 860.0
  /// Where bars begin and end; names stand before, values behind.
  private static let plot = 300.0...760.0
  private static let row = 20.0

  var svg: String {
    let rows = groups.reduce(0) { $0 + $1.bars.count + 1 }
    let top = 64.0
    let bottom = top + Double(rows) * Self.row + 8
    var body = [text(20, 30, title, class: "title")]
    for exponent in exponents {
      let x = position(of: pow(10, Double(exponent)))
      body.append(
        "<line class=\"grid\" x1=\"\(x)\" y1=\"\(top - 14)\" x2=\"\(x)\" y2=\"\(bottom)\"/>")
      body.append(text(x, bottom + 16, scale(exponent), class: "tick"))
    }
    body.append(
      text((Self.plot.lowerBound + Self.plot.upperBound) / 2, bottom + 38, axis, class: "tick"))
    var y = top
    for group in groups {
      body.append(text(20, y, group.label, class: "group"))
      y += Self.row
      for bar in group.bars {
        body += lines(bar, at: y)
        y += Self.row
      }
    }
    return document(body, height: bottom + 54)
  }

  private func lines(_ bar: Bar, at y: Double) -> [String] {
    let (start, end) = (Self.plot.lowerBound, position(of: bar.value))
    let kind = bar.isOurs ? "ours" : "peer"
    return [
      text(start - 8, y, bar.label, class: "name \(kind)-name"),
      "<rect class=\"\(kind)\" x=\"\(start)\" y=\"\(y - 12)\" width=\"\(max(2, end - start))\""
        + " height=\"15\" rx=\"2\"/>",
      text(max(start + 2, end) + 6, y, decimal(bar.value), class: "value"),
    ]
  }

  // MARK: The scale

  private var exponents: ClosedRange<Int> {
    let values = groups.flatMap(\.bars).map(\.value).filter { $0.isFinite && $0 > 0 }
    let low = Int(log10(values.min() ?? 1).rounded(.down))
    // A bar begins where the scale does, so the smallest needs room to be seen.
    return low...max(low + 1, Int(log10(values.max() ?? 10).rounded(.up)))
  }

  private func position(of value: Double) -> Double {
    let (low, high) = (Double(exponents.lowerBound), Double(exponents.upperBound))
    let share = (log10(max(value, pow(10, low))) - low) / (high - low)
    let span = Self.plot.upperBound - Self.plot.lowerBound
    return ((Self.plot.lowerBound + share * span) * 10).rounded() / 10
  }

  private func scale(_ exponent: Int) -> String {
    exponent < 0 ? String(pow(10, Double(exponent))) : grouped(Int(pow(10, Double(exponent))))
  }

  // MARK: Markup

  private func text(_ x: Double, _ y: Double, _ text: String, class name: String) -> String {
    let escaped =
      text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
      .replacingOccurrences(of: "`", with: "")
    return "<text class=\"\(name)\" x=\"\(x)\" y=\"\(y)\">\(escaped)</text>"
  }

  private func document(_ body: [String], height: Double) -> String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.width) \(height)" \
    width="\(Self.width)" height="\(height)" role="img" aria-label="\(title)">
    <style>
    text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
    .page { fill: #ffffff }
    .title { font-size: 16px; font-weight: 600 }
    .group { font-weight: 600 }
    .name { text-anchor: end; fill: #59636e }
    .ours-name { fill: #0b6e4f; font-weight: 600 }
    .tick { text-anchor: middle; fill: #59636e }
    .grid { stroke: #d1d9e0; stroke-width: 1 }
    .ours { fill: #12946b }
    .peer { fill: #a3adb8 }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc }
      .page { fill: #0d1117 }
      .name, .tick { fill: #9198a1 }
      .ours-name { fill: #4ac99b }
      .grid { stroke: #30363d }
      .ours { fill: #2fb886 }
      .peer { fill: #656c76 }
    }
    </style>
    <rect class="page" width="100%" height="100%" rx="6"/>
    \(body.joined(separator: "\n"))
    </svg>

    """
  }
}
