/** The service's own HTML pages (login, consent). They have no script, cannot be framed and are not cached. */
import { asSvcError, failure } from './answers.ts';
import type { AppContext } from './context.ts';

/**
 * The CSP of a page. `form-action` also applies to redirects after a form, so a page whose form redirects to a client must
 * include the client's address.
 */
const policy = (formAction: string): string =>
  ["default-src 'none'", "style-src 'self'", 'img-src data:', `form-action ${formAction}`, "base-uri 'none'", "frame-ancestors 'none'"].join('; ');

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a text for an HTML element or a quoted attribute. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);

/** Links between the pages of the service. */
export const pageLinks = (product: string): string => `<nav aria-label="Pages of ${product}">
<a href="/${product}/console/">Console</a> · <a href="/${product}/oauth/grants">Programs with access</a> · <a href="/${product}/api/docs">API documentation</a> · <a href="/${product}/login">Login</a>
</nav>`;

/** Builds a complete page. @param title text @param main HTML */
export const pageOf = (product: string, title: string, main: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/${product}/login/style.css">
</head>
<body>
<main>
${main}
</main>
${pageLinks(product)}
</body>
</html>
`;

/** Answers with a page, including the cookies that were set on `c`. */
export function page(c: AppContext, status: number, html: string, { formAction = "'self'" } = {}): Response {
  for (const [name, value] of Object.entries({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy(formAction),
    'x-frame-options': 'DENY',
    // not no-referrer, with which browsers send `Origin: null` with forms
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-request-id': c.get('requestId'),
  })) {
    c.header(name, value);
  }
  return c.body(html, status as 200);
}

/** Answers with an error: a page if the client accepts HTML, otherwise the error body. */
export function pageFailure(c: AppContext, thrown: unknown): Response {
  const answer = failure(c, thrown);
  if (!/\btext\/html\b/.test(c.req.header('accept') ?? '')) return answer;
  const { message, hint } = asSvcError(thrown);
  for (const [name, value] of answer.headers) if (name !== 'content-type') c.header(name, value);
  const main = `<h1>That did not work</h1>\n<p role="alert">${escaped(message)}.</p>${hint === undefined ? '' : `\n<p>${escaped(hint)}.</p>`}`;
  return page(c, answer.status, pageOf(c.env.runtime.config.product, message, main));
}

// the colours, sizes and spaces of the console (console/src/style/tokens.css)
const STYLE = `:root { color-scheme: light dark; --bg: #fff; --surface: #f6f7f9; --edge: #d5d9e0; --line: #8a919e; --text: #1a1d23; --bad: #b3261e; --go: #1f5fbf; --on-go: #fff; }
@media (prefers-color-scheme: dark) { :root { --bg: #15181d; --surface: #1c2027; --edge: #363d48; --line: #7f8897; --text: #e8eaee; --bad: #ff8a80; --go: #8ab4f8; --on-go: #0b1f3f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
main { max-width: 26rem; margin: 6vh auto 3rem; padding: 1.5rem 1rem; background: var(--surface); border: 1px solid var(--edge); border-radius: 8px; }
nav { max-width: 28rem; padding: 0 1rem; margin: -2rem auto 3rem; text-align: center; }
@media (max-width: 28rem) { nav { margin-top: 0; } main { margin: 0; border: 0; background: none; } }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
a { color: var(--go); }
ul { padding-left: 1.25rem; }
li { margin: 0 0 .5rem; }
label { display: block; margin: 0 0 .25rem; font-weight: 600; }
li label { font-weight: 400; }
input[type=checkbox] { width: auto; min-height: 0; margin: 0 .25rem 0 0; accent-color: var(--go); }
input { font: inherit; color: inherit; background: var(--bg); width: 100%; min-height: 2.75rem; padding: .5rem .75rem; margin: 0 0 1rem; border: 1px solid var(--line); border-radius: 6px; }
button { font: inherit; font-weight: 600; width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 0; border-radius: 6px; background: var(--go); color: var(--on-go); cursor: pointer; }
button.quiet { border: 1px solid var(--line); background: none; color: inherit; font-weight: 400; margin-top: .75rem; }
:focus-visible { outline: 2px solid var(--go); outline-offset: 2px; }
[role=alert] { color: var(--bad); margin: 0 0 1rem; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
`;

/** Answers with the stylesheet of the pages. */
export const pageStyle = (c: AppContext): Response =>
  new Response(STYLE, {
    headers: {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
      'x-request-id': c.get('requestId'),
    },
  });
