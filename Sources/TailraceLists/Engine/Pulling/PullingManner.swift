/// How a cursor pulls.
@usableFromInline
struct PullingManner: OptionSet {
  @usableFromInline var rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The cursor takes over the producer of elements that no other reader can see.
  @inlinable static var takesOver: Self { Self(rawValue: 1) }
  /// It moves elements out of cells that no other reader can see. A cursor that may step back does
  /// not.
  @inlinable static var takesOut: Self { Self(rawValue: 2) }
  /// A cancelled task gets evaluated elements only.
  @inlinable static var stopsWhenCancelled: Self { Self(rawValue: 4) }
  /// A cancelled task does not wait: the list that it computes has no reader.
  @inlinable static var isInTask: Self { Self(rawValue: 8) }
}

extension Cursor {
  @inlinable var takesOver: Bool {
    get { manner.contains(.takesOver) }
    set { manner.set(.takesOver, newValue) }
  }
  @inlinable var takesOut: Bool {
    get { manner.contains(.takesOut) }
    set { manner.set(.takesOut, newValue) }
  }
  @inlinable package var stopsWhenCancelled: Bool {
    get { manner.contains(.stopsWhenCancelled) }
    set { manner.set(.stopsWhenCancelled, newValue) }
  }
  @inlinable var isInTask: Bool { manner.contains(.isInTask) }
}

extension PullingManner {
  @inlinable
  mutating func set(_ option: Self, _ isOn: Bool) {
    if isOn { insert(option) } else { remove(option) }
  }
}
