public import Synchronization

/// A segment's published state: how many of its cells may be read, and whether there will be more.
@usableFromInline
struct Published: RawRepresentable, AtomicRepresentable, Equatable, Sendable {
  @usableFromInline let rawValue: Int

  @inlinable
  init(rawValue: Int) { self.rawValue = rawValue }

  @inlinable
  init(count: Int, isClosed: Bool = false) { rawValue = count << 1 | (isClosed ? 1 : 0) }

  @inlinable var count: Int { rawValue >> 1 }
  /// No more cells will be added: the segment's link follows.
  @inlinable var isClosed: Bool { rawValue & 1 == 1 }

  /// With one more cell.
  @inlinable var appended: Published { Published(rawValue: rawValue &+ 2) }
  @inlinable var closed: Published { Published(rawValue: rawValue | 1) }
}
