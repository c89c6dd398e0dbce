/// Where those wait who found a list's claim taken. It is made when the first two meet.
final class Room: Sendable {
  let state = Locked(WaitQueue<Waiter>())
}

/// Those who found a list's claim taken and wait for a cell, as a value.
///
/// A wait has a position: a waiter is let go of as soon as the cells that it wants are published,
/// whatever the holder of the claim does next, and at the latest when the claim is free.
struct WaitQueue<Waiter: AnyObject & Sendable>: Sendable {
  private struct Place: Sendable {
    let waiter: Waiter
    /// The waiter wants the cells before this position.
    let end: Int
  }

  private var places: [Place] = []

  var isEmpty: Bool { places.isEmpty }

  /// Waits until the cells before a position are published.
  mutating func enter(_ waiter: Waiter, until end: Int) {
    places.append(Place(waiter: waiter, end: end))
  }

  /// A waiter goes, and takes its mark with it. It may be unknown: it was let go of meanwhile.
  mutating func leave(_ waiter: Waiter) { places.removeAll { $0.waiter === waiter } }

  /// The cells before a position are published, and the holder of the claim asks whether to go on.
  ///
  /// Returns those who have got what they want, and how far the others want to get.
  mutating func published(before position: Int) -> (served: [Waiter], wanted: Int) {
    var served: [Waiter] = []
    var wanted = 0
    places.removeAll { place in
      if place.end <= position {
        served.append(place.waiter)
        return true
      }
      wanted = max(wanted, place.end)
      return false
    }
    return (served, wanted)
  }

  /// The claim is free: everybody looks again.
  mutating func empty() -> [Waiter] {
    defer { places = [] }
    return places.map(\.waiter)
  }
}
