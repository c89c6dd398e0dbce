extension String {
  /// Without what a terminal would obey instead of show; tabs stay.
  var displayable: String {
    guard unicodeScalars.contains(where: \.isObeyed) else { return self }
    return unicodeScalars.reduce(into: "") { result, scalar in
      if scalar.isObeyed {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }

  /// The beginning, short enough for a row of a table.
  var shortened: String {
    let limit = 120
    let end = index(startIndex, offsetBy: limit, limitedBy: endIndex) ?? endIndex
    return end == endIndex ? self : self[..<end] + "…"
  }
}

extension Unicode.Scalar {
  /// A control character, or one that changes the direction of the text around it.
  fileprivate var isObeyed: Bool {
    switch properties.generalCategory {
    case .control: self != "\t"
    case .lineSeparator, .paragraphSeparator: true
    case .format: properties.isBidiControl
    default: false
    }
  }
}

extension Int {
  /// With a comma after each group of three digits: `1,234,567`.
  var grouped: String {
    var digits = String(magnitude)
    var groups: [Substring] = []
    while digits.count > 3 {
      groups.insert(digits.suffix(3), at: 0)
      digits.removeLast(3)
    }
    return (self < 0 ? "-" : "") + ([digits[...]] + groups).joined(separator: ",")
  }
}

extension Double {
  /// With so many digits behind the point.
  func rounded(to digits: Int) -> String {
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((self * Double(scale)).rounded())
    guard digits > 0 else { return scaled.grouped }
    let fraction = String(scaled % scale)
    return (scaled / scale).grouped + "."
      + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
