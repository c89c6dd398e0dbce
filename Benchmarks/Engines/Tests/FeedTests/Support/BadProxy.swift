import Foundation
import Synchronization

/// A proxy that does to connections what networks and proxies do: cuts them, delays parts, sends some bytes
/// twice, or falls silent.
final class BadProxy: Sendable {
  enum Harm: CaseIterable, Sendable { case none, cut, silence, delay, twice }

  let port: Int
  private let target: Int
  private let listener: Int32
  private let state: Mutex<State>

  private struct State {
    var generator: SplitMix
    var counts: [Harm: Int] = [:]
    var isOver = false
  }

  /// How often each harm was done.
  var counts: [Harm: Int] { state.withLock { $0.counts } }

  /// - Parameter seed: the harms are the same for each one.
  init(to target: Int, seed: UInt64) throws {
    self.target = target
    state = Mutex(State(generator: SplitMix(state: seed)))
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = self.listener
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(listener, pointer, length) == 0 && listen(listener, 64) == 0
          && getsockname(listener, pointer, &length) == 0
      }
    }
    guard result else { throw SocketError(code: errno) }
    port = Int(in_port_t(bigEndian: address.sin_port))
    Thread.detachNewThread { [self] in acceptAll() }
  }

  func stop() {
    state.withLock { $0.isOver = true }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func acceptAll() {
    while true {
      let client = accept(listener, nil, nil)
      if client < 0 || state.withLock({ $0.isOver }) { return }
      guard let server = try? Socket(port: target) else {
        close(client)
        continue
      }
      let (harm, place) = state.withLock { state -> (Harm, Int) in
        let harm = Harm.allCases.randomElement(using: &state.generator) ?? .none
        state.counts[harm, default: 0] += 1
        return (harm, Int.random(in: 0...6000, using: &state.generator))
      }
      let pair = Pair(client: client, server: server)
      Thread.detachNewThread { pair.sendRequests() }
      Thread.detachNewThread { pair.sendResponses(harm, at: place) }
    }
  }

  /// Two connections that belong together.
  private final class Pair: Sendable {
    let client: Int32
    let server: Socket

    init(client: Int32, server: Socket) {
      self.client = client
      self.server = server
    }

    deinit { close(client) }

    private func end() {
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server.descriptor, Int32(SHUT_RDWR))
    }

    func sendRequests() {
      var bytes = [UInt8](repeating: 0, count: 1 << 14)
      while true {
        let count = recv(client, &bytes, bytes.count, 0)
        guard count > 0, send(server.descriptor, bytes, count, Int32(MSG_NOSIGNAL)) == count
        else { return end() }
      }
    }

    func sendResponses(_ harm: Harm, at place: Int) {
      var sent = 0
      while let bytes = try? server.receive(), !bytes.isEmpty {
        var part = bytes[...]
        let rest = place - sent
        let isHere = rest < bytes.count && sent <= place
        sent += bytes.count
        switch harm {
        case .cut where isHere: part = part.prefix(max(rest, 0))
        case .silence where isHere:
          _ = write(part.prefix(max(rest, 0)))
          // Until the client gives up.
          var pollings = [pollfd(fd: client, events: 0, revents: 0)]
          _ = poll(&pollings, 1, 30_000)
          return end()
        case .delay: usleep(UInt32(place % 20) * 1000)
        case .twice where isHere:
          let middle = max(rest, 0)
          let again = part.prefix(middle).suffix(1 + place % 300)
          part = part.prefix(middle) + again + part.dropFirst(middle)
        default: break
        }
        guard write(part) else { return end() }
        if harm == .cut, isHere { return end() }
      }
      end()
    }

    private func write(_ bytes: ArraySlice<UInt8>) -> Bool {
      var rest = bytes
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes {
          send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }
}

/// A generator of random numbers that can be repeated.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
