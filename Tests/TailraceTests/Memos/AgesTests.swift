import Tailrace
import Testing

@testable import TailraceLists
@testable import TailraceMemos

extension Ages {
  init(lifetime: Duration?, refreshingAfter: Duration?, servingStaleFor: Duration? = nil) {
    self.init(
      lifetime: lifetime.map { .fixed($0) } ?? .endless, refreshingAfter: refreshingAfter,
      servingStaleFor: servingStaleFor)
  }
}

@Suite("How old what is remembered may become, as a value", .inTurn)
struct AgesTests {
  static func ages(_ lifetime: Int?, _ refreshing: Int?) -> Ages {
    Ages(
      lifetime: lifetime.map { .nanoseconds($0) },
      refreshingAfter: refreshing.map { .nanoseconds($0) })
  }

  @Test(
    "from when on a value is computed anew, and until when it and a failure are served",
    arguments: [
      (nil, nil, Int64.max, Int64.max, Int64.max),
      (100, nil, 110, 110, 110),
      (nil, 40, 50, .max, 50),
      (100, 40, 50, 110, 50),
      (40, 100, 50, 50, 50),
      (0, nil, 10, 10, 10),
    ] as [(Int?, Int?, Int64, Int64, Int64)])
  func dates(
    _ lifetime: Int?, _ refreshing: Int?, _ refreshes: Int64, _ expires: Int64, _ fails: Int64
  ) {
    var ages = Self.ages(lifetime, refreshing)
    ages.begin(1, isFailure: false, at: 10)
    ages.begin(0, isFailure: true, at: 10)
    for now in [10, 49, 50, 109, 110, .max - 1] as [Int64] {
      #expect(ages.isFresh(1, at: now) == (now < refreshes), "\(now)")
      #expect(ages.isServed(1, at: now) == (now < expires), "\(now)")
      #expect(ages.isServed(0, at: now) == (now < fails), "\(now)")
    }
    #expect(ages.areKept == (lifetime != nil || refreshing != nil))
    #expect(ages.areKept || ages.dates.isEmpty, "nothing grows old, and nothing is kept of it")
  }

  @Test("a value that could not be computed anew is tried again later, and served no longer")
  func postponed() {
    var ages = Self.ages(100, 40)
    ages.begin(0, isFailure: false, at: 0)
    ages.postpone(0, at: 50)
    #expect(ages.isFresh(0, at: 89) && !ages.isFresh(0, at: 90) && ages.isServed(0, at: 99))
    ages.postpone(0, at: 95)
    #expect(ages.isFresh(0, at: 99) && !ages.isFresh(0, at: 100) && !ages.isServed(0, at: 100))
  }

  @Test("idle: a use makes it live longer")
  func idle() {
    var ages = Ages(lifetime: .idle(.nanoseconds(100)), refreshingAfter: .nanoseconds(150))
    ages.begin(0, isFailure: false, at: 0)
    ages.touch(0, at: 90)
    #expect(ages.isFresh(0, at: 149) && !ages.isFresh(0, at: 150) && ages.isServed(0, at: 189))
    #expect(!ages.isServed(0, at: 190) && ages.hasExpired(0, at: 190))
  }

  @Test("each for its own time, and after that it stands in for failures")
  func each() {
    var ages = Ages(
      lifetime: .each, refreshingAfter: nil, servingStaleFor: .nanoseconds(30))
    ages.begin(0, isFailure: false, lifetime: 20, at: 10)
    ages.begin(1, isFailure: true, at: 10)
    #expect(ages.isServed(0, at: 29) && !ages.isServed(0, at: 30) && ages.date(of: 0) == 30)
    #expect(ages.standsIn(0, at: 59) && !ages.standsIn(0, at: 60))
    #expect(ages.isServed(1, at: .max - 1))
  }

  @Test("the earliest date of what a value was computed from ends its service, not its life")
  func doubts() {
    var ages = Self.ages(100, nil)
    ages.begin(0, isFailure: false, at: 0)
    ages.setDoubts(0, 40)
    #expect(ages.isServed(0, at: 39) && !ages.isServed(0, at: 40) && ages.isDoubtful(0, at: 40))
    #expect(!ages.hasExpired(0, at: 99) && ages.date(of: 0) == 40)
    ages.end(0)
    #expect(ages.isServed(0, at: 1_000))
  }

  @Test(
    "what was withdrawn is not served, whatever its dates, until it is readmitted or computed again"
  )
  func withdrawn() {
    for lifetime in [nil, 100] {
      var ages = Self.ages(lifetime, nil)
      ages.areKept = true
      ages.begin(0, isFailure: false, at: 0)
      ages.withdraw(0)
      ages.setDoubts(0, 50)
      #expect(ages.isWithdrawn(0) && !ages.isServed(0, at: 0) && !ages.isFresh(0, at: .min))
      #expect(!ages.hasExpired(0, at: 60) && ages.isDoubtful(0, at: 60) == (lifetime != nil))
      ages.readmit(0)
      #expect(!ages.isWithdrawn(0) && ages.isServed(0, at: 49) && ages.isFresh(0, at: 49))
      #expect(ages.isFresh(0, at: 50) == (lifetime == nil))
      ages.withdraw(0)
      ages.begin(0, isFailure: false, at: 0)
      #expect(ages.isServed(0, at: 99) && !ages.isWithdrawn(0))
      ages.withdraw(0)
      ages.end(0)
      #expect(!ages.isWithdrawn(0))
    }
  }

  @Test("dates and durations that are too far away are the farthest that there are")
  func overflow() {
    var ages = Ages(lifetime: .seconds(Int64.max), refreshingAfter: .seconds(1))
    ages.begin(0, isFailure: false, at: .max - 1)
    #expect(ages.isServed(0, at: .max - 1) && ages.isFresh(0, at: .max - 1))
    #expect(
      Ages.nanoseconds(.seconds(Int64.min)) == .min
        && Ages.nanoseconds(.seconds(2)) == 2_000_000_000)
    #expect(Ages.nanoseconds(.nanoseconds(Int64.max)) == .max)
    #expect(Ages.nanoseconds(.milliseconds(-1500)) == -1_500_000_000)
  }

  @Test("the longest durations that there are, and the shortest")
  func extremes() {
    let (longest, shortest) = (Duration(attoseconds: .max), Duration(attoseconds: .min))
    #expect(Ages.nanoseconds(longest) == .max && Ages.nanoseconds(shortest) == .min)
    var ages = Ages(lifetime: longest, refreshingAfter: longest)
    ages.begin(0, isFailure: false, at: 10)
    #expect(ages.isServed(0, at: .max - 1) && ages.isFresh(0, at: .max - 1))
    // A date that is too far in the past is past.
    ages = Ages(lifetime: shortest, refreshingAfter: nil)
    ages.begin(0, isFailure: false, at: -10)
    #expect(!ages.isServed(0, at: -10) && !ages.isFresh(0, at: -10))
  }

  @Test("the search for what has expired goes round", arguments: [1, 2, 5])
  func hand(_ count: Int) {
    var ages = Self.ages(1, nil)
    let seen = (0..<2 * count).map { _ in ages.next(of: count) }
    #expect(Set(seen.prefix(count)) == Set(0..<count) && seen.prefix(count) == seen.suffix(count))
    #expect(
      (0..<count).contains(ages.next(of: count)) && ages.next(of: 1) == 0, "there are fewer now")
  }
}
