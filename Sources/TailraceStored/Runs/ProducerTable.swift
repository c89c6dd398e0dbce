/// Decides which lists of a directory have a producer: a value with one method for each event.
///
/// | phase | who may change it, to what |
/// |---|---|
/// | producing | its producer is over: *ended* or *failed*; `stop`: *stopping* |
/// | failed | `start`: *producing*; `stop`: *stopping* |
/// | stopping | its end is stored: *ended*; it cannot be stored: *failed* |
/// | ended | `remove`: *removing* |
/// | removing | its files are gone: no list |
///
/// Each run of a producer has a number: what a former one still says is not heard.
struct ProducerTable: Hashable, Sendable {
  enum Phase: Hashable, Sendable {
    case producing(run: Int)
    case failed(String)
    case stopping
    case ended
    case removing
  }

  /// At most how many lists are produced at a time, for `start`.
  let limit: Int
  private(set) var phases: [String: Phase] = [:]
  private(set) var isClosed = false
  private var runs = 0

  init(limit: Int) { self.limit = limit }

  /// How many lists are produced.
  var producing: Int {
    phases.values.count { if case .producing = $0 { true } else { false } }
  }

  func isProducing(_ key: String, _ run: Int) -> Bool { phases[key] == .producing(run: run) }

  // MARK: Beginning

  enum Start: Hashable, Sendable {
    /// There is no such list: its first state is to be stored, and then `didStore` told.
    case store
    /// It goes on, with this run.
    case goesOn(run: Int)
    /// It is produced, or has ended, or is being stopped.
    case isThere
    /// So many are produced already.
    case isBusy
    /// It is being removed, or all is closed.
    case isRefused
  }

  /// A list is to be produced. The caller stores one first state at a time.
  mutating func start(_ key: String) -> Start {
    if isClosed { return .isRefused }
    switch phases[key] {
    case nil: return producing < limit ? .store : .isBusy
    case .failed: return producing < limit ? .goesOn(run: begin(key)) : .isBusy
    case .producing, .stopping, .ended: return .isThere
    case .removing: return .isRefused
    }
  }

  /// The first state of a new list is stored. Returns the run; `nil` if all was closed meanwhile: the list
  /// goes on when the directory is opened again.
  mutating func didStore(_ key: String) -> Int? {
    guard !isClosed, phases[key] == nil else { return nil }
    return begin(key)
  }

  /// A list was found in the directory. Returns the run that goes on with it, if it has not ended.
  mutating func found(_ key: String, isEnded: Bool) -> Int? {
    guard !isClosed, phases[key] == nil else { return nil }
    guard !isEnded else {
      phases[key] = .ended
      return nil
    }
    return begin(key)
  }

  private mutating func begin(_ key: String) -> Int {
    runs += 1
    phases[key] = .producing(run: runs)
    return runs
  }

  // MARK: Ending

  /// A producer is over; `nil`: its list has ended.
  mutating func isOver(_ key: String, _ run: Int, failure: String?) {
    guard isProducing(key, run) else { return }
    phases[key] = failure.map { .failed($0) } ?? .ended
  }

  /// A list is to end. False if there is none, or if it has ended or is about to.
  mutating func stop(_ key: String) -> Bool {
    switch phases[key] {
    case .producing, .failed:
      phases[key] = .stopping
      return true
    case nil, .stopping, .ended, .removing: return false
    }
  }

  /// The end of a list is stored, or could not be.
  mutating func didStop(_ key: String, failure: String?) {
    guard phases[key] == .stopping else { return }
    phases[key] = failure.map { .failed($0) } ?? .ended
  }

  /// The files of a list that has ended are to go. False if it has not.
  mutating func remove(_ key: String) -> Bool {
    guard !isClosed, phases[key] == .ended else { return false }
    phases[key] = .removing
    return true
  }

  /// The files of a list are gone, or could not be removed.
  mutating func didRemove(_ key: String, isGone: Bool) {
    guard phases[key] == .removing else { return }
    phases[key] = isGone ? nil : .ended
  }

  /// Nothing is produced any more.
  mutating func close() { isClosed = true }
}
