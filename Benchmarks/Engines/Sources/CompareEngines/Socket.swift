import Foundation
import Measuring

/// A connection to a port of this machine, for calls that block.
struct Socket: ~Copyable {
  private let descriptor: CInt

  init(port: Int) throws {
    descriptor = Self.make()
    let result = Self.with(port: port) { connect(descriptor, $0, $1) }
    guard result == 0 else { throw Flaw("cannot connect to port \(port)") }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws {
    var text = text
    let sent = text.withUTF8 { write(descriptor, $0.baseAddress, $0.count) }
    guard sent == text.utf8.count else { throw Flaw("cannot send a request") }
  }

  /// Reads some bytes; none at the end.
  func receive(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    guard count >= 0 else { throw Flaw("cannot read a response") }
    return count
  }

  /// A port that nobody uses.
  static func freePort() throws -> Int {
    let descriptor = make()
    defer { close(descriptor) }
    guard with(port: 0, { bind(descriptor, $0, $1) }) == 0 else { throw Flaw("no port is free") }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    guard result == 0 else { throw Flaw("no port is free") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private static func make() -> CInt {
    #if canImport(Glibc)
      socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_INET, SOCK_STREAM, 0)
    #endif
  }

  private static func with(
    port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
  ) -> CInt {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
