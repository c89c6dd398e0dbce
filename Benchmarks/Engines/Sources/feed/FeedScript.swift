/// The script of the page.
///
/// Everything it has read, and the position after it, are one value, which is stored at once: a
/// reload never finds one without the other.
enum FeedScript {
  static let text = #"""
    'use strict'

    // The state of reading. A tab keeps it in its session.
    const empty = {
      position: '-1', next: 0, check: 2166136261, elements: 0, gaps: 0, duplicates: 0, changed: 0,
      discarded: 0, mayBeginLater: true, reconnects: 0, reloads: 0, lists: 1, isComplete: false, latest: []
    }
    const stored = sessionStorage.getItem('feed')
    let feed = stored ? JSON.parse(stored) : structuredClone(empty)
    if (stored) feed.reloads += 1

    const save = () => sessionStorage.setItem('feed', JSON.stringify(feed))

    // --- Elements ---

    const utf8 = new TextEncoder()

    // FNV-1a, continued: equal to the server's only if all texts so far are equal.
    function hash(check, text) {
      for (const byte of utf8.encode(text)) check = Math.imul(check ^ byte, 16777619)
      return check >>> 0
    }

    function take(item) {
      if (item.n < feed.next) {
        feed.duplicates += 1
        return
      }
      const missing = item.n - feed.next
      if (missing === 0) {
        if (hash(feed.check, item.text) !== item.check) feed.changed += 1
      } else if (feed.mayBeginLater) feed.discarded += missing
      else feed.gaps += missing
      feed.mayBeginLater = false
      feed.next = item.n + 1
      feed.check = item.check
      feed.elements += 1
      feed.latest.unshift(item)
      feed.latest.length = Math.min(feed.latest.length, 12)
    }

    // --- The connection ---

    let source = null
    let timer = 0
    let pause = 0
    let opened = 0

    function connect() {
      disconnect()
      if (feed.isComplete) return show('complete')
      source = new EventSource(`stream?live=sse&offset=${encodeURIComponent(feed.position)}`)
      source.onopen = () => {
        if (opened > 0) feed.reconnects += 1
        opened += 1
        save()
        show('live')
        watch()
      }
      source.addEventListener('data', event => {
        for (const item of JSON.parse(event.data)) take(item)
        // The identifier is the position after these elements.
        feed.position = event.lastEventId
        save()
        show('live')
        watch()
      })
      source.addEventListener('control', event => {
        const control = JSON.parse(event.data)
        feed.position = control.streamNextOffset
        feed.isComplete = control.streamClosed === true
        save()
        pause = 0
        watch()
        if (!feed.isComplete) return show('live')
        disconnect()
        show('complete')
      })
      // The end of a response, or a failure. EventSource would connect again after some failures,
      // and to the old position: connect here instead.
      source.onerror = () => {
        const isRefused = source.readyState === EventSource.CLOSED
        disconnect()
        if (isRefused) inquire()
        else retry()
      }
      // A server that is gone without a word.
      watch()
    }

    function disconnect() {
      clearTimeout(timer)
      source?.close()
      source = null
    }

    // The server sends an event after half a minute without one: silence for longer is a lost connection.
    function watch() {
      clearTimeout(timer)
      timer = setTimeout(connect, 60_000)
    }

    function retry() {
      // The end of a response is no news. A failure is.
      if (pause > 0) show('reconnecting')
      timer = setTimeout(connect, pause * (0.5 + Math.random()))
      pause = Math.min(Math.max(pause * 2, 250), 4000)
    }

    // An offset is the list's identity, and a position in it.
    const identity = offset => offset.split('_')[0]

    // An EventSource does not tell the status. It gives up after 410 and 502: this does not.
    async function inquire() {
      let response
      try {
        response = await fetch(
          `stream?limit=1&offset=${encodeURIComponent(feed.position)}`, { cache: 'no-store' })
      } catch {
        return retry()
      }
      if (response.status === 410) {
        // What would come next was discarded, or there is another list: never put behind the old one.
        const beginning = response.headers.get('Stream-Next-Offset')
        // Of somebody else on the way.
        if (beginning === null) return retry()
        const isOther = identity(beginning) !== identity(feed.position)
        if (isOther) feed = { ...structuredClone(empty), lists: feed.lists + 1 }
        feed.position = beginning
        feed.mayBeginLater = true
        save()
        retry()
      } else if (response.status >= 400 && response.status < 500) {
        show('stopped', `The server refuses: ${response.status}`)
      } else retry()
    }

    // --- Display ---

    const element = id => document.getElementById(id)
    const names = {
      connecting: 'Connecting', live: 'Live', reconnecting: 'Reconnecting', complete: 'Complete'
    }
    let isDrawing = false

    function show(state, text = names[state]) {
      const status = element('status')
      status.dataset.state = state
      if (status.textContent !== text) status.textContent = text
      if (isDrawing) return
      isDrawing = true
      requestAnimationFrame(draw)
    }

    function draw() {
      isDrawing = false
      const counters = ['elements', 'gaps', 'duplicates', 'changed', 'reconnects', 'reloads']
      for (const name of counters) element(name).textContent = feed[name].toLocaleString('en')
      const faults = ['gaps', 'duplicates', 'changed']
      for (const name of faults) element(name).classList.toggle('found', feed[name] > 0)
      const isWhole = faults.every(name => feed[name] === 0)
      element('summary').textContent = summary(isWhole)
      element('summary').classList.toggle('found', !isWhole)
      element('position').textContent = feed.position
      element('empty').hidden = feed.elements > 0
      element('list').replaceChildren(...feed.latest.map(row))
    }

    function summary(isWhole) {
      if (feed.elements === 0) return 'Nothing was read yet.'
      const lost = feed.discarded > 0
        ? ` The server had discarded ${feed.discarded.toLocaleString('en')} before.` : ''
      const anew = feed.lists > 1 ? ' The list was begun anew, and read from its beginning.' : ''
      return (isWhole
        ? 'Every element was read once and in order, and has not changed.'
        : 'Elements are missing, were read twice, or have changed.') + lost + anew
    }

    function row(item) {
      const [number, text] = [document.createElement('b'), document.createElement('span')]
      number.textContent = item.n
      text.textContent = item.text
      const row = document.createElement('li')
      row.append(number, text)
      return row
    }

    element('restart').onclick = () => {
      feed = structuredClone(empty)
      opened = 0
      pause = 0
      save()
      show('connecting')
      connect()
    }
    addEventListener('online', () => {
      if (!feed.isComplete) connect()
    })
    save()
    show('connecting')
    connect()
    """#
}
