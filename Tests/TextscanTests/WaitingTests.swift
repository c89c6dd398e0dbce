import FileReading
import Testing

@Suite("Waiting for what may block", .timeLimit(.minutes(20)))
struct WaitingTests {
  /// Code of this module writes it and reads it, as the thread sanitizer needs to see.
  private final class Note: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  /// It has little to fail on but the thread sanitizer, which watches the notes change threads.
  @Test("an answer comes whole from the thread that has it to the task that waits for it")
  func answers() async {
    let sums = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var sum = 0
          for number in 0..<5_000 {
            let answer = await elsewhere { () throws(SystemError) in Note(number) }
            if case .success(let note) = answer { sum += note.number }
          }
          return sum
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(sums == Array(repeating: 5_000 * 4_999 / 2, count: 8))
  }
}
