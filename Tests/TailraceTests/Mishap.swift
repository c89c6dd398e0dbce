/// An error that tells its position.
struct Mishap: Error, Equatable {
  let position: Int
}

/// An error that tells nothing.
struct Refused: Error, Equatable {}
