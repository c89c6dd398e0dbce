import Foundation
import Tailrace
import Testing

/// Resident memory, measured in a process of its own: other tests run beside this one.
@Suite(
  "Memory", .tags(.long), .enabled(if: !isSanitized, "a sanitizer's own memory would be measured"),
  .inTurn)
struct MemoryTests {
  #if DEBUG
    static let length = 1_000_000
  #else
    static let length = 100_000_000
  #endif

  #if os(Linux)
    @Test("map and filter of a hundred million elements grow by less than 5 MB")
    func fold() async {
      await #expect(processExitsWith: .success) {
        let before = residentBytes()
        let sum = await LazyList(0..<MemoryTests.length).map { $0 &* 3 }.filter { $0 % 2 == 0 }
          .reduce(0) { $0 &+ $1 }
        precondition(sum != 0 && peakBytes() - before < 5_000_000)
      }
    }

    @Test("iterating a hundred million elements without the head, too")
    func iteration() async {
      await #expect(processExitsWith: .success) {
        let before = residentBytes()
        var sum = 0
        for await element in LazyList(0..<MemoryTests.length).map({ $0 &* 3 }) { sum &+= element }
        precondition(sum != 0 && peakBytes() - before < 5_000_000)
      }
    }

    @Test("dropping and searching keep nothing of what they pass")
    func search() async {
      await #expect(processExitsWith: .success) {
        let before = residentBytes()
        let length = MemoryTests.length / 10
        let rest = LazyList(0..<length).dropFirst(length - 10)
        let late = LazyList(0..<length).drop { $0 < length - 10 }
        let counts = await [rest.count(), late.count()]
        let finds = await LazyList(0..<length).filter { $0 < 0 }.isEmpty()
        let contains = await LazyList(0..<length).contains { $0 < 0 }
        precondition(counts == [10, 10] && finds && !contains)
        precondition(peakBytes() - before < 5_000_000)
        withExtendedLifetime((rest, late)) {}
      }
    }

    @Test("an evaluated list of Ints costs at most 10 bytes an element")
    func evaluated() async {
      await #expect(processExitsWith: .success) {
        let length = 1_000_000
        let list = LazyList(0..<length)
        _ = await list.element(at: 1000)
        let before = residentBytes()
        let count = await list.count()
        precondition(count == length)
        let bytes = Double(residentBytes() - before) / Double(length)
        precondition(bytes > 8 && bytes <= 10, "\(bytes) bytes an element")
        withExtendedLifetime(list) {}
      }
    }
  #endif
}

/// Whether the process carries a sanitizer's runtime.
let isSanitized = ["__asan_init", "__tsan_init"].contains { (name: String) in
  dlsym(nil, name) != nil
}

/// A field of the kernel's account of this process, in bytes.
private func status(_ field: String) -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
  let line = text.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
  return (line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}

func residentBytes() -> Int { status("VmRSS:") }
func peakBytes() -> Int { status("VmHWM:") }
