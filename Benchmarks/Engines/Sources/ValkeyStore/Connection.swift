import NIOCore
import NIOPosix
import Synchronization

/// Where a server is, and how to log in.
public struct ValkeyServer: Sendable {
  /// A name or an IP address.
  public var host: String
  public var port: Int
  /// The user's name; `nil` for the default user.
  public var username: String?
  /// `nil` if the server asks for none.
  public var password: String?
  /// The number of the database.
  public var database: Int
  /// The time after which a connection or a reply counts as missing.
  public var timeout: Duration

  /// Describes a server. It connects to nothing.
  public init(
    _ host: String = "127.0.0.1", port: Int = 6379, username: String? = nil,
    password: String? = nil, database: Int = 0, timeout: Duration = .seconds(5)
  ) {
    precondition(
      (1...65535).contains(port), "a ValkeyServer takes a port from 1 to 65535, not \(port)")
    precondition(
      timeout > .zero, "a ValkeyServer takes a timeout of more than nothing, not \(timeout)")
    self.host = host
    self.port = port
    self.username = username
    self.password = password
    self.database = database
    self.timeout = timeout
  }
}

/// A connection to a server. The first call makes it; the call after it was lost makes it anew.
///
/// Calls are pipelined: each sends its commands at once, and replies come in order. Cancelling a
/// task does not interrupt its call. A call that is not answered in time closes the connection,
/// because nothing could tell its late reply from the next one.
///
/// It is as much of a client as a stored list needs. An application that may have dependencies
/// should take valkey-swift instead, for TLS and clusters, and implement `call` with it.
final class Connection: Sendable {
  private struct State {
    /// Counts the connections, so that the end of an old one does not forget a new one.
    var number = 0
    var exchange: EventLoopFuture<NIOLoopBound<Exchange>>?
    var isClosed = false
  }

  let server: ValkeyServer
  private let state = Mutex(State())

  init(_ server: ValkeyServer) { self.server = server }

  /// Sends commands, and waits for their replies. Error replies are replies.
  ///
  /// - Parameter patience: how long the server may take in addition to the server's timeout.
  /// - Throws: ``ValkeyError``.
  nonisolated(nonsending) func call(
    _ commands: [[ByteBuffer]], patience: Duration = .zero
  ) async throws -> [RESP] {
    let limit = server.timeout + patience
    guard let exchange = exchange() else { throw ValkeyError.disconnected("the store is gone") }
    return try await exchange.flatMap { $0.value.send(commands, within: limit) }.get()
  }

  /// Closes it until the next call.
  func drop(_ error: ValkeyError) {
    state.withLock { $0.exchange.take() }?.whenSuccess { $0.value.end(error) }
  }

  /// Closes it for good.
  func close() {
    let exchange = state.withLock { state in
      state.isClosed = true
      return state.exchange.take()
    }
    exchange?.whenSuccess { $0.value.end(.disconnected("the store is gone")) }
  }

  private func exchange() -> EventLoopFuture<NIOLoopBound<Exchange>>? {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let (exchange, begin) = state.withLock { state in
      if state.isClosed || state.exchange != nil {
        return (state.exchange, nil as (number: Int, EventLoopPromise<NIOLoopBound<Exchange>>)?)
      }
      state.number += 1
      let promise = loop.makePromise(of: NIOLoopBound<Exchange>.self)
      state.exchange = promise.futureResult
      return (promise.futureResult, (state.number, promise))
    }
    // Not under the lock: a failure may come at once, and takes it.
    if let (number, promise) = begin { connect(number, on: loop).cascade(to: promise) }
    return exchange
  }

  private func forget(_ number: Int) {
    state.withLock { if $0.number == number { $0.exchange = nil } }
  }

