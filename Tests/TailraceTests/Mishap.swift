/// An error that tells its position.
struct Mishap: Error, Equatable {
  let position: Int
}
