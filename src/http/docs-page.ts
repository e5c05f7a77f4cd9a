/** The docs page, which shows the OpenAPI documents and can send requests. The Worker serves page, script and style; no CDN is used. */
import type { AppContext } from './context.ts';
import { SCRIPT } from './docs-page-script.ts';
import { pageLinks } from './pages.ts';

/** Allows only the page's own script and style, and requests to this service. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

// the colours and sizes of the console (console/src/style/tokens.css)
const STYLE = `:root { color-scheme: light dark; --bg: #fff; --text: #1a1d23; --go: #1f5fbf; --line: #d5d9e0; --soft: #f6f7f9; --good: #1a7f37; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --bg: #15181d; --text: #e8eaee; --go: #8ab4f8; --line: #363d48; --soft: #1c2027; --good: #5fd07f; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--bg); color: var(--text); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--go); }
:focus-visible { outline: 2px solid var(--go); outline-offset: 2px; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.125rem; margin: 1.5rem 0 .5rem; }
h3 { margin: 1rem 0 .25rem; font-size: 1rem; }
form, .choice { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; }
form input { flex: 1 1 20rem; }
input, select, textarea, button { font: inherit; color: inherit; background: var(--bg); padding: .3rem .5rem; border: 1px solid var(--line); border-radius: 6px; }
textarea, pre, code { font-family: ui-monospace, monospace; font-size: .875rem; }
textarea { width: 100%; }
button { cursor: pointer; }
button:not(.quiet) { background: var(--go); border-color: var(--go); color: var(--bg); font-weight: 600; }
button[aria-disabled=true] { opacity: .6; cursor: progress; }
.operation { border: 1px solid var(--line); border-radius: 6px; margin: .3rem 0; padding: .3rem .6rem; }
.operation > summary { cursor: pointer; overflow-wrap: anywhere; }
.operation b { display: inline-block; min-width: 3.5rem; }
.field { display: grid; grid-template-columns: minmax(8rem, 16rem) 1fr; gap: .1rem .5rem; margin: .3rem 0; align-items: center; }
.field small { grid-column: 2; opacity: .75; }
.field textarea { grid-column: 1 / -1; }
.actions { display: flex; gap: .5rem; margin: .5rem 0; }
pre { background: var(--soft); padding: .5rem; overflow: auto; max-height: 32rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.good { color: var(--good); }
.bad { color: var(--bad); }
@media (max-width: 40rem) { .field { grid-template-columns: 1fr; } .field small { grid-column: 1; } }
`;

// the product name matches [a-z][a-z0-9_]*, so it needs no escaping
const page = (product: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${product} API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/${product}/api/docs/style.css">
<script src="/${product}/api/docs/script.js" defer></script>
</head>
<body>
<main id="app" data-api="/${product}/api">
<h1>${product} API</h1>
<form id="credential">
<label for="token">API token</label>
<input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="tk_...">
<button>Load</button>
</form>
<div class="choice">
<label for="document">Document</label>
<select id="document"><option value="">The service</option></select>
<label for="search">Find</label>
<input id="search" type="search" autocomplete="off">
</div>
<p id="message" role="status">Enter an API token to load the documents. The token is kept in this page only.</p>
${pageLinks(product)}
<div id="operations"></div>
<noscript>This page needs JavaScript. The document is at /${product}/api/openapi.json.</noscript>
</main>
</body>
</html>
`;

const served = (c: AppContext, type: string, body: string): Response =>
  new Response(body, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'public, max-age=300',
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-request-id': c.get('requestId'),
    },
  });

export const docsPage = (c: AppContext, product: string): Response => served(c, 'text/html', page(product));
export const docsScript = (c: AppContext): Response => served(c, 'text/javascript', SCRIPT);
export const docsStyle = (c: AppContext): Response => served(c, 'text/css', STYLE);
