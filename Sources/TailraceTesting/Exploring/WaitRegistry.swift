import Tailrace
import TailraceSupport

/// Who waits for what, as a value. Kept only of a run that is known to fail.
struct WaitRegistry: Sendable {
  private struct Entry: Sendable {
    let number: Int
    let task: String
    let wait: Exploring.Wait
  }

  private var entries: [Int: Entry] = [:]
  private var count = 0

  mutating func begins(_ wait: Exploring.Wait, by task: String) -> Int {
    count += 1
    entries[count] = Entry(number: count, task: task, wait: wait)
    return count
  }

  mutating func ends(_ number: Int) { entries[number] = nil }

  /// The waits, in the order in which they have begun. Objects with one name are numbered.
  var lines: [(task: String, text: String)] {
    let entries = entries.values.sorted { $0.number < $1.number }
    var objects: [String: [ObjectIdentifier]] = [:]
    for entry in entries where objects[entry.wait.title]?.contains(entry.wait.identity) != true {
      objects[entry.wait.title, default: []].append(entry.wait.identity)
    }
    return entries.map { entry in
      let wait = entry.wait
      let same = objects[wait.title] ?? []
      let index = same.firstIndex(of: wait.identity) ?? 0
      let title = same.count > 1 ? "\(wait.title) #\(index + 1)" : wait.title
      return (entry.task, wait.before + title + wait.after)
    }
  }
}
