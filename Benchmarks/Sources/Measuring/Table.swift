import Foundation

/// Lines of a Markdown table, its columns aligned so that it also reads in a terminal.
public struct Table: Sendable {
  /// The titles of the columns.
  public let header: [String]
  /// The cells, row by row.
  public var rows: [[String]]

  /// Creates a table.
  public init(header: [String], rows: [[String]] = []) {
    self.header = header
    self.rows = rows
  }

  /// The lines, without line breaks.
  public var lines: [String] {
    let widths = header.indices.map { column in
      ([header] + rows).map { $0[column].count }.max() ?? 0
    }
    let rule = widths.map { String(repeating: "-", count: max(3, $0)) }
    return ([header, rule] + rows).map { row in
      let cells = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: max(0, width - cell.count))
      }
      return "| " + cells.joined(separator: " | ") + " |"
    }
  }
}

/// Three digits that count.
public func decimal(_ value: Double) -> String {
  guard value.isFinite else { return "–" }
  let places = value < 0.095 ? 3 : value < 9.95 ? 2 : value < 99.5 ? 1 : 0
  return String(format: "%.\(value == 0 ? 0 : places)f", value)
}

/// A number with its thousands apart.
public func grouped(_ number: Int) -> String {
  var digits = String(number)
  var groups: [String] = []
  while digits.count > 3 {
    groups.insert(String(digits.suffix(3)), at: 0)
    digits.removeLast(3)
  }
  return ([digits] + groups).joined(separator: " ")
}
