/// The failures that a stored element survives once it has been published.
public enum Durability: Sendable, Hashable {
  /// The end of the process: the operating system has it. A loss of power may lose the last
  /// elements.
  case process
  /// A failure of the machine: it is on the disk (`fdatasync`; `F_FULLFSYNC` on Darwin).
  case machine
  /// The process, at once; the machine, after at most this many commits, 1 or more. An element may
  /// be published before it is on the disk.
  case machineEvery(Int)
}
