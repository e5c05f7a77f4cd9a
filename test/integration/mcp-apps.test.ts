/** MCP Apps in a real browser: a host that is not ours shows the pages of real results of the built Worker. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Frame, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Site, serve } from './support/chromium.ts';
import { type ConsoleInBrowser, serious, startConsole } from './support/console-browser.ts';
import { HOSTILE } from './support/console-shop.ts';
import { ask } from './support/worker.ts';

const HOST = fileURLToPath(new URL('support/mcp-host.js', import.meta.url));

interface Wish {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly theme?: 'light' | 'dark';
  readonly pin?: string;
  /** Whether the host passes calls of the page on to the server. */
  readonly passes?: boolean;
}

interface Shown {
  readonly uri: string;
  readonly mimeType: string;
  readonly meta: unknown;
}

type Global = {
  show(wish: object): Promise<Shown>;
  send(args: object, result: object): Promise<void>;
  dress(theme: string): void;
  leave(): Promise<unknown>;
  said: string[];
};

describe('pages of results in a host', () => {
  let console: ConsoleInBrowser;
  let site: Site;
  let annsToken: string;

  beforeAll(async () => {
    const { outputFiles } = await build({ entryPoints: [HOST], bundle: true, format: 'esm', write: false, conditions: ['browser'], logLevel: 'silent' });
    const script = outputFiles[0]?.text ?? '';
    site = await serve(async (path) =>
      path === '/'
        ? new Response('<!doctype html><html lang="en"><title>host</title><body><script type="module" src="host.js"></script>', {
            headers: { 'content-type': 'text/html' },
          })
        : path === '/host.js'
          ? new Response(script, { headers: { 'content-type': 'text/javascript' } })
          : new Response('', { status: 204 }),
    );
    console = await startConsole({ MCP_CORS_ORIGINS: '*' });
    const [row] = await admin('CREATE TOKEN FOR ann');
    annsToken = String(row?.token);
  }, 240_000);
  afterEach(() => console.reset());
  afterAll(async () => {
    await site?.close();
    await console?.close();
  });

  async function admin(query: string): Promise<readonly Record<string, unknown>[]> {
    const headers = { 'x-api-key': console.token, 'content-type': 'application/json' };
    const { status, text } = await ask(console.base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ ontology_name: 'shop', query }) });
    expect(status, text).toBe(200);
    return (JSON.parse(text) as { data: Record<string, unknown>[] }).data;
  }

  /** Shows the page of a call of ann. */
  async function show(wish: Wish, page?: Page): Promise<{ readonly page: Page; readonly frame: Frame; readonly shown: Shown }> {
    const host = page ?? (await console.open());
    if (page === undefined) await host.goto(`http://127.0.0.1:${site.port}/`);
    await host.waitForFunction(() => 'show' in globalThis);
    const headers = { 'x-api-key': annsToken, 'x-ontology': 'shop' };
    const shown = await host.evaluate((w) => (globalThis as unknown as Global).show(w), { address: `${console.base}/svc/api/mcp`, headers, ...wish });
    const frame = host.frames().find((f) => f !== host.mainFrame());
    if (frame === undefined) throw new Error('the host has no frame');
    return { page: host, frame, shown };
  }
  /** Without those about a request of the SDK: it asks for a stream, which the service does not offer. */
  const complaints = (): readonly string[] => console.complaints.filter((c) => !/\b405\b.*\/svc\/api\/mcp/.test(c));
  const cellsOf = (frame: Frame): Promise<string[][]> =>
    frame.locator('.grid .line').evaluateAll((lines) => lines.map((line) => [...line.querySelectorAll('[role=gridcell]')].map((c) => c.textContent ?? '')));

  it.each(['2026-07-28', undefined])('shows rows with hostile values as text, pinned to %s', async (pin) => {
    const query = 'SELECT name AS "<b onclick=x>", customer_no, note FROM svc.customer ORDER BY customer_no';
    const { page, frame, shown } = await show({ tool: 'execute_sql', args: { query }, ...(pin === undefined ? {} : { pin }) });
    expect(shown).toMatchObject({ uri: 'ui://svc/result', mimeType: 'text/html;profile=mcp-app' });
    expect(shown.meta).toEqual({ ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } });
    await frame.getByText('3 rows').waitFor();
    const cells = await cellsOf(frame);
    expect(cells.map((row) => row.slice(0, 2))).toEqual([
      ['Ann', '1'],
      [HOSTILE, '2'],
      ['\u202Eevil', '3'],
    ]);
    expect(cells[1]?.[2]).toMatch(/^x{500}$/);
    expect(await frame.getByRole('columnheader').allTextContents()).toEqual(['', '<b onclick=x>', 'customer_no', 'note']);
    expect([await frame.title(), await page.title()]).toEqual(['Result', 'host']);
    // the page asked for nothing but what the host asked for
    const origins = new Set(console.requested.filter((url) => !url.startsWith('about:')).map((url) => new URL(url).origin));
    expect([...origins].sort()).toEqual([`http://127.0.0.1:${site.port}`, console.base].sort());
    expect(complaints()).toEqual([]);
  });

  it('shows a chart, is used by keyboard, and follows the theme of the host', async () => {
    const query = 'SELECT t.name, COUNT(*) AS customers FROM svc.town t JOIN svc.customer c ON c.town_no = t.town_no GROUP BY 1 ORDER BY 1';
    const { page, frame } = await show({ tool: 'execute_sql', args: { query }, theme: 'light' });
    const chart = frame.getByRole('button', { name: 'Chart' });
    await chart.focus();
    await page.keyboard.press('Enter');
    await frame.getByRole('img', { name: 'customers / name' }).waitFor();
    expect(await frame.locator('.bars .name').allTextContents()).toEqual(['Braga', 'Lisbon', 'Porto']);
    const background = (): Promise<unknown> => frame.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(await background()).toBe('rgb(255, 255, 255)');
    expect(await serious(frame)).toEqual([]);
    await page.evaluate(() => (globalThis as unknown as Global).dress('dark'));
    await expect.poll(background).toBe('rgb(21, 24, 29)');
    expect(await serious(frame)).toEqual([]);
    expect(await page.evaluate(() => (globalThis as unknown as Global).leave())).toEqual({});
    // the frame is as high as the page
    const height = await frame.evaluate('document.body.scrollHeight');
    await expect.poll(() => page.evaluate("document.querySelector('iframe').clientHeight")).toBe(height);
  });

  it('shows the error of a tool', async () => {
    const { frame } = await show({ tool: 'execute_sql', args: { query: 'SELECT nmae FROM svc.town' } });
    await frame.getByText('did you mean `name`?').waitFor();
  });

  it('shows the neighbours of a concept, without what the caller may not see', async () => {
    const { page, frame } = await show({ tool: 'describe_knowledge_graph', args: { include: ['model'], concepts: ['customer'] }, theme: 'dark' });
    await frame.getByRole('button', { name: 'customer, concept' }).waitFor();
    expect(await frame.locator('.entity').evaluateAll((all) => all.map((e) => e.getAttribute('data-entity')).sort())).toEqual(['customer', 'order', 'town']);
    await frame.locator('.panel').getByText('customer_no').waitFor();
    expect(await serious(frame)).toEqual([]);
    await frame.getByRole('button', { name: 'town, concept' }).focus();
    await page.keyboard.press('Enter');
    await frame.getByRole('heading', { name: 'town' }).waitFor();
    await frame.getByRole('button', { name: 'region, concept' }).waitFor();
    expect(await frame.content()).not.toMatch(/wage/i);
    expect(complaints()).toEqual([]);
  });

  it('shows the newest description, though what it asked for about an earlier one arrives later', async () => {
    const host = await console.open();
    await host.goto(`http://127.0.0.1:${site.port}/`);
    const { promise, resolve } = Promise.withResolvers<Route>();
    await host.route('**/svc/api/mcp', (route) => {
      const body = route.request().postData() ?? '';
      return /tools\/call/.test(body) && /relationships/.test(body) ? resolve(route) : route.continue();
    });
    const { frame } = await show({ tool: 'describe_knowledge_graph', args: { include: ['model'] } }, host);
    const late = await promise;
    const concept = { concept: 'newer', description: 'D', inheritance: 'thing', primary_keys: '', query: '' };
    const result = { content: [], structuredContent: { ontology: [concept], relationships: [] } };
    await host.evaluate((answer) => (globalThis as unknown as Global).send({}, answer), result);
    await frame.getByRole('button', { name: 'newer, concept' }).waitFor();
    await late.continue();
    await host.waitForTimeout(500);
    expect(await frame.locator('.entity').evaluateAll((all) => all.map((e) => e.getAttribute('data-entity')))).toEqual(['newer']);
  });

  it('shows the text of the model where the host passes no calls on', async () => {
    const { frame } = await show({ tool: 'describe_knowledge_graph', args: { include: ['model'] }, passes: false });
    await frame.getByText('Somebody who buys').waitFor();
  });
});
