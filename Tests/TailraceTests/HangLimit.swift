import Testing

extension Trait where Self == TimeLimitTrait {
  /// Ends a test that waits for what never comes.
  ///
  /// All tests begin at once, and the last has its turn when the others are done: the limit is far
  /// longer than that takes on one core with a sanitizer. It measures nothing.
  static var hangLimit: Self { .timeLimit(.minutes(20)) }
}
