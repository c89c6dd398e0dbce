extension String {
  /// The characters (grapheme clusters) as a list.
  ///
  /// ```swift
  /// await "♥️♦️".lazyList.count()                  // 2
  /// await "♥️♦️".unicodeScalars.lazyList.count()   // 4
  /// await "♥️♦️".utf8.lazyList.count()             // 12
  /// ```
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Character, Never> { LazyList(self) }
}

extension Substring {
  /// The characters (grapheme clusters) as a list.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Character, Never> { LazyList(self) }
}

extension String.UnicodeScalarView {
  /// The Unicode scalars as a list.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<Unicode.Scalar, Never> { LazyList(self) }
}

extension String.UTF8View {
  /// The string's UTF-8 bytes as a list.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<UInt8, Never> { LazyList(self) }
}

extension String.UTF16View {
  /// The string's UTF-16 code units as a list.
  @_alwaysEmitIntoClient
  public var lazyList: LazyList<UInt16, Never> { LazyList(self) }
}
