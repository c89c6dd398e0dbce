import Foundation

/// A connection to a server of this machine.
///
/// Receiving waits for the network: on a thread of its own.
final class Socket: Sendable {
  let descriptor: Int32

  /// - Parameter buffer: the size of the receive buffer.
  init(port: Int, buffer: Int32? = nil) throws {
    #if canImport(Glibc)
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    precondition(descriptor >= 0, "there is no descriptor left for a socket: \(errno)")
    if var buffer {
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &buffer, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let result = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // The deinitializer closes it.
    guard result == 0 else { throw SocketError(code: errno) }
  }

  deinit { close(descriptor) }

  /// Requests a path.
  func request(_ path: String, method: String = "GET", _ headers: [String] = []) throws {
    let lines = ["\(method) \(path) HTTP/1.1", "Host: localhost"] + headers
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    let sent = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    guard sent == bytes.count else { throw SocketError(code: errno) }
  }

  /// Returns some bytes; none at the end.
  func receive() throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: 1 << 16) { bytes, count in
      let received = recv(descriptor, bytes.baseAddress, bytes.count, 0)
      guard received >= 0 else { throw SocketError(code: errno) }
      count = received
    }
  }

  /// Returns everything up to the end.
  func receiveAll() throws -> [UInt8] {
    var all: [UInt8] = []
    while case let bytes = try receive(), !bytes.isEmpty { all += bytes }
    return all
  }

  /// Closes with a reset, as a client that crashes.
  func resetOnClose() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
  }
}

struct SocketError: Error, Equatable {
  let code: Int32
}

/// Runs what waits for processes and the network on a thread that nobody else needs.
func onThread<Value: Sendable>(
  _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
  }
}
