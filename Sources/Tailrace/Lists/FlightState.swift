/// What becomes of one flight, as a value: its task, and the reader in its front seat.
///
/// The reader whose demand started the flight waits right here, without a message to the evaluator;
/// all others wait as its waiters. The task is known a moment after it has started: what is wanted
/// of it before is kept as orders. Every event is one mutating method that says what to do; nothing
/// is done here.
struct FlightState<Handle: Sendable, Reader: Sendable>: Sendable {
  private enum Crew: Sendable {
    /// The task is not known yet. It will be told these.
    case unknown(Orders)
    case known(Handle)
    /// The step is over.
    case landed(Wake)
  }

  private enum Seat: Sendable {
    case free
    case taken(Reader)
    /// The reader was cancelled, before it sat down or after; or it has been woken.
    case left
  }

  /// What is wanted of a flight's task.
  struct Orders: Sendable {
    var isUnwanted = false
    var priority: TaskPriority?
  }

  enum Parking: Sendable {
    /// The reader is kept, and its task told these orders.
    case seated(Orders)
    /// The reader goes on at once.
    case dismissed(Orders)
  }

  private var crew = Crew.unknown(Orders())
  private var seat = Seat.free

  /// The task is known. Returns what it is to be told.
  mutating func attach(_ handle: Handle) -> Orders {
    guard case .unknown(let orders) = crew else { return Orders() }
    crew = .known(handle)
    return orders
  }

  /// The reader that started the flight waits, and knows the task.
  mutating func park(_ reader: Reader, _ handle: Handle) -> Parking {
    let orders = attach(handle)
    if case .landed = crew { return .dismissed(orders) }
    guard case .free = seat else { return .dismissed(orders) }
    seat = .taken(reader)
    return .seated(orders)
  }

  /// The reader that started the flight was cancelled. Returns it, if it has sat down.
  mutating func leave() -> Reader? {
    defer { seat = .left }
    if case .taken(let reader) = seat { return reader }
    return nil
  }

  /// Nobody can read what the step would give. Returns the task to cancel, if it is known.
  mutating func cancel() -> Handle? {
    switch crew {
    case .landed: return nil
    case .known(let handle): return handle
    case .unknown(var orders):
      orders.isUnwanted = true
      crew = .unknown(orders)
      return nil
    }
  }

  /// Somebody of this priority waits. Returns the task to raise, if it is known.
  mutating func raise(to priority: TaskPriority) -> Handle? {
    switch crew {
    case .landed: return nil
    case .known(let handle): return handle
    case .unknown(var orders):
      orders.priority = max(orders.priority ?? priority, priority)
      crew = .unknown(orders)
      return nil
    }
  }

  /// The step is over. Returns the reader to wake, and the task to let go of.
  mutating func land(_ wake: Wake) -> (reader: Reader?, handle: Handle?) {
    if case .landed = crew { return (nil, nil) }
    let handle: Handle? = if case .known(let handle) = crew { handle } else { nil }
    crew = .landed(wake)
    return (leave(), handle)
  }

  /// What whoever waits for the step is told; `nil` before it is over.
  var landed: Wake? {
    if case .landed(let wake) = crew { wake } else { nil }
  }
}
