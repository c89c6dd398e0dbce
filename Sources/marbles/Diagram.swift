import Tailrace
import TailraceTesting

/// The drawing of one operator: a run, and the text in the box.
struct Diagram: Sendable {
  /// The operator's, with the kind of thing that it belongs to: the name of its files.
  let name: String
  /// The call, as it stands in the box.
  let call: String
  private let play: @Sendable (Scene) -> Void

  init(_ name: String, _ call: String, _ play: @escaping @Sendable (Scene) -> Void) {
    self.name = "marbles-\(name)"
    self.call = call
    self.play = play
  }

  /// The rows that a run gives.
  func rows() -> [Scene.Row] {
    let scene = Scene()
    play(scene)
    return scene.finalRows()
  }

  /// Its files, by name: the one for light pages, and the one for dark ones.
  func files() -> [(name: String, text: String)] {
    let rows = rows()
    return Theme.all.map { theme in
      ("\(name)\(theme.suffix).svg", Drawing(call, rows, theme).svg)
    }
  }

  static let all = lists + times + signals
}
