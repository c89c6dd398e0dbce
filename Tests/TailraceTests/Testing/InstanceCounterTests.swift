import TailraceTesting
import Testing

@Suite("InstanceCounter: who is alive", .hangLimit, .inTurn)
struct InstanceCounterTests {
  private let instances = InstanceCounter()

  @Test("counts its members exactly, and how many there were at most")
  func counting() {
    #expect(instances.alive == 0 && instances.greatest == 0)
    var members = (1...3).map { instances.member($0) }
    #expect(members.map(\.number) == [1, 2, 3])
    members.append(members[0])
    #expect(instances.alive == 3)
    members.removeFirst(2)
    #expect(instances.alive == 2)
    members = [instances.member()]
    #expect(members[0].number == 0)
    #expect(instances.alive == 1)
    members = []
    #expect(instances.alive == 0)
    #expect(instances.greatest == 3)
  }

  @Test("a member keeps being counted by the counter that made it")
  func counters() {
    let other = InstanceCounter()
    let (one, two) = (instances.member(), other.member())
    #expect(instances.alive == 1 && other.alive == 1)
    withExtendedLifetime((one, two)) {}
  }

  @Test("waits for the last one, and not where there is none")
  func dying() async {
    await instances.waitUntilEmpty()
    let gate = Gate()
    let dead = Probe<Int>()
    let holders = (0..<2).map { number in
      let member = instances.member(number)
      return Task {
        await gate.wait()
        return member.number
      }
    }
    let watchers = (0..<2).map { watcher in
      Task.immediate { [instances] in
        await instances.waitUntilEmpty()
        dead.record(watcher)
      }
    }
    await gate.waitForArrivals(2)
    gate.pass()
    #expect(instances.alive > 0 && dead.count == 0)
    gate.open()
    for holder in holders { _ = await holder.value }
    for watcher in watchers { await watcher.value }
    #expect(instances.alive == 0)
    #expect(dead.values.sorted() == [0, 1])
    // Those who come later are waited for anew.
    let late = instances.member()
    #expect(instances.alive == 1)
    withExtendedLifetime(late) {}
  }

  @Test("many tasks make and release members: none is lost, and none is left")
  func race() async {
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            let member = instances.member(number)
            #expect(instances.alive >= 1)
            withExtendedLifetime(member) {}
          }
        }
      }
    }
    await instances.waitUntilEmpty()
    #expect(instances.alive == 0)
    #expect((1...8).contains(instances.greatest))
  }
}
