/// What a stored element survives, from the moment on at which it is given out.
public enum Durability: Sendable, Hashable {
  /// The process: it is with the operating system. A loss of power may take the last elements away.
  case process
  /// The machine: it is on the disk (`fdatasync`; `F_FULLFSYNC` on Darwin).
  case machine
  /// The process, at once; and the machine, after at most so many commits, 1 or more. An element
  /// may be given out before it is on the disk.
  case machineEvery(Int)
}
