import Measuring
import Works

extension Results {
  /// The pictures that there are figures for, with the names of their files.
  var pictures: [(file: String, chart: Chart)] {
    [("cost", costs), ("sizes", sizes), ("readers", readers)]
      .filter { !$0.1.groups.isEmpty }
  }

  private static let axis = "nanoseconds, logarithmic scale; less is better"

  /// The one picture that says it all.
  private var costs: Chart {
    let headlines = races.filter { $0.race.row.isHeadline }
    return Chart(
      title: "What an element costs", axis: Self.axis,
      groups: headlines.compactMap { topic, race in
        race.commonSize.flatMap { size in
          race.bars(
            at: size, label: "\(topic.name) · \(race.row.name) (\(grouped(size)) elements)")
        }
      })
  }

  /// The first pass at every size.
  private var sizes: Chart {
    guard let race = races.first(where: { $0.topic.name == Topic.firstPass.name })?.race else {
      return Chart(title: "", axis: "")
    }
    return Chart(
      title: "Cost against size: first pass, \(race.row.name)", axis: Self.axis,
      groups: race.row.sizes.compactMap { size in
        race.bars(at: size, label: "\(grouped(size)) elements")
      })
  }

  /// The same computation for more and more readers.
  private var readers: Chart {
    Chart(
      title: "Cost against readers: one map, read by several tasks at once",
      axis: "nanoseconds per element and reader, logarithmic scale; less is better",
      groups: races.filter { $0.topic.name == Topic.fanOut.name }.compactMap { _, race in
        race.commonSize.flatMap { size in
          race.bars(at: size, label: "\(race.row.name) (\(grouped(size)) elements)")
        }
      })
  }
}

extension Race {
  /// The largest size that all contenders do.
  fileprivate var commonSize: Int? {
    row.sizes.last { size in row.contenders.allSatisfy { size <= $0.largest } }
  }

  fileprivate func bars(at size: Int, label: String) -> Chart.Group? {
    let bars = row.contenders.enumerated().compactMap { index, contender in
      timing(of: contender, at: size).map {
        Chart.Bar(label: contender.who, value: $0.median, isOurs: index == 0)
      }
    }
    return bars.isEmpty ? nil : Chart.Group(label: label, bars: bars)
  }
}
