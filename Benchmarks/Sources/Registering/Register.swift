import Benchmark
import Foundation
import Works

@_exported import struct Works.Topic

/// Makes benchmarks of what a topic describes: the time of every contender at every size, how the
/// first peer compares, and what is counted.
public func register(_ topic: Topic) {
  for work in topic.works {
    for contender in work.contenders {
      for size in contender.sizes { time(topic, work, contender, size) }
    }
    // One ratio tells a regression of ours; `compare` has them all.
    if let peer = work.peers.first { compare(topic, work, peer) }
  }
  for quantity in topic.quantities { count(topic, quantity) }
}

private func time(_ topic: Topic, _ work: Work, _ contender: Contender, _ size: Int) {
  if isQuick && size > 100 { return }
  Benchmark(
    title(topic.name, work.name, contender.who, String(size)),
    configuration: configuration([.wallClock, .throughput, .peakMemoryResident])
  ) { benchmark in
    let body = try await contender.prepare(size)
    benchmark.startMeasurement()
    Works.blackHole(try await body())
    benchmark.stopMeasurement()
  }
}

// MARK: What thresholds are kept of

/// Our time as millionths of a peer's, both measured in turn: unlike a time, it means the same on
/// another machine, and on a busy one.
private func compare(_ topic: Topic, _ work: Work, _ peer: Contender) {
  let sizes = work.ours.sizes.filter(peer.sizes.contains)
  guard let size = sizes.filter({ $0 <= (isQuick ? 100 : 10_000) }).max() else { return }
  let millionths = BenchmarkMetric.custom("millionths", useScalingFactor: false)
  // Several readers on few cores depend on luck more than on load.
  let tolerance = tolerance(work.readers > 1 ? 900 : 150)
  var configuration = configuration([millionths], thresholds: [millionths: tolerance])
  configuration.maxIterations = 1
  configuration.warmupIterations = 0
  Benchmark(
    title("ratio", topic.name, work.name, peer.who), configuration: configuration
  ) { benchmark in
    let ours = try await work.ours.prepare(size)
    let theirs = try await peer.prepare(size)
    benchmark.measurement(millionths, Int(1e6 * (try await medianRatio(ours, theirs))))
  }
}

/// The median over rounds, in which both take turns: one round that was disturbed does not count.
private func medianRatio(
  _ ours: Contender.Body, _ theirs: Contender.Body
) async throws -> Double {
  let end = ContinuousClock.now + (isQuick ? .zero : .milliseconds(400))
  var ratios: [Double] = []
  repeat {
    var (ourTime, theirTime) = (Duration.zero, Duration.zero)
    // What is soon done is done until the clock has something to measure.
    repeat {
      ourTime += try await duration(of: ours)
      theirTime += try await duration(of: theirs)
    } while min(ourTime, theirTime) < (isQuick ? .nanoseconds(1) : .microseconds(500))
    ratios.append(ourTime / theirTime)
  } while ContinuousClock.now < end || (!isQuick && ratios.count < 9)
  return ratios.sorted()[ratios.count / 2]
}

private func count(_ topic: Topic, _ quantity: Quantity) {
  guard let limit = quantity.limit else { return }
  let thousandths = BenchmarkMetric.custom("thousandths", useScalingFactor: false)
  // Of something small a quarter is nothing, so that it is a quarter of the limit.
  let tolerance = BenchmarkThresholds(absolute: [.p90: Int(1e3 * limit / 4)])
  var configuration = configuration([thousandths], thresholds: [thousandths: tolerance])
  configuration.maxIterations = 1
  Benchmark(
    title("count", topic.name, quantity.name, quantity.who), configuration: configuration
  ) { benchmark in
    guard let count = try await quantity.count(isQuick ? 1_000 : quantity.size) else { return }
    benchmark.measurement(thousandths, Int(1e3 * count))
  }
}

private func duration(of body: Contender.Body) async throws -> Duration {
  try await ContinuousClock().measure { Works.blackHole(try await body()) }
}

// MARK: Settings

/// Whether everything is to run once, at small sizes.
private let isQuick = ProcessInfo.processInfo.environment["BENCHMARKS_QUICK"] != nil

private func configuration(
  _ metrics: [BenchmarkMetric], thresholds: [BenchmarkMetric: BenchmarkThresholds]? = nil
) -> Benchmark.Configuration {
  Benchmark.Configuration(
    metrics: metrics, warmupIterations: isQuick ? 0 : 1, maxDuration: .milliseconds(300),
    maxIterations: isQuick ? 1 : 1_000, thresholds: thresholds)
}

/// How many percent a run may be worse than the threshold.
private func tolerance(_ percent: Double) -> BenchmarkThresholds {
  BenchmarkThresholds(relative: [.p90: percent])
}

/// A name that is good for a file: thresholds are written to files of these names.
private func title(_ parts: String...) -> String {
  parts.map { part in
    part.split { !($0.isLetter || $0.isNumber || ".-".contains($0)) }.joined(separator: "_")
  }.joined(separator: "·")
}
