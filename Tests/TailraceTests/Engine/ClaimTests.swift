import Tailrace
import TailraceTesting
import Testing

@testable import TailraceLists

@Suite("Claim: who may compute", .inTurn)
struct ClaimTests {
  /// A claim that can be handed to an expectation.
  private final class Shared: Sendable {
    private let claim = Claim()
    // Guard: the claim. May touch it: its holder.
    nonisolated(unsafe) var count = 0

    var isHeld: Bool { claim.isHeld }
    var isContested: Bool { claim.isContested }
    var isAwaited: Bool { claim.isAwaited }
    var isAbandoned: Bool { claim.isAbandoned }
    func take() -> Bool { isHolder(claim.take()) }
    func release() -> Bool { !isHolder(claim.release(Held())) }
    func releaseAwaited() -> Bool { !isHolder(claim.releaseAwaited(Held())) }
    func noteAwaited() -> Bool { claim.noteAwaited() }
    func abandon() -> Bool { isHolder(claim.abandon()) }

    private func isHolder(_ held: consuming Held?) -> Bool {
      guard let held else { return false }
      held.end()
      return true
    }
  }

  @Test("it is taken by one, and let go of")
  func taking() {
    let claim = Shared()
    #expect(!claim.isHeld)
    #expect(claim.take())
    #expect(claim.isHeld && !claim.isContested)
    #expect(!claim.isAwaited && !claim.isAbandoned)
    #expect(!claim.take())
    #expect(claim.release())
    #expect(!claim.isHeld)
    #expect(claim.take())
  }

  @Test("there is nothing to wait for where nobody holds it")
  func awaitingNobody() {
    let claim = Shared()
    #expect(!claim.noteAwaited())
    #expect(claim.take() && claim.release())
    #expect(!claim.noteAwaited())
  }

  @Test("the holder finds out that somebody waits")
  func awaiting() {
    let claim = Shared()
    #expect(claim.take())
    #expect(claim.noteAwaited() && claim.noteAwaited())
    #expect(claim.isContested && claim.isAwaited)
    #expect(!claim.release())
    #expect(claim.isHeld)
    #expect(claim.releaseAwaited())
    #expect(!claim.isHeld)
    #expect(claim.take() && !claim.isContested)
  }

  @Test("it is abandoned while it is free: then it is the caller's for ever")
  func abandonedFree() {
    let claim = Shared()
    #expect(claim.abandon())
    #expect(claim.isAbandoned && claim.isHeld)
    #expect(!claim.take())
    #expect(!claim.abandon())
  }

  @Test("it is abandoned while it is held: then the holder keeps it", arguments: [true, false])
  func abandonedHeld(_ isAwaited: Bool) {
    let claim = Shared()
    #expect(claim.take())
    if isAwaited { #expect(claim.noteAwaited()) }
    #expect(!claim.abandon())
    #expect(claim.isContested && claim.isAbandoned)
    #expect(!claim.release())
    #expect(!claim.releaseAwaited())
    #expect(claim.isHeld && !claim.take())
  }

  @Test("one at a time holds it, whoever comes and waits", .timeLimit(.minutes(15)))
  func contended() async {
    let shared = Shared()
    await withTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          var taken = 0
          while taken < 2_000 {
            guard shared.take() else {
              _ = shared.noteAwaited()
              await Task.yield()
              continue
            }
            shared.count += 1
            taken += 1
            if !shared.release() { #expect(shared.releaseAwaited()) }
          }
        }
      }
    }
    #expect(shared.count == 8_000)
    #expect(!shared.isHeld)
  }
}
