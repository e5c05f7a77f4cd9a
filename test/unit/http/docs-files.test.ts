/** The pages of the documentation for language models. */
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { buildDocs, PAGES, pageText } from '../../../scripts/build-docs.ts';
import { createApp } from '../../../src/http/app.ts';
import { fakeRuntime } from './fake-runtime.ts';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));
/** Pages for contributors. */
const NOT_SERVED = ['adding', 'architecture', 'oauth-conformance'];

const built = mkdtempSync(join(tmpdir(), 'docs-'));
buildDocs(DOCS, built);
const assets = {
  fetch: async (request: Request) => {
    const name = new URL(request.url).pathname.slice(1);
    try {
      return new Response(readFileSync(join(built, name)), { headers: { etag: `"${name}"` } });
    } catch {
      return new Response(null, { status: 404 });
    }
  },
};
const get = async (path: string, headers: Record<string, string> = {}, product = 'svc') =>
  createApp(product, '1').fetch(new Request(`http://127.0.0.1:8787${path}`, { headers }), { runtime: fakeRuntime({ PRODUCT_NAME: product }), assets });

describe('pages for language models', () => {
  it('are all pages of docs but those for contributors', () => {
    const pages = readdirSync(DOCS)
      .filter((name) => name.endsWith('.md'))
      .map((name) => name.slice(0, -3));
    expect([...PAGES.map(([page]) => page), ...NOT_SERVED].sort()).toEqual(pages.sort());
  });

  it('are listed by llms.txt, and each link leads to a page', async () => {
    const list = await (await get('/llms.txt', {}, 'kg')).text();
    expect(list).toMatch(/^# svc\n\n> /);
    const links = [...list.matchAll(/\]\((\/[^)]+)\)/g)].map(([, path]) => path ?? '');
    expect(links).toHaveLength(PAGES.length + 1);
    expect(links[0]).toBe('/kg/docs/language.md');
    for (const path of links) {
      const answer = await get(path, {}, 'kg');
      expect(answer.status, path).toBe(200);
      expect(answer.headers.get('content-type')).toBe(path.endsWith('.md') ? 'text/markdown; charset=utf-8' : 'text/plain; charset=utf-8');
      // a link of the page leads to another page, to a heading or elsewhere on the web
      for (const [, target = ''] of (await answer.text()).matchAll(/\]\(([^)\s]+)\)/g))
        if (!/^(https?:|mailto:|#)/.test(target))
          expect(
            PAGES.map(([page]) => `${page}.md`),
            `${path}: ${target}`,
          ).toContain(target.replace(/#.*/, ''));
    }
  });

  it('are complete in llms-full.txt', async () => {
    const full = await (await get('/llms-full.txt')).text();
    for (const [page] of PAGES) expect(full).toContain(/^# .*$/m.exec(readFileSync(join(DOCS, `${page}.md`), 'utf8'))?.[0]);
  });

  it('are answered with 304 if they have not changed, and with 404 if there are none', async () => {
    expect((await get('/svc/docs/rest.md', { 'if-none-match': '"docs/rest.md"' })).status).toBe(304);
    for (const path of ['/svc/docs/none.md', '/svc/docs/adding.md', '/svc/docs/..%2fllms.txt', '/svc/docs/rest', '/svc/docs/REST.md'])
      expect((await get(path)).status, path).toBe(404);
    expect((await createApp('svc', '1').fetch(new Request('http://127.0.0.1:8787/llms.txt'), { runtime: fakeRuntime() })).status).toBe(404);
  });

  it('have no links that lead nowhere', () => {
    expect(pageText('![An image](images/a.png) [design](design/README.md) [REST](rest.md#x) [web](https://a.example)', new Set(['rest.md']))).toBe(
      'An image design [REST](rest.md#x) [web](https://a.example)',
    );
  });
});
