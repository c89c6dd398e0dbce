import NIOCore
import Synchronization

/// The scripts that the server runs, each of them as one step: nobody sees half of one.
///
/// A list is a stream. Its entry `0-n` is the element at position `n - 1`, in these fields:
///
/// | field | holds |
/// |---|---|
/// | `e` | the element; missing in an end without elements |
/// | `c` | the commit's identifier |
/// | `a` | in a commit's last entry: after how many elements the last state was stored |
/// | `i` | in a commit's last entry: the list's identity, which is the identifier of its first commit |
/// | `s` | in a commit's last entry: the state, if the commit has one |
/// | `z` | in the last entry of a list that has ended |
///
/// Two keys stand beside it. `{key}:lease` is a hash with the last lease granted: its `token`, which
/// begins with the number of the lease, and alone may append; `until` when it keeps others from
/// acquiring it, by the server's clock, in milliseconds; and the `lease`, its length. As it is one key, it
/// is there as a whole or gone as a whole. `{key}:freed` is a stream whose only entry has the number
/// of the last lease released, so that others can wait for it. All are in one slot of a cluster,
/// unless the list's key contains braces.
///
/// The reply is an array that begins with a word. `lost`, `strange`, `damaged`, `trimmed` and
/// `superseded` are errors.
final class Script: Sendable {
  private let source: String
  /// The digest by which the server knows the script, once it has told it.
  private let digest = Mutex<ByteBuffer?>(nil)

  private init(_ source: String) { self.source = Self.prelude + source }

  /// Runs the script. It is sent whole only if the server does not know it.
  ///
  /// - Parameter wait: waits for replicas, behind the script on the same connection.
  /// - Returns: the script's reply, and the number of replicas.
  nonisolated(nonsending) func run(
    _ keys: [ByteBuffer], _ arguments: [ByteBuffer], then wait: ReplicaWait? = nil,
    on connection: Connection
  ) async throws -> (reply: RESP, replicas: RESP?) {
    let rest = [ByteBuffer(string: "\(keys.count)")] + keys + arguments
    let patience = wait?.limit ?? .zero
    let wait = wait.map { [$0.command] } ?? []
    if let digest = digest.withLock({ $0 }) {
      let run = [ByteBuffer(string: "EVALSHA"), digest] + rest
      let replies = try await connection.call([run] + wait, patience: patience)
      guard case .error(let message) = replies[0], message.hasPrefix("NOSCRIPT") else {
        return (replies[0], wait.isEmpty ? nil : replies[1])
      }
    }
    let text = ByteBuffer(string: source)
    let run = [
      [ByteBuffer(string: "SCRIPT"), ByteBuffer(string: "LOAD"), text],
      [ByteBuffer(string: "EVAL"), text] + rest,
    ]
    let replies = try await connection.call(run + wait, patience: patience)
    if case .bytes(let known) = replies[0] { digest.withLock { $0 = known } }
    return (replies[1], wait.isEmpty ? nil : replies[2])
  }
}

/// A wait for replicas that have all that a connection has written.
struct ReplicaWait {
  let count: Int
  let limit: Duration

  var command: [ByteBuffer] {
    // At least one millisecond: zero is forever.
    let limit = max(1, Int(limit / .milliseconds(1)))
    return ["WAIT", "\(count)", "\(limit)"].map { ByteBuffer(string: $0) }
  }
}

extension Script {
  /// Where the list stands: `last` is the number of the last entry, and `tail` its fields.
  private static let prelude = """
    local stream, held, freed = KEYS[1], KEYS[2], KEYS[3]
    local function id(number) return string.format('0-%.0f', number) end
    local function number(entry) return tonumber(string.match(entry[1], '^0%-(%d+)$')) end
    local function fields(entry)
      local table = {}
      for i = 1, #entry[2], 2 do table[entry[2][i]] = entry[2][i + 1] end
      return table
    end
    local function at(number)
      local entry = redis.call('XRANGE', stream, id(number), id(number))[1]
      return entry and fields(entry)
    end
    local function first()
      local entry = redis.call('XRANGE', stream, '-', '+', 'COUNT', 1)[1]
      return entry and number(entry)
    end
    local granted, till, length = unpack(redis.call('HMGET', held, 'token', 'until', 'lease'))
    local time = redis.call('TIME')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    -- For how long others may not acquire it. More than the length: the clock was set back since.
    local left = tonumber(till or 0) - now
    if left > tonumber(length or 0) then left = 0 end
    local function keep(token, length)
      redis.call(
        'HSET', held, 'token', token, 'until', string.format('%.0f', now + length), 'lease', length)
    end
    local last, count, tail = 0, 0, {}
    local entry = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
    if entry then
      last, tail = number(entry), fields(entry)
      if not (last and tail.c and tail.a) then return {'strange'} end
      count = tail.e and last or last - 1
    end
    -- Whether an entry that was seen is missing, or another one. Trimmed ones cannot be told.
    local function lost(seen, commit)
      seen = tonumber(seen)
      if seen == 0 then return false end
      local found = at(seen)
      if found then return found.c ~= commit end
      return last == 0 or first() < seen
    end

    """

