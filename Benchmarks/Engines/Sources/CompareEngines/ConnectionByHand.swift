import Measuring
import NIOCore
import NIOPosix

/// A connection to a server of Valkey or Redis over NIO, as that of `ValkeyStore`: commands out,
/// the strings of their replies in.
final class ConnectionByHand: Sendable {
  private let loop: any EventLoop
  private let handler: NIOLoopBound<RepliesByHand>

  init(port: Int) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    self.loop = loop
    handler = try await ClientBootstrap(group: loop)
      .channelOption(.socketOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(RepliesByHand(loop))
        }
      }
      .connect(host: "127.0.0.1", port: port)
      .flatMapThrowing {
        NIOLoopBound(
          try $0.pipeline.syncOperations.handler(type: RepliesByHand.self), eventLoop: loop)
      }
      .get()
  }

  deinit {
    let (loop, handler) = (loop, handler)
    loop.execute { handler.value.close() }
  }

  /// Sends commands at once, and waits for all replies.
  func call(_ commands: [[String]]) async throws -> [ByteBuffer] {
    var bytes = ByteBuffer()
    for command in commands {
      bytes.writeString("*\(command.count)\r\n")
      for word in command { bytes.writeString("$\(word.utf8.count)\r\n\(word)\r\n") }
    }
    let handler = handler
    return try await loop.flatSubmit { [bytes] in
      handler.value.send(bytes, replies: commands.count)
    }.get()
  }
}

/// The replies to one call at a time. Only its event loop touches it.
private final class RepliesByHand: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let loop: any EventLoop
  private var context: ChannelHandlerContext?
  private var answer: EventLoopPromise<[ByteBuffer]>?
  /// How many values are missing, and the strings so far.
  private var missing = 0
  private var strings: [ByteBuffer] = []
  private var input = ByteBuffer()

  init(_ loop: any EventLoop) { self.loop = loop }

  func send(_ bytes: ByteBuffer, replies: Int) -> EventLoopFuture<[ByteBuffer]> {
    let answer = loop.makePromise(of: [ByteBuffer].self)
    guard let context, self.answer == nil else {
      answer.fail(Flaw("the connection is closed, or in use"))
      return answer.futureResult
    }
    (self.answer, missing) = (answer, replies)
    context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
    return answer.futureResult
  }

  func close() { context?.close(promise: nil) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    input.discardReadBytes()
    input.writeBuffer(&bytes)
    do {
      while missing > 0, try readValue() {}
      if missing == 0 { answer.take()?.succeed(strings.take()) }
    } catch {
      answer.take()?.fail(error)
      close()
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    answer.take()?.fail(Flaw("the server has closed the connection"))
  }

  /// Reads a string, a number, or the head of an array. False if bytes are missing.
  private func readValue() throws -> Bool {
    let start = input.readerIndex
    guard let end = input.readableBytesView.firstIndex(of: 13), end + 1 < input.writerIndex,
      let kind = input.readInteger(as: UInt8.self),
      let line = input.readString(length: end - start - 1)
    else { return false }
    input.moveReaderIndex(forwardBy: 2)
    missing -= 1
    switch kind {
    case UInt8(ascii: "*"): missing += Int(line) ?? 0
    case UInt8(ascii: "-"): throw Flaw("the server says \(line)")
    case UInt8(ascii: "$"):
      guard let length = Int(line), input.readableBytes >= length + 2 else {
        missing += 1
        input.moveReaderIndex(to: start)
        return false
      }
      if let string = input.readSlice(length: length) { strings.append(string) }
      input.moveReaderIndex(forwardBy: 2)
    default: break
    }
    return true
  }
}

extension Array {
  fileprivate mutating func take() -> Array {
    defer { self = [] }
    return self
  }
}
