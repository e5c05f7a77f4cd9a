/** The docs page in a real browser: what it loads, shows and sends, and its accessibility. */
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LocalPostgres } from '../../dev/testing.ts';
import { borrowPostgres } from '../support/databases/index.ts';
import { openBrowser, openContext } from './support/chromium.ts';
import { ask, type BuiltWorkers, startBuiltWorkers } from './support/worker.ts';

describe('the docs page', () => {
  let database: LocalPostgres;
  let workers: BuiltWorkers<'service'>;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** Errors and requests of the browser. */
  let complaints: string[];
  let loaded: string[];

  beforeAll(async () => {
    database = await borrowPostgres();
    await database.exec('CREATE SCHEMA s');
    await database.exec('CREATE TABLE s.t (id int PRIMARY KEY, name text, big bigint)');
    await database.exec("INSERT INTO s.t VALUES (1, 'Ann', 9007199254740993), (2, 'B\u00e4r <b>', 2)");
    workers = await startBuiltWorkers(database, { service: {} });
    const sql = `CREATE ONTOLOGY shop; CREATE CONCEPT item (id integer, name string, big bigint, PRIMARY KEY (id)) DESCRIPTION 'On sale';
      CREATE MAPPING m INTO item AS SELECT id, name, big FROM s.t`;
    const made = await ask(workers.urls.service, '/svc/openapi/ontology/shop/query', {
      method: 'POST',
      headers: { 'x-api-key': workers.token, 'content-type': 'text/plain' },
      body: sql,
    });
    expect(made.status, made.text).toBe(200);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await workers?.stop();
    await database?.close();
  });
  beforeEach(async () => {
    context = await openContext(browser, { viewport: { width: 1100, height: 900 } });
    page = await context.newPage();
    complaints = [];
    loaded = [];
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complaints.push(`pageerror: ${error.message}`));
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
    page.on('request', (request) => loaded.push(request.url()));
    await page.goto(`${workers.urls.service}/svc/api/docs`);
  });
  afterEach(() => context.close());

  const signIn = async (): Promise<void> => {
    await page.getByLabel('API token').fill(workers.token);
    await page.keyboard.press('Enter');
    await page.getByText('svc: knowledge-graph query API').waitFor();
  };
  const operation = (path: string) => page.locator('details.operation', { has: page.getByText(path, { exact: true }) });

  it('loads only its own script and style, without errors', async () => {
    await signIn();
    expect(complaints).toEqual([]);
    const { origin } = new URL(workers.urls.service);
    expect(loaded.filter((url) => !url.startsWith(`${origin}/svc/api/`) && !url.startsWith('data:'))).toEqual([]);
    expect(await page.title()).toBe('svc API');
  });

  it('lists every operation of the document', async () => {
    await signIn();
    const { text } = await ask(workers.urls.service, '/svc/api/openapi.json', { headers: { 'x-api-key': workers.token } });
    const all = Object.entries<object>(JSON.parse(text).paths).flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`));
    const shown = await page
      .locator('details.operation > summary')
      .evaluateAll((nodes) => nodes.map((n) => `${n.querySelector('b')?.textContent} ${n.querySelector('code')?.textContent}`));
    expect(shown.sort()).toEqual(all.sort());
    await page.getByLabel('Find').fill('clear_cache');
    expect(await page.locator('details.operation').count()).toBe(2);
  });

  it('runs a query: rows with all their digits', async () => {
    await signIn();
    const box = operation('/svc/api/query');
    await box.locator('summary').first().click();
    await box.getByLabel(/^Body/).fill('{"ontology_name": "shop", "query": "SELECT name, big FROM svc.item ORDER BY id"}');
    await box.getByRole('button', { name: 'Send' }).click();
    await box.getByText(/^HTTP 200 in/).waitFor();
    const answer = await box.locator('.answer > pre').textContent();
    expect(answer).toContain('"big": 9007199254740993');
    expect(answer).toContain('"name": "B\u00e4r <b>"');
    await box.getByLabel(/^Body/).fill('{"ontology_name": "shop", "query": "SELECT nam FROM svc.item"}');
    await box.getByRole('button', { name: 'Send' }).click();
    await box.getByText(/^HTTP 400 in/).waitFor();
    expect(await box.locator('.answer > pre').textContent()).toContain('did you mean `name`?');
  });

  it('runs a request for a concept with a filter', async () => {
    await signIn();
    await page.getByLabel('Document').selectOption({ label: 'Ontology shop' });
    const box = operation('/svc/api/q/shop/concept/item');
    await box.waitFor();
    await box.locator('summary').first().click();
    await box.getByLabel('_subj_', { exact: true }).fill('name');
    await box.getByLabel('_op_', { exact: true }).selectOption('eq');
    await box.getByLabel('_comp_', { exact: true }).fill('Ann');
    await box.getByRole('button', { name: 'Send' }).click();
    await box.getByText(/^HTTP 200 in/).waitFor();
    expect(await box.locator('.answer > pre').textContent()).toContain('"executed_query"');
    expect(await box.locator('.answer > pre').textContent()).not.toContain('B\u00e4r');
    expect(complaints).toEqual([]);
  });

  it('reports an invalid token', async () => {
    await page.getByLabel('API token').fill('tk_wrong');
    await page.getByRole('button', { name: 'Load' }).click();
    await page.getByRole('status').getByText('The API token is not valid').waitFor();
    expect(await page.locator('details.operation').count()).toBe(0);
  });

  it('keeps the token only in the page', async () => {
    await signIn();
    const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])');
    expect(kept).not.toContain(workers.token);
    await page.reload();
    expect(await page.getByLabel('API token').inputValue()).toBe('');
  });

  it('can be used with only the keyboard', async () => {
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.id')).toBe('token');
    await page.keyboard.type(workers.token);
    await page.keyboard.press('Enter');
    await page.getByText('svc: knowledge-graph query API').waitFor();
    const focused = () => page.evaluate<string>("document.activeElement?.closest('details')?.querySelector('code')?.textContent ?? ''");
    for (let n = 0; n < 40 && (await focused()) !== '/svc/api/get_ontologies'; n++) await page.keyboard.press('Tab');
    expect(await focused()).toBe('/svc/api/get_ontologies');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Send' }).first().waitFor();
    for (let n = 0; n < 20 && (await page.evaluate('document.activeElement?.textContent')) !== 'Send'; n++) await page.keyboard.press('Tab');
    const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).not.toBe('none');
    await page.keyboard.press('Enter');
    await page.getByText(/^HTTP 200 in/).waitFor();
    // the focus stays there after sending by keyboard
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Send');
  });

  it('labels every field, and has headings in order', async () => {
    await signIn();
    for (const path of ['/svc/api/query', '/svc/api/q/{ontology_name}/concept/{concept_name}']) await operation(path).locator('summary').first().click();
    const nameless = await page.evaluate(`[...document.querySelectorAll('input, select, textarea, button')]
      .filter((n) => (n.labels?.length ?? 0) === 0 && n.textContent.trim() === '' && !n.hasAttribute('aria-label')).map((n) => n.outerHTML)`);
    expect(nameless).toEqual([]);
    const ids = await page.locator('[id]').evaluateAll((nodes) => nodes.map((n) => n.id));
    expect(new Set(ids).size).toBe(ids.length);
    const levels = await page.locator('h1, h2, h3, h4, h5, h6').evaluateAll((nodes) => nodes.map((n) => Number(n.tagName.slice(1))));
    expect(levels[0]).toBe(1);
    expect(levels.filter((level, i) => i > 0 && level > (levels[i - 1] as number) + 1)).toEqual([]);
    expect(await page.locator('html').getAttribute('lang')).toBe('en');
    expect(await page.getByRole('main').count()).toBe(1);
  });

  it.each(['light', 'dark'] as const)('has texts with sufficient contrast in %s mode', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    await signIn();
    const box = operation('/svc/api/query');
    await box.locator('summary').first().click();
    await box.getByRole('button', { name: 'Send' }).click();
    await box.getByText(/^HTTP 200 in/).waitFor();
    if (process.env.SCREENSHOTS) await page.screenshot({ path: join(process.env.SCREENSHOTS, `docs-${colorScheme}.png`), fullPage: true });
    // WCAG 2.2, 1.4.3: 4.5 to 1
    expect(await page.evaluate(FAINT)).toEqual([]);
  });

  it('fits a narrow screen', async () => {
    await signIn();
    await page.setViewportSize({ width: 360, height: 700 });
    await operation('/svc/api/query').locator('summary').first().click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  });
});

/** Texts of the page whose contrast is under 4.5: runs in the browser. */
const FAINT = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.backgroundColor = 'Canvas';
  const parse = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [x, y, z], opacity = 1) => {
    const t = a * opacity;
    return [r * t + x * (1 - t), g * t + y * (1 - t), b * t + z * (1 - t), 1];
  };
  const ground = (node) => (node === null ? parse(getComputedStyle(probe).backgroundColor) : over(parse(getComputedStyle(node).backgroundColor), ground(node.parentElement)));
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const opacityOf = (node) => (node === null ? 1 : Number(getComputedStyle(node).opacity) * opacityOf(node.parentElement));
  const found = [];
  for (const node of document.body.querySelectorAll('*')) {
    const own = [...node.childNodes].some((c) => c.nodeType === Node.TEXT_NODE && c.textContent.trim() !== '');
    if (!own || !node.checkVisibility()) continue;
    const back = ground(node);
    const front = over(parse(getComputedStyle(node).color), back, opacityOf(node));
    const [light, dark] = [luminance(front), luminance(back)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) found.push(ratio.toFixed(2) + ' ' + node.tagName + ' ' + node.textContent.slice(0, 60));
  }
  probe.remove();
  return found;
})()`;
