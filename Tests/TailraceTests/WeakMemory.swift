/// Threads that read and write words without a common lock, where a store may be seen late.
///
/// Each thread has a store buffer: what it stores is seen by itself at once, and by others when it leaves the
/// buffer, in the order in which it was stored, at any later moment. That is how x86 machines differ from one
/// thing after the other; ARM machines differ more, but what goes wrong here goes wrong there, too. A fence
/// waits until the buffer is empty, and so does what reads and writes in one step.
struct WeakMemory<Word: RawRepresentable<Int> & CaseIterable>: Explorable {
  typealias Registers = [Int]

  /// One step of a thread.
  struct Instruction {
    fileprivate enum Kind {
      case load(Word, into: Int)
      case store(Word, (Registers) -> Int)
      /// Reads and writes at once. The former value goes to a register.
      case update(Word, into: Int, (Int, Registers) -> Int)
      /// Goes on when a word has a value.
      case wait(Word, (Int) -> Bool)
      case fence
      case jump((Registers) -> Int?)
    }

    fileprivate let name: String
    fileprivate let kind: Kind

    static func load(_ name: String, _ word: Word, into register: Int) -> Instruction {
      Instruction(name: name, kind: .load(word, into: register))
    }

    static func store(
      _ name: String, _ word: Word, _ value: @escaping (Registers) -> Int
    ) -> Instruction {
      Instruction(name: name, kind: .store(word, value))
    }

    /// - Parameter register: gets the former value.
    static func update(
      _ name: String, _ word: Word, into register: Int = 3,
      _ change: @escaping (_ value: Int, Registers) -> Int
    ) -> Instruction {
      Instruction(name: name, kind: .update(word, into: register, change))
    }

    static func wait(
      _ name: String, _ word: Word, until isRight: @escaping (Int) -> Bool
    ) -> Instruction {
      Instruction(name: name, kind: .wait(word, isRight))
    }

    static var fence: Instruction { Instruction(name: "fence", kind: .fence) }

    /// Goes on at another instruction; at the next one if there is none; a number past the last ends.
    static func jump(_ name: String, _ target: @escaping (Registers) -> Int?) -> Instruction {
      Instruction(name: name, kind: .jump(target))
    }

    /// Takes a word that is 0 for free.
    static func lock(_ word: Word) -> [Instruction] {
      // One step: it waits and takes at once.
      [Instruction(name: "lock", kind: .update(word, into: -1) { _, _ in 1 })]
    }

    static func unlock(_ word: Word) -> Instruction { store("unlock", word) { _ in 0 } }
  }

  struct Event: CustomStringConvertible {
    let thread: Int
    /// `nil` where the oldest store leaves the buffer.
    let instruction: Int?
    let description: String
  }

  struct Thread: Hashable {
    var next = 0
    var registers: Registers = [0, 0, 0, 0]
    var buffer: [Store] = []
  }

  struct Store: Hashable {
    let word: Int
    let value: Int
  }

  struct Key: Hashable {
    fileprivate(set) var memory: [Int]
    fileprivate(set) var threads: [Thread]
  }

  private let programs: [[Instruction]]
  private let check: (WeakMemory) -> String?
  private let invariant: (WeakMemory) -> String?
  private(set) var key: Key

  /// - Parameters:
  ///   - words: the first values of the words that do not begin with 0.
  ///   - check: describes a fault when nothing can happen any more.
  ///   - invariant: describes a fault of a state.
  init(
    _ programs: [[Instruction]], words: [Word: Int] = [:],
    check: @escaping (WeakMemory) -> String? = { _ in nil },
    invariant: @escaping (WeakMemory) -> String? = { _ in nil }
  ) where Word: Hashable {
    self.programs = programs
    self.check = check
    self.invariant = invariant
    key = Key(
      memory: Word.allCases.map { words[$0] ?? 0 }, threads: programs.map { _ in Thread() })
  }

  /// The value of a word in memory.
  subscript(word: Word) -> Int { key.memory[word.rawValue] }
  func registers(of thread: Int) -> Registers { key.threads[thread].registers }
  /// Whether all threads have come to their end.
  var isAtEnd: Bool { key.threads.indices.allSatisfy(isAtEnd) }
  func isAtEnd(_ thread: Int) -> Bool { key.threads[thread].next >= programs[thread].count }

  var violation: String? { invariant(self) }
  var violationAtRest: String? { check(self) }

  var events: [Event] {
    key.threads.indices.flatMap { number -> [Event] in
      let thread = key.threads[number]
      var events: [Event] = []
      if let store = thread.buffer.first {
        let word = Word.allCases.first { $0.rawValue == store.word }
        events.append(
          Event(
            thread: number, instruction: nil,
            description: "thread \(number): \(word.map { "\($0)" } ?? "") = \(store.value) is seen")
        )
      }
      if !isAtEnd(number), canRun(programs[number][thread.next], number) {
        events.append(
          Event(
            thread: number, instruction: thread.next,
            description: "thread \(number): \(programs[number][thread.next].name)"))
      }
      return events
    }
  }

  private func canRun(_ instruction: Instruction, _ thread: Int) -> Bool {
    let isEmpty = key.threads[thread].buffer.isEmpty
    switch instruction.kind {
    case .load, .store, .jump: return true
    case .fence: return isEmpty
    case .update(let word, into: let register, _):
      return isEmpty && (register >= 0 || self[word] == 0)
    case .wait(let word, let isRight): return isRight(value(of: word, for: thread))
    }
  }

  private func value(of word: Word, for thread: Int) -> Int {
    key.threads[thread].buffer.last { $0.word == word.rawValue }?.value ?? self[word]
  }

  mutating func apply(_ event: Event) {
    let number = event.thread
    guard let index = event.instruction else {
      let store = key.threads[number].buffer.removeFirst()
      key.memory[store.word] = store.value
      return
    }
    key.threads[number].next += 1
    let registers = key.threads[number].registers
    switch programs[number][index].kind {
    case .load(let word, into: let register):
      key.threads[number].registers[register] = value(of: word, for: number)
    case .store(let word, let value):
      key.threads[number].buffer.append(Store(word: word.rawValue, value: value(registers)))
    case .update(let word, into: let register, let change):
      let former = self[word]
      key.memory[word.rawValue] = change(former, registers)
      if register >= 0 { key.threads[number].registers[register] = former }
    case .wait, .fence: break
    case .jump(let target): if let target = target(registers) { key.threads[number].next = target }
    }
  }
}