  private func connect(
    _ number: Int, on loop: any EventLoop
  ) -> EventLoopFuture<NIOLoopBound<Exchange>> {
    let server = server
    return ClientBootstrap(group: loop)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .connectTimeout(TimeAmount(server.timeout))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            Exchange(channel.eventLoop) { [weak self] in self?.forget(number) })
        }
      }
      .connect(host: server.host, port: server.port)
      .flatMapThrowing {
        NIOLoopBound(
          try $0.pipeline.syncOperations.handler(type: Exchange.self), eventLoop: loop)
      }
      .flatMapErrorThrowing { error in
        throw ValkeyError.unreachable(
          "\(server.host):\(server.port)", reason: String(describing: error))
      }
      .flatMap { exchange in
        exchange.value.send(server.greeting, within: server.timeout).flatMapThrowing { replies in
          for case .error(let message) in replies {
            exchange.value.end(.disconnected("it was refused"))
            throw ValkeyError(reply: message)
          }
          return exchange
        }
      }
      .flatMapErrorThrowing { [weak self] error in
        // Before anybody learns of the failure, and calls again.
        self?.forget(number)
        throw error
      }
  }
}

extension ValkeyServer {
  /// The commands that begin a connection. A server that asks for a password would not read a long
  /// command without one, and just close the connection: the short one is told why.
  fileprivate var greeting: [[ByteBuffer]] {
    var commands = [["PING"]]
    if let password { commands = [["AUTH"] + (username.map { [$0] } ?? []) + [password]] }
    if database != 0 { commands.append(["SELECT", "\(database)"]) }
    return commands.map { $0.map { ByteBuffer(string: $0) } }
  }
}

/// The calls that a connection has not answered yet. Only its event loop touches it.
private final class Exchange: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private struct Call {
    let count: Int
    var replies: [RESP] = []
    let answer: EventLoopPromise<[RESP]>
    let alarm: Scheduled<Void>
  }

  private let loop: any EventLoop
  private let willEnd: @Sendable () -> Void
  private var parser = RESPParser()
  private var calls = CircularBuffer<Call>()
  private var context: ChannelHandlerContext?
  private var failure = ValkeyError.disconnected("it was closed")

  init(_ loop: any EventLoop, willEnd: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.willEnd = willEnd
  }

  func send(_ commands: [[ByteBuffer]], within limit: Duration) -> EventLoopFuture<[RESP]> {
    guard let context else { return loop.makeFailedFuture(failure) }
    let answer = loop.makePromise(of: [RESP].self)
    let alarm = loop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
      self.end(.timedOut(limit))
    }
    calls.append(Call(count: commands.count, answer: answer, alarm: alarm))
    var bytes = context.channel.allocator.buffer(capacity: 1024)
    for command in commands { RESP.write(command, into: &bytes) }
    context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    return answer.futureResult
  }

  /// Closes the connection. All calls fail.
  func end(_ error: ValkeyError) {
    guard let context = context.take() else { return }
    failure = error
    willEnd()
    let failed = calls
    calls.removeAll()
    for call in failed {
      call.alarm.cancel()
      call.answer.fail(error)
    }
    context.close(promise: nil)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    parser.feed(unwrapInboundIn(data))
    do {
      while let reply = try parser.next() {
        guard !calls.isEmpty else { return end(.unexpectedReply("a reply to no command")) }
        calls[calls.startIndex].replies.append(reply)
        guard let call = calls.first, call.replies.count == call.count else { continue }
        calls.removeFirst()
        call.alarm.cancel()
        let isReplica = call.replies.contains {
          if case .error(let message) = $0 { ValkeyError.isOfReplica(message) } else { false }
        }
        // Its address may lead to another server by now. Before anybody learns of it, and calls again.
        if isReplica { end(.disconnected("the server is a replica")) }
        call.answer.succeed(call.replies)
      }
    } catch {
      end(.unexpectedReply(error.message))
    }
  }

  func channelInactive(context: ChannelHandlerContext) { end(.disconnected("it was closed")) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    end(.disconnected(String(describing: error)))
  }
}
