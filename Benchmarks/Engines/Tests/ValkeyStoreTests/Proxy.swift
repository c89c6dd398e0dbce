import Foundation
import NIOCore
import NIOPosix
import Synchronization

@testable import ValkeyStore

/// Stands between a store and a server, and spoils their conversation.
final class Proxy: Sendable {
  enum Direction: String, CaseIterable, Sendable { case toServer, toStore }

  /// The fate of a command.
  enum Fate: Equatable, Sendable {
    case pass
    /// It does not get there, and this comes back.
    case reply(String)
    /// It does not get there, and nothing comes back.
    case silence
    case cut
    /// It runs, and its reply is lost.
    case runAndCut
  }

  fileprivate struct State {
    /// How many bytes may still pass before the connection is cut.
    var cut: (direction: Direction, left: Int)?
    var resets = false
    var passed: [Direction: Int] = [:]
    var fate: (@Sendable ([String]) -> Fate)?
    var channels: [ObjectIdentifier: any Channel] = [:]
    var connections = 0
    var target = 0
  }

  let port: Int
  private let listener: any Channel
  private let state: Shared

  fileprivate final class Shared: Sendable {
    let values = Mutex(State())
  }

  init(to target: Int) async throws {
    let state = Shared()
    state.values.withLock { $0.target = target }
    self.state = state
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    listener = try await ServerBootstrap(group: loop)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { store in
        ClientBootstrap(group: loop)
          .channelInitializer { server in
            server.eventLoop.makeCompletedFuture {
              try server.pipeline.syncOperations.addHandler(Pump(.toStore, store, state))
            }
          }
          .connect(host: "127.0.0.1", port: state.values.withLock(\.target))
          .flatMapThrowing { server in
            state.values.withLock { state in
              state.connections += 1
              state.channels[ObjectIdentifier(store)] = store
            }
            try store.pipeline.syncOperations.addHandler(Pump(.toServer, server, state))
          }
      }
      .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
      .bind(host: "127.0.0.1", port: 0).get()
    port = listener.localAddress?.port ?? 0
  }

  deinit {
    listener.close(promise: nil)
    cutAll()
  }

  /// A port that nobody listens on.
  static func freePort() async throws -> Int {
    let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = listener.localAddress?.port ?? 0
    try await listener.close()
    return port
  }

  /// How many connections there were.
  var connections: Int { state.values.withLock(\.connections) }

  /// Cuts the connection after so many more bytes in a direction, once.
  func cut(after count: Int, _ direction: Direction, resets: Bool = false) {
    state.values.withLock { ($0.cut, $0.resets) = ((direction, count), resets) }
  }

  /// Cuts no more. Whether there was a cut since `cut`.
  func stopCutting() -> Bool { state.values.withLock { $0.cut.take() == nil } }

  /// Counts the bytes that pass during a call.
  func count(_ body: () async throws -> Void) async rethrows -> [Direction: Int] {
    state.values.withLock { $0.passed = [:] }
    try await body()
    return state.values.withLock(\.passed)
  }

  /// Leads connections that are made from now on to another server.
  func lead(to port: Int) { state.values.withLock { $0.target = port } }

  /// Decides what becomes of commands; by default they pass.
  func decide(_ fate: (@Sendable ([String]) -> Fate)?) { state.values.withLock { $0.fate = fate } }

  func cutAll() {
    for channel in state.values.withLock({ Array($0.channels.values) }) {
      channel.close(promise: nil)
    }
  }
}

/// Passes the bytes that one side sends on to the other.
private final class Pump: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  let direction: Proxy.Direction
  let partner: any Channel
  let state: Proxy.Shared
  var parser = RESPParser()

  init(_ direction: Proxy.Direction, _ partner: any Channel, _ state: Proxy.Shared) {
    self.direction = direction
    self.partner = partner
    self.state = state
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    guard direction == .toServer else { return pass(bytes, context) }
    parser.feed(bytes)
    while let command = try? parser.next() { pass(command.asArray ?? [], context) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    let channel = ObjectIdentifier(context.channel)
    state.values.withLock { _ = $0.channels.removeValue(forKey: channel) }
    partner.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func pass(_ command: [RESP], _ context: ChannelHandlerContext) {
    let fate = state.values.withLock(\.fate)
    let decision = fate?(command.map { $0.asText ?? "" }) ?? .pass
    switch decision {
    case .pass, .runAndCut:
      if decision == .runAndCut { state.values.withLock { $0.cut = (.toStore, 0) } }
      var bytes = ByteBuffer()
      RESP.write(
        command.map { if case .bytes(let bytes) = $0 { bytes } else { ByteBuffer() } },
        into: &bytes)
      pass(bytes, context)
    case .reply(let text):
      context.channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    case .silence: break
    case .cut: end(context)
    }
  }

  private func pass(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    let direction = direction
    let (allowed, isCut) = state.values.withLock { state -> (Int, Bool) in
      guard let cut = state.cut, cut.direction == direction, cut.left <= bytes.readableBytes else {
        if state.cut?.direction == direction { state.cut?.left -= bytes.readableBytes }
        state.passed[direction, default: 0] += bytes.readableBytes
        return (bytes.readableBytes, false)
      }
      state.cut = nil
      return (cut.left, true)
    }
    let part = bytes.getSlice(at: bytes.readerIndex, length: allowed) ?? bytes
    if !isCut { return partner.writeAndFlush(part, promise: nil) }
    partner.writeAndFlush(part).assumeIsolated().whenComplete { _ in self.end(context) }
  }

  private func end(_ context: ChannelHandlerContext) {
    let resets = state.values.withLock(\.resets)
    for channel in [context.channel, partner] {
      if resets, let options = channel as? any SocketOptionProvider {
        // Closing it sends a reset instead of an end.
        options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenFailure {
          print("no reset: \($0)")
        }
      }
      channel.close(promise: nil)
    }
  }
}
