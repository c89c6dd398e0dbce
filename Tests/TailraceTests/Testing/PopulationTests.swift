import TailraceTesting
import Testing

@Suite("Population: who is alive", .hangLimit, .inTurn)
struct PopulationTests {
  private let population = Population()

  @Test("counts its members exactly, and how many there were at most")
  func counting() {
    #expect(population.alive == 0 && population.greatest == 0)
    var members = (1...3).map { population.member($0) }
    #expect(members.map(\.number) == [1, 2, 3])
    members.append(members[0])
    #expect(population.alive == 3)
    members.removeFirst(2)
    #expect(population.alive == 2)
    members = [population.member()]
    #expect(members[0].number == 0)
    #expect(population.alive == 1)
    members = []
    #expect(population.alive == 0)
    #expect(population.greatest == 3)
  }

  @Test("a member keeps being counted by the population that made it")
  func populations() {
    let other = Population()
    let (one, two) = (population.member(), other.member())
    #expect(population.alive == 1 && other.alive == 1)
    withExtendedLifetime((one, two)) {}
  }

  @Test("waits for the last one, and not where there is none")
  func dying() async {
    await population.waitUntilEmpty()
    let gate = Gate()
    let dead = Probe<Int>()
    let holders = (0..<2).map { number in
      let member = population.member(number)
      return Task {
        await gate.wait()
        return member.number
      }
    }
    let watchers = (0..<2).map { watcher in
      Task.immediate { [population] in
        await population.waitUntilEmpty()
        dead.record(watcher)
      }
    }
    await gate.waitForArrivals(2)
    gate.pass()
    #expect(population.alive > 0 && dead.count == 0)
    gate.open()
    for holder in holders { _ = await holder.value }
    for watcher in watchers { await watcher.value }
    #expect(population.alive == 0)
    #expect(dead.values.sorted() == [0, 1])
    // Those who come later are waited for anew.
    let late = population.member()
    #expect(population.alive == 1)
    withExtendedLifetime(late) {}
  }

  @Test("many tasks make and release members: none is lost, and none is left")
  func race() async {
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for number in 0..<500 {
            let member = population.member(number)
            #expect(population.alive >= 1)
            withExtendedLifetime(member) {}
          }
        }
      }
    }
    await population.waitUntilEmpty()
    #expect(population.alive == 0)
    #expect((1...8).contains(population.greatest))
  }
}
