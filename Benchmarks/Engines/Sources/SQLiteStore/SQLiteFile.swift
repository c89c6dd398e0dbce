import Foundation
import GRDB
import TailraceStored

/// An open connection, and the file that it has opened.
struct SQLiteFile {
  let queue: DatabaseQueue
  let node: Node

  init(at path: String, _ configuration: Configuration) throws {
    queue = try DatabaseQueue(path: path, configuration: configuration)
    node = try Node(at: path)
  }

  /// A file, whatever its name.
  struct Node: Equatable {
    private let device: dev_t
    private let number: ino_t

    fileprivate init(at path: String) throws {
      var status = stat()
      guard stat(path, &status) == 0 else {
        throw ListStoreError.refused("\(path) was removed while it was open")
      }
      (device, number) = (status.st_dev, status.st_ino)
    }

    /// Throws if it has this name no longer: a connection to it would go on, for nobody.
    func check(at path: String) throws {
      if try Node(at: path) != self {
        throw ListStoreError.refused(
          "\(path) was replaced while it was open: make a new store for the file that is there now")
      }
    }
  }
}
