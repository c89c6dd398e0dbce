import Benchmark
import Foundation
import Measuring
import Works

/// All topics: the time of every contender at every size, how the first peer compares, and what is
/// counted.
let benchmarks: @Sendable () -> Void = {
  for topic in Topic.all {
    for row in topic.rows {
      for contender in row.contenders {
        for size in row.sizes(of: contender) { time(topic, row, contender, size) }
      }
      // One ratio tells a regression of ours; `compare` has them all.
      if let peer = row.peers.first { compare(topic, row, peer) }
    }
    for quantity in topic.quantities { count(topic, quantity) }
  }
}

private func time(_ topic: Topic, _ row: Row, _ contender: Contender, _ size: Int) {
  if isQuick && size > 100 { return }
  Benchmark(
    title(topic.name, row.name, contender.who, String(size)),
    configuration: configuration([.wallClock, .throughput, .peakMemoryResident])
  ) { benchmark in
    let body = try await contender.prepare(size)
    benchmark.startMeasurement()
    Measuring.blackHole(try await body(1))
    benchmark.stopMeasurement()
  }
}

// MARK: Measurements with thresholds

/// Our time as millionths of a peer's, both measured in turn: unlike a time, it means the same on
/// another machine, and on a busy one.
private func compare(_ topic: Topic, _ row: Row, _ peer: Contender) {
  let sizes = row.sizes(of: peer).filter { $0 <= row.ours.largest }
  guard let size = sizes.last(where: { $0 <= (isQuick ? 100 : 10_000) }) ?? sizes.first,
    !isQuick || size <= 100
  else { return }
  let millionths = BenchmarkMetric.custom("millionths", useScalingFactor: false)
  // Several readers on few cores depend on luck more than on load.
  let tolerance = BenchmarkThresholds(relative: [.p90: row.times > 1 ? 900 : 150])
  var configuration = configuration([millionths], thresholds: [millionths: tolerance])
  configuration.maxIterations = 1
  configuration.warmupIterations = 0
  Benchmark(
    title("ratio", topic.name, row.name, peer.who), configuration: configuration
  ) { benchmark in
    let end = ContinuousClock.now + .milliseconds(400)
    let race = try await Race(row, contenders: [row.ours, peer], sizes: [size]) { rounds in
      isQuick ? rounds < 1 : rounds < 9 || ContinuousClock.now < end
    }
    guard let ratio = race.ratio(to: peer, at: size) else { return }
    benchmark.measurement(millionths, Int(1e6 * ratio.median))
  }
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
    guard let count = try await quantity.count(isQuick ? min(1_000, quantity.size) : quantity.size)
    else { return }
    benchmark.measurement(thousandths, Int(1e3 * count))
  }
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

/// A name that is good for a file: thresholds are written to files of these names.
private func title(_ parts: String...) -> String {
  parts.map { part in
    part.split { !($0.isLetter || $0.isNumber || ".-".contains($0)) }.joined(separator: "_")
  }.joined(separator: "·")
}
