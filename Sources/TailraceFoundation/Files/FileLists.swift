import FileReading
public import Foundation
import TailraceLists

extension URL {
  /// The lines of this file as a list, without line ends, read on demand.
  ///
  /// <!-- not run: there may be no such file -->
  /// ```swift
  /// let log = URL(filePath: "/var/log/system.log").lazyLines
  /// let firstError = try await log.first { $0.contains("error") }   // reads up to it
  /// ```
  ///
  /// A line ends with `\n` or `\r\n`; the last one may have no end. Empty lines count. A byte order
  /// mark is no part of the first line. The text is UTF-8: a line that is not ends the list with
  /// `EILSEQ`. For text with wrong bytes use `url.lazyChunks().lines`, which repairs them.
  ///
  /// Lines that have been read stay in memory while the head of the list is retained. An ordinary
  /// parameter retains it: a function that reads a large file takes the list as `consuming
  /// LazyList<String, FileError>`.
  ///
  /// - Laziness: stepwise, 256 KiB of the file at a time. The first request opens it. It is closed
  ///   at its end, at a failure, and when no reader can read on.
  /// - Isolation: no thread that runs tasks waits for the file, not even for a silent pipe.
  /// - Failure: ``FileError``, after the complete lines.
  /// - Cancellation: a reader that is cancelled before it has read everything throws
  ///   ``FileError/cancelled``.
  public var lazyLines: LazyList<String, FileError> { origin.lines(blockSize: 262_144) }

  /// Returns the bytes of this file as a list of chunks, read on demand.
  ///
  /// ```swift
  /// let size = try await url.lazyChunks().reduce(0) { $0 + $1.count }   // in constant memory
  /// ```
  ///
  /// Chunks that have been read stay in memory while a variable, or a parameter that is not
  /// `consuming`, retains the head of the list.
  ///
  /// - Laziness: stepwise, one chunk at a time. The first request opens the file. It is closed at
  ///   its end, at a failure, and when no reader can read on.
  /// - Isolation: no thread that runs tasks waits for the file, not even for a silent pipe.
  /// - Failure: ``FileError``, after the bytes that could be read.
  /// - Cancellation: a reader that is cancelled before it has read everything throws
  ///   ``FileError/cancelled``.
  /// - Parameters:
  ///   - count: 1 or more; anything else is a programmer's error and traps. A chunk may have fewer
  ///     bytes at the end, if a pipe has no more at the moment, or if the system reads no more at
  ///     once. Memory is allocated for the available bytes.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public func lazyChunks(
    upTo count: Int = 65_536, file: StaticString = #fileID, line: UInt = #line
  ) -> LazyList<Data, FileError> {
    origin.chunks(upTo: count, file, line)
  }

  private var origin: FileOrigin {
    guard isFileURL else {
      return FileOrigin(
        name: absoluteString, place: .unreadable(SystemError(code: EINVAL)))
    }
    return withUnsafeFileSystemRepresentation { path in
      FileOrigin(
        name: self.path(percentEncoded: false),
        place: path.map { .path(Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))) }
          ?? .unreadable(SystemError(code: EINVAL)))
    }
  }
}

extension FileHandle {
  /// The remaining lines of this handle as a list, without line ends, read on demand.
  ///
  /// <!-- not run: it waits for the standard input -->
  /// ```swift
  /// for try await line in FileHandle.standardInput.lazyLines { print(line.count) }
  /// ```
  ///
  /// The list has its own descriptor, so the handle may be closed. They share the position in the
  /// file: reading from the handle takes bytes away from the list.
  ///
  /// A line ends with `\n` or `\r\n`; the last one may have no end. A byte order mark is no part of
  /// the first line. The text is UTF-8: a line that is not ends the list with `EILSEQ`.
  ///
  /// - Laziness: stepwise, 64 KiB at a time.
  /// - Isolation: no thread that runs tasks waits for the file, not even for a silent pipe.
  /// - Failure: ``FileError``, after the complete lines.
  /// - Cancellation: a reader that is cancelled before it has read everything throws
  ///   ``FileError/cancelled``.
  public var lazyLines: LazyList<String, FileError> { origin.lines(blockSize: 65_536) }

  /// Returns the remaining bytes of this handle as a list of chunks, read on demand.
  ///
  /// The list has its own descriptor, like ``lazyLines``.
  ///
  /// - Laziness: stepwise, one chunk at a time.
  /// - Failure: ``FileError``, after the bytes that could be read.
  /// - Cancellation: a reader that is cancelled before it has read everything throws
  ///   ``FileError/cancelled``.
  /// - Parameters:
  ///   - count: 1 or more; anything else is a programmer's error and traps. A chunk may have fewer
  ///     bytes at the end, if a pipe has no more at the moment, or if the system reads no more at
  ///     once. Memory is allocated for the available bytes.
  ///   - file: the caller's file, for the trap message.
  ///   - line: the caller's line.
  public func lazyChunks(
    upTo count: Int = 65_536, file: StaticString = #fileID, line: UInt = #line
  ) -> LazyList<Data, FileError> {
    origin.chunks(upTo: count, file, line)
  }

  private var origin: FileOrigin {
    let name = "file descriptor \(fileDescriptor)"
    do throws(SystemError) {
      return FileOrigin(name: name, place: .open(try .duplicating(fileDescriptor)))
    } catch {
      return FileOrigin(name: name, place: .unreadable(error))
    }
  }
}

extension FileOrigin {
  fileprivate func lines(blockSize: Int) -> LazyList<String, FileError> {
    LazyList(cutting: LineBlocks(chunks: FileChunks(origin: self, size: blockSize)).memoized())
  }

  fileprivate func chunks(
    upTo count: Int, _ file: StaticString, _ line: UInt
  ) -> LazyList<Data, FileError> {
    guard count > 0 else {
      fatalError(
        "lazyChunks(upTo:) takes a count of 1 or more, not \(count)", file: file, line: line)
    }
    return FileChunks(origin: self, size: count).memoized().map { Data($0) }
  }
}
