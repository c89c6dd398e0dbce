import TailraceLists

/// The elements of a page, as far as they are loaded.
struct Page<Element: Sendable>: Sendable {
  var elements: [Element] = []
  /// What comes after them.
  private(set) var rest: LazyList<Element, any Error>
  private(set) var failure: (any Error)?
  private(set) var hasEnded = false

  init(of list: LazyList<Element, any Error>) { rest = list }

  /// Loads elements up to a number, or to the end, or to a failure.
  mutating func load(_ count: Int) async {
    while elements.count < count {
      do {
        guard let (element, tail) = try await rest.uncons() else {
          hasEnded = true
          return
        }
        elements.append(element)
        rest = tail
      } catch {
        failure = error
        return
      }
    }
  }
}
