import Tailrace
import Testing

@testable import TailraceLists

@Suite("LatestDriver: the step that drives a task, or none")
struct LatestDriverTests {
  @Test("the latest one is known, and the one before it is released")
  func latest() {
    let latest = LatestDriver()
    #expect(latest.current == nil)
    var first: StepExecutor? = StepExecutor()
    weak let former = first
    latest.note(first)
    #expect(latest.current === first)
    first = nil
    #expect(former != nil)
    let second = StepExecutor()
    latest.note(second)
    #expect(latest.current === second && former == nil)
  }

  @Test("a demand without a driver releases the one before it")
  func none() {
    let latest = LatestDriver()
    weak var former: StepExecutor?
    do {
      let driver = StepExecutor()
      former = driver
      latest.note(driver)
    }
    #expect(former != nil)
    latest.note(nil)
    #expect(latest.current == nil && former == nil)
    latest.note(nil)
    #expect(latest.current == nil)
  }
}
