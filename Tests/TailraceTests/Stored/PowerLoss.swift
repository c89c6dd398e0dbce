import Foundation
import TailraceTesting

/// What a loss of power may leave, at one place of a log: for each sector any of its contents since
/// the file's last sync, any of the lengths that the file has had since, and for each name any file
/// that has had it since the last sync of the folder.
struct PowerLoss {
  /// The contents since the last sync, the oldest first: of a file's length, and of its sectors that
  /// were changed.
  private struct Unsynced {
    var lengths: [Int]
    var sectors: [Int: [[UInt8]]] = [:]
  }

  private var now: ModelDisk.Image
  private var files: [Int: Unsynced] = [:]
  /// What a failed sync has dropped: later syncs do not bring it on the disk, and later writes do.
  private var dropped: [Int: [Int: [[UInt8]]]] = [:]
  private var names: [[CChar]: [Int?]] = [:]

  init(_ image: ModelDisk.Image) { now = image }

  mutating func pass(_ event: ModelDisk.Event) {
    switch event {
    case .sync(let file):
      files[file] = dropped[file].map {
        Unsynced(lengths: [now.files[file]?.count ?? 0], sectors: $0)
      }
    case .failedSync(let file): dropped[file] = files[file]?.sectors
    case .syncFolder: names = [:]
    case .names(let changes):
      for (name, file) in changes { names[name, default: [now.names[name]]].append(file) }
    case .write(let file, let offset, let bytes):
      change(file, from: offset, to: offset + bytes.count, by: event)
      return
    case .truncate(let file, let size):
      change(file, from: size, to: now.files[file]?.count ?? 0, by: event)
      return
    case .given, .promised, .released, .repaired: break
    }
    now.apply(event)
  }

  private mutating func change(
    _ file: Int, from start: Int, to end: Int, by event: ModelDisk.Event
  ) {
    let size = ModelDisk.sector
    let before = now.files[file] ?? []
    now.apply(event)
    let after = now.files[file] ?? []
    var unsynced = files[file] ?? Unsynced(lengths: [before.count])
    if !unsynced.lengths.contains(after.count) { unsynced.lengths.append(after.count) }
    for offset in stride(from: start / size * size, to: end, by: size) {
      let (old, new) = (before.block(at: offset, size), after.block(at: offset, size))
      if memcmp(old, new, size) != 0 || dropped[file]?[offset] != nil {
        unsynced.sectors[offset, default: [old]].append(new)
        dropped[file]?[offset] = nil
      }
    }
    files[file] = unsynced
  }

  // MARK: Images

  /// Something of which any of several contents may be there.
  private enum Choice {
    case length(Int, [Int])
    case sector(Int, offset: Int, [[UInt8]])
    case name([CChar], [Int?])

    var count: Int {
      switch self {
      case .length(_, let all): all.count
      case .sector(_, _, let all): all.count
      case .name(_, let all): all.count
      }
    }
  }

  private var choices: [Choice] {
    var choices: [Choice] = []
    for (name, all) in names.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      choices.append(.name(name, all))
    }
    for (file, unsynced) in files.sorted(by: { $0.key < $1.key }) {
      for (offset, all) in unsynced.sectors.sorted(by: { $0.key < $1.key }) {
        choices.append(.sector(file, offset: offset, all))
      }
      // Behind the sectors: it cuts them off.
      choices.append(.length(file, unsynced.lengths))
    }
    return choices
  }

  /// The disk, with one content for each choice.
  private func image(_ choices: [Choice], _ pick: (Choice) -> Int) -> ModelDisk.Image {
    var image = now
    for choice in choices {
      let index = pick(choice)
      switch choice {
      case .name(let name, let all): image.names[name] = all[index]
      case .sector(let file, let offset, let all):
        image.files[file, default: []].put(all[index], at: offset)
      case .length(let file, let all): image.files[file, default: []].resize(to: all[index])
      }
    }
    return image
  }

  /// All images if there are few, or some of them.
  func images(
    atMost most: Int, using random: inout some RandomNumberGenerator
  ) -> [ModelDisk.Image] {
    let choices = choices
    var number = 1
    for choice in choices where number <= most { number *= choice.count }
    if number <= most {
      return (0..<number).map { number in
        var rest = number
        return image(choices) { choice in
          defer { rest /= choice.count }
          return rest % choice.count
        }
      }
    }
    return (0..<most).map { _ in
      // Few that are lost, few that are kept, or any.
      let rate = Int.random(in: 0...8, using: &random)
      return image(choices) { choice in
        Int.random(in: 0..<8, using: &random) < rate
          ? choice.count - 1 : Int.random(in: 0..<choice.count, using: &random)
      }
    }
  }
}
