import Testing

@testable import TailraceTestingProcess

@Suite("explore(.wholeProcess): which tasks belong to a run, as a value")
struct RunTasksTests {
  private static func tasks() -> RunTasks { RunTasks(after: 10, explorer: 5) }

  /// A call that changes the tasks cannot stand in an expectation.
  private func check<Answer: Equatable>(
    _ answer: Answer, _ expected: Answer, _ place: SourceLocation = #_sourceLocation
  ) {
    #expect(answer == expected, sourceLocation: place)
  }

  @Test("a task that is new belongs to the run, whose code puts it in line")
  func new() {
    var tasks = Self.tasks()
    check(tasks.meets(11), .isNew)
    check(tasks.meets(11), .isOwn)
    check(tasks.meets(caller: 11), .isOwn)
  }

  @Test("a task that is older does not, nor does the one that explores")
  func old() {
    var tasks = Self.tasks()
    check(tasks.meets(10), .isForeign)
    check(tasks.meets(5), .isForeign)
    check(tasks.meets(caller: 10), .isForeign)
  }

  @Test("code of the explorer, and of no task, is code of the run")
  func callers() {
    var tasks = Self.tasks()
    check(tasks.meets(caller: 0), .isOwn)
    check(tasks.meets(caller: 5), .isOwn)
    check(tasks.meets(caller: 12), .isNew)
    check(tasks.meets(12), .isOwn)
  }

  @Test("a task that another thread has put in line first stays the other's")
  func foreign() {
    var tasks = Self.tasks()
    check(tasks.isOwn(elsewhere: 11), false)
    check(tasks.meets(11), .isForeign)
    check(tasks.meets(caller: 11), .isForeign)
    check(tasks.isOwn(elsewhere: 11), false)
  }

  @Test("a task of the run that another thread resumes stays the run's")
  func resumed() {
    var tasks = Self.tasks()
    check(tasks.meets(11), .isNew)
    check(tasks.isOwn(elsewhere: 11), true)
    check(tasks.meets(11), .isOwn)
  }
}
