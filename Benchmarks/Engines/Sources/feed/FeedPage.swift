import HTTPTypes
import Hummingbird

/// The page that shows the list: HTML and CSS here, the script in `FeedScript`.
enum FeedPage {
  static var response: Response {
    var headers: HTTPFields = [
      .contentType: "text/html; charset=utf-8", .cacheControl: "no-cache",
      // The page loads nothing, and connects to its own server only.
      .contentSecurityPolicy: """
      default-src 'none'; connect-src 'self'; img-src data:; script-src 'unsafe-inline'; \
      style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
      """,
    ]
    headers[.xContentTypeOptions] = "nosniff"
    return Response(
      status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
  }

  private static let html = """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Feed</title>
    <link rel="icon" href="data:,">
    <style>\(css)</style>
    </head>
    <body>
    <main>
    <header>
      <h1>Feed</h1>
      <p id="status" role="status" data-state="connecting">Connecting</p>
    </header>
    <p id="summary"></p>
    <dl>
      <div><dt>Elements</dt><dd id="elements">0</dd></div>
      <div><dt>Gaps</dt><dd id="gaps" class="fault">0</dd></div>
      <div><dt>Duplicates</dt><dd id="duplicates" class="fault">0</dd></div>
      <div><dt>Changed</dt><dd id="changed" class="fault">0</dd></div>
      <div><dt>Reconnects</dt><dd id="reconnects">0</dd></div>
      <div><dt>Reloads</dt><dd id="reloads">0</dd></div>
    </dl>
    <h2 id="latest">Latest elements</h2>
    <ol id="list" aria-labelledby="latest" reversed></ol>
    <p id="empty">No elements yet.</p>
    <footer>
      <p>
        The page keeps its position, <code id="position">-1</code>, and a hash of everything it has
        read. Reload it, or stop the server and start it again: the page reads on from there.
      </p>
      <button id="restart" type="button">Read from the beginning</button>
    </footer>
    <noscript><p>The page needs JavaScript.</p></noscript>
    </main>
    <script>\(FeedScript.text)</script>
    </body>
    </html>

    """

  private static let css = """
    :root {
      color-scheme: light dark;
      --back: #fcfcfb; --text: #1b1f23; --faint: #5a636d; --line: #d9dde1; --tile: #f1f3f4;
      --good: #14713a; --wait: #8a5300; --bad: #b3261e; --accent: #1d5fb8;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --back: #15181b; --text: #e6e8ea; --faint: #9aa4ae; --line: #333a41; --tile: #1f2428;
        --good: #5bd08a; --wait: #f0b04a; --bad: #ff8a80; --accent: #7db4ff;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0; padding: 2.5rem 1.25rem; background: var(--back); color: var(--text);
      font: 1rem/1.5 system-ui, sans-serif;
    }
    main { max-width: 46rem; margin: 0 auto; }
    header { display: flex; align-items: center; justify-content: space-between; gap: 1rem; }
    h1 { margin: 0; font-size: 1.75rem; line-height: 1.2; }
    h2 { margin: 2rem 0 .5rem; font-size: 1.0625rem; }
    #status {
      display: flex; align-items: center; gap: .5rem; margin: 0; padding: .25rem .75rem;
      border: 1px solid currentColor; border-radius: 1rem; font-weight: 600; color: var(--wait);
    }
    #status::before {
      content: ""; width: .625rem; height: .625rem; border-radius: 50%; background: currentColor;
    }
    #status[data-state=live] { color: var(--good); }
    #status[data-state=complete] { color: var(--accent); }
    #status[data-state=complete]::before { border-radius: 0; }
    #status[data-state=stopped] { color: var(--bad); }
    #summary { margin: .75rem 0 1.25rem; color: var(--faint); }
    #summary.found { color: var(--bad); font-weight: 600; }
    dl {
      display: grid; grid-template-columns: repeat(auto-fit, minmax(6.5rem, 1fr)); gap: .5rem;
      margin: 0;
    }
    dl div { padding: .5rem .75rem; background: var(--tile); border-radius: .5rem; }
    dt { font-size: .875rem; color: var(--faint); }
    dd { margin: 0; font-size: 1.375rem; font-weight: 600; font-variant-numeric: tabular-nums; }
    .fault { color: var(--good); }
    .fault.found { color: var(--bad); }
    ol { margin: 0; padding: 0; list-style: none; border-top: 1px solid var(--line); }
    li {
      display: flex; gap: 1rem; padding: .375rem 0; border-bottom: 1px solid var(--line);
      font-variant-numeric: tabular-nums;
    }
    li b { min-width: 3ch; text-align: right; }
    li span { min-width: 0; overflow-wrap: anywhere; }
    #empty { color: var(--faint); }
    [hidden] { display: none !important; }
    footer { margin-top: 2rem; font-size: .9375rem; color: var(--faint); }
    code { font-size: .9375em; color: var(--text); overflow-wrap: anywhere; }
    button {
      padding: .375rem .875rem; border: 1px solid var(--line); border-radius: .5rem;
      background: var(--tile); color: var(--text); font: inherit; cursor: pointer;
    }
    button:hover { border-color: var(--faint); }
    :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
    """
}
