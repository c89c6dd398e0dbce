import Foundation

/// Where and when something was measured.
public enum Surroundings {
  /// The compiler, the processor, the load and the date.
  public static var line: String {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    return
      "\(toolchain), release; \(processor), \(cores) cores; load \(load) when it began; \(date)."
  }

  private static var toolchain: String {
    output(of: ["swift", "--version"])?.firstMatch(of: /Swift version [^ ]+/)
      .map { $0.output.replacingOccurrences(of: "version ", with: "") } ?? "Swift"
  }

  private static var processor: String {
    (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
      .firstMatch(of: /model name\s*: (.*)/).map { String($0.output.1) } ?? "processor not named"
  }

  private static var load: String {
    (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?
      .split(separator: " ").first.map(String.init) ?? "unknown"
  }

  private static var date: String {
    Date.now.formatted(.iso8601.year().month().day())
  }

  private static func output(of command: [String]) -> String? {
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return nil }
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}
