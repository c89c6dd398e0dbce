import Tailrace
import TailraceTesting

extension Row {
  /// Lists that are stored as they are computed, and lists of what somebody else has.
  static let stored: [Row] = [
    Row("stored", 1, 2, [1, 2, 3, 4, 5, 6]) { list, calls in
      Row.Source(storedIn: MemoryStore<Int, Row.Source>(), state: list) { rest async throws in
        guard let (head, tail) = try await rest.uncons() else { return nil }
        rest = tail
        return try await calls.asyncThrowing(head, head)
      }
    },
    Row("stored, filtered", 2, 4, [2, 4, 6]) { list, calls in
      Row.Source(
        storedIn: MemoryStore<Int, Row.Source>(),
        state: list.filter { calls.plain($0, $0 % 2 == 0) }
      ) { rest async throws in
        guard let (head, tail) = try await rest.uncons() else { return nil }
        rest = tail
        return head
      }
    },
    Row("stored, rebuilding", 1, 2, [1, 2, 3, 4, 5, 6]) { list, calls in
      Row.Source(
        storedIn: MemoryStore<Int, Int>(), state: 0, rebuilding: { count, _ in count += 1 }
      ) { count async throws in
        guard let element = try await list.element(at: count) else { return nil }
        return try await calls.asyncThrowing(element, element)
      }
    },
    Row("stored, following", 1, 2, [1, 2, 3, 4, 5, 6]) { list, calls in
      Row.Source(
        storedIn: MemoryStore<Int, Row.Source>(), state: list, atTail: .computeOrFollow
      ) { rest async throws in
        guard let (head, tail) = try await rest.uncons() else { return nil }
        rest = tail
        return await calls.async(head, head)
      }
    },
    Row("reading", 1, 2, [1, 2, 3, 4, 5, 6]) { list, _ in Row.Source(reading: list.source) },
    Row("reading from a position", 3, 4, [3, 4, 5, 6]) { list, _ in
      Row.Source(reading: list.source, from: 2)
    },
  ]
}
