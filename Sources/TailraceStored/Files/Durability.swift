/// The failure that a stored element survives once it has been published.
public enum Durability: Sendable, Hashable {
  /// The element survives the end of the process: the operating system has it. A loss of power may
  /// take elements that were published, and nothing left on the disk tells whether it did. So the list that
  /// continues after a restart of the machine has another identity, unless it had ended, or its last writer
  /// had called ``FileStore/release()``.
  case survivesProcess
  /// The element survives a loss of power: it is on the disk (`fdatasync`; `F_FULLFSYNC` on Darwin)
  /// before anybody sees it.
  case survivesPowerLoss
}
