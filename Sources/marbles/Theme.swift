/// The colours of a diagram.
struct Theme: Sendable {
  /// Added to the name of a file, before its extension: DocC tells the two themes apart by it.
  let suffix: String
  let line: String
  let text: String
  let box: String
  let border: String
  /// One for each source, over and over.
  let sources: [String]
  let result: String
  let work: String
  /// On a marble.
  let label: String
  let failure: String

  static let light = Theme(
    suffix: "", line: "#86868b", text: "#1d1d1f", box: "#f5f5f7", border: "#d2d2d7",
    sources: ["#0066cc", "#7b3fb5"], result: "#b5450a", work: "#1b7a43", label: "#ffffff",
    failure: "#c8102e")
  static let dark = Theme(
    suffix: "~dark", line: "#98989d", text: "#f5f5f7", box: "#2a2a2c", border: "#48484a",
    sources: ["#64b5ff", "#d0a2f7"], result: "#ffb074", work: "#6fd39a", label: "#1d1d1f",
    failure: "#ff6b6b")
  static let all = [light, dark]
}
