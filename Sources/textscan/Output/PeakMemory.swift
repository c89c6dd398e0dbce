import FileReading

#if !os(Linux)
  import Darwin
#endif

/// How many bytes of memory this process had at once, at most; 0 if the system does not say.
func peakMemory() -> Int {
  #if os(Linux)
    // `getrusage` also knows what the process had before it ran this program.
    let status = try? Descriptor.opening(Path("/proc/self/status").characters).readNow()
    let line = String(decoding: status ?? [], as: UTF8.self)
      .split(separator: "\n")
      .first { $0.hasPrefix("VmHWM:") }
    // As in `VmHWM:    12096 kB`.
    let kilobytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
    return (kilobytes.flatMap { Int($0) } ?? 0) * 1024
  #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return usage.ru_maxrss
  #endif
}