  /// Arguments: position, how many elements, the mark's two values. Gives `ok`, the number of the
  /// last entry, whether the list has ended, whether it ends with this page, the commit of the last
  /// element given, and the elements: fewer than wanted after a megabyte.
  static let read = Script(
    """
    local position, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
    if lost(ARGV[3], ARGV[4]) then return {'lost', count} end
    local page, size, commit, isFull = {}, 0, '', false
    while not isFull do
      local from = position + #page + 1
      local part = redis.call(
        'XRANGE', stream, id(from), '+', 'COUNT', math.min(limit - #page, 64))
      isFull = #part == 0
      for i, entry in ipairs(part) do
        local element = fields(entry)
        if number(entry) ~= from + i - 1 then
          -- It belongs to its position: elements before it are given first.
          if #page > 0 then isFull = true break end
          if from < first() then return {'trimmed', first() - 1} end
          return {'damaged', from - 1}
        end
        if element.e then
          page[#page + 1], commit, size = element.e, element.c, size + #element.e
        end
        isFull = not element.e or #page == limit or size > 1048576
        if isFull then break end
      end
    end
    local isEnd = tail.z and position + #page >= count
    return {'ok', last, tail.z and 1 or 0, isEnd and 1 or 0, commit, page}
    """)

  /// Arguments: the store's name, the lease's length in milliseconds, the mark's two values. Gives
  /// `held`, the number of the lease and the milliseconds left; or `ok`, the token, the count,
  /// whether the list has ended, after how many elements the state was stored, the state, the
  /// number of the last entry, and its commit.
  static let acquire = Script(
    """
    if lost(ARGV[3], ARGV[4]) then return {'lost', count} end
    local isOwn = granted and string.match(granted, ':(.*)$') == ARGV[1]
    if granted and left > 0 and not isOwn then
      return {'held', string.match(granted, '^%d+'), string.format('%.0f', left)}
    end
    local state, after = tail.s, tonumber(tail.a or 0)
    if not state and after > 0 then
      state = (at(after) or {}).s
      if not state then return {'damaged', after - 1} end
    end
    local token = granted
    if not (isOwn and left > 0) then
      -- It counts on from the last one released, if the lease is gone.
      local former = redis.call('XREVRANGE', freed, '+', '-', 'COUNT', 1)[1]
      local leases = math.max(
        tonumber(granted and string.match(granted, '^%d+') or 0), former and number(former) or 0)
      token = string.format('%.0f', leases + 1) .. ':' .. ARGV[1]
    end
    keep(token, ARGV[2])
    return {'ok', token, count, tail.z and 1 or 0, after, state or false, last, tail.c or ''}
    """)

  /// Arguments: the token, the lease's length, the position, the mark's two values, the commit's
  /// identifier, 1 if it is the end, 1 if there is a state, the state, and the elements. Gives `ok`
  /// and the number of the commit's last entry.
  static let append = Script(
    """
    local token, position, commit = ARGV[1], tonumber(ARGV[3]), ARGV[6]
    local isEnd, hasState, size = ARGV[7] == '1', ARGV[8] == '1', #ARGV - 9
    -- The reply to it was lost: it must not be stored twice.
    local newest = position + math.max(size, 1)
    local own = at(newest)
    if own and own.c == commit then
      -- Written again, so that a wait for replicas that follows has something to wait for.
      redis.call('HSET', held, 'until', till or '0')
      return {'ok', newest}
    end
    if lost(ARGV[4], ARGV[5]) then return {'lost', count} end
    if granted ~= token or count ~= position or tail.z then return {'superseded'} end
    local after = hasState and position + size or tonumber(tail.a or 0)
    for i = 1, math.max(size, 1) do
      local entry = {'c', commit}
      if i <= size then entry = {'e', ARGV[9 + i], 'c', commit} end
      if i >= size then
        entry[#entry + 1], entry[#entry + 2] = 'a', string.format('%.0f', after)
        entry[#entry + 1], entry[#entry + 2] = 'i', tail.i or commit
        if hasState then entry[#entry + 1], entry[#entry + 2] = 's', ARGV[9] end
        if isEnd then entry[#entry + 1], entry[#entry + 2] = 'z', '1' end
      end
      redis.call('XADD', stream, id(position + i), unpack(entry))
    end
    keep(token, ARGV[2])
    return {'ok', newest}
    """)

  /// Arguments: the mark's two values. Gives `ok`, the identity, the first position, the count, and
  /// whether the list has ended.
  static let extent = Script(
    """
    if lost(ARGV[1], ARGV[2]) then return {'lost', count} end
    local oldest = first()
    return {'ok', tail.i or '', oldest and oldest - 1 or 0, count, tail.z and 1 or 0}
    """)

  /// Arguments: the token, the lease's length. Gives `ok`, or `superseded` if others acquired it, or the lease is
  /// gone.
  static let renew = Script(
    """
    if granted ~= ARGV[1] then return {'superseded'} end
    keep(granted, ARGV[2])
    return {'ok'}
    """)

  /// Arguments: the store's name. Frees the lease, if this store holds it, and tells the others.
  ///
  /// The token is nobody's then: a renewal or an append that is still on its way does not bring the lease back.
  static let release = Script(
    """
    if granted and left > 0 and string.match(granted, ':(.*)$') == ARGV[1] then
      local lease = string.match(granted, '^%d+')
      redis.call('HSET', held, 'until', '0', 'token', lease .. ':')
      redis.pcall('XADD', freed, 'MAXLEN', 1, '0-' .. lease, 'by', ARGV[1])
    end
    return {'ok'}
    """)

  /// Arguments: the position, the mark's two values. Gives `ok` and the first position kept.
  ///
  /// The element before is kept, too: a reader that has come this far can tell by it whether this
  /// is still its list.
  static let trim = Script(
    """
    if lost(ARGV[2], ARGV[3]) then return {'lost', count} end
    local oldest = first()
    if not oldest then return {'ok', 0} end
    local kept = math.min(tonumber(ARGV[1]), tonumber(tail.a))
    if kept > oldest then
      redis.call('XTRIM', stream, 'MINID', '=', id(kept))
      oldest = kept
    end
    return {'ok', oldest - 1}
    """)
}
