import ValkeyStore
import Walking

/// Runs a walk over a list of a server; the address is `PORT:KEY`.
func walkValkey(_ walk: Walk) async throws {
  let parts = walk.address.split(separator: ":", maxSplits: 1)
  guard parts.count == 2, let port = Int(parts[0]) else {
    Walk.refuse("valkey takes an address PORT:KEY, not \(walk.address)")
  }
  try await walk.run(
    over: ValkeyStore(
      String(parts[1]), on: ValkeyServer(port: port), element: .text as ValkeyCoding<String>,
      state: .json as ValkeyCoding<Link>, lease: .milliseconds(300)))
}
