// Lists of blocks that are cut into elements, and arrays as lists.
extension LazyList {
  /// The elements into which blocks are cut, such as the lines of the chunks of a file.
  ///
  /// A demand for one element cuts up to 16 of a block. Cutting has no effect that a reader could
  /// see; it is cheaper so, and a few strings at a time are allocated faster than many
  /// ("Collections").
  ///
  /// - Laziness: stepwise, one block at a time.
  @_alwaysEmitIntoClient
  package init<Block: Sequence & Sendable>(cutting blocks: consuming LazyList<Block, Failure>)
  where Block.Element == Element {
    let atOnce = 16
    let source = Owned(Pulling(blocks, Block.Iterator?.none))
    let producer = Producer<Element>(
      { (demand, sink) in
        source.state.source.demand = demand.forOne
        var given = 0
        var patience = Patience()
        while true {
          // A local copy is not shared, so the compiler can keep it in registers.
          if var elements = source.state.state.take() {
            while let element = elements.next() {
              given += 1
              if !sink(element) || (demand.amount == .one && given == atOnce) {
                source.state.state = elements
                return .stopped
              }
            }
          }
          // The next block waits for the next demand.
          if given > 0 || !patience.lasts() { return .stopped }
          guard let block = source.state.source.next() else {
            return .nothing(source.state.source.takeAbsence())
          }
          source.state.state = block.makeIterator()
        }
      }, stage: "LazyList", upstream: source, givesAhead: true)
    self.init(Evaluator(producer))
  }

  /// The elements of an array, in place, then those of a list.
  ///
  /// - Parameter elements: one or more.
  @usableFromInline
  package init(sharing elements: [Element], then rest: LazyList) {
    let storage = Storage(elements[...])
    let link: Link<Element> = rest.segment.map { .more($0, rest.offset) } ?? .end
    self.init(segment: Segment(storage: storage, link: link), offset: 0)
  }
}
