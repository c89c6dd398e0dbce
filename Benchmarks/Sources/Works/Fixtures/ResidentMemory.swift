import Foundation

/// The resident memory of this process, as Linux reports it.
enum ResidentMemory: String {
  case now = "VmRSS:"
  case peak = "VmHWM:"

  /// In bytes; `nil` where there is no `/proc`.
  var bytes: Double? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else {
      return nil
    }
    let line = status.split(separator: "\n").first { $0.hasPrefix(rawValue) }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Double($0) }
      .map { $0 * 1024 }
  }

  /// The peak begins anew, at what is resident now.
  static func forgetPeak() {
    try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
  }
}
