/// Measures the time from now on, on a clock.
@usableFromInline
package func timeFromNow(on clock: some Clock<Duration>) -> @Sendable () -> Duration {
  let start = clock.now
  return { start.duration(to: clock.now) }
}
