/** The query view of the console in a real browser: plans, trees, maps, parameters, saved queries, and large results and models. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { memoryGrowth } from '../../bench/lib/growth.ts';
import { sizesOf } from '../support/sizes.ts';
import { type ConsoleInBrowser, cells, run, serious, startConsole } from './support/console-browser.ts';
import { PASSWORD } from './support/console-shop.ts';
import { ask } from './support/worker.ts';

const SIZES = sizesOf('integration/console-query');
const ROWS = SIZES.rows;
const SHOWN = ROWS.toLocaleString('en-US');
const CONCEPTS = SIZES.concepts;
const REGIONS = 'SELECT name FROM svc.region ORDER BY name';

interface Cutter {
  readonly url: string;
  /** What it has sent of each answer. */
  readonly sent: readonly string[];
  close(): Promise<void>;
}

/** A server that asks the service at `base`, sends the first line of its answer, and closes the connection. */
async function cutsAfterFirstRow(base: string): Promise<Cutter> {
  const sent: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host: _, connection: __, 'accept-encoding': ___, ...headers } = request.headers;
    const { status, text } = await ask(base, request.url ?? '', {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: Buffer.concat(chunks).toString(),
    });
    const line = text.slice(0, text.indexOf('\n') + 1);
    response.writeHead(status, { 'content-type': 'application/x-ndjson' });
    response.write(line, () => setTimeout(() => response.socket?.destroy(), 200));
    sent.push(line);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

describe('querying in the console', () => {
  let console: ConsoleInBrowser;

  beforeAll(async () => {
    console = await startConsole();
  });
  afterEach(() => console.reset());
  afterAll(() => console?.close());

  const admin = async (sql: string, ontology = 'shop'): Promise<readonly Record<string, unknown>[]> => {
    const headers = { 'x-api-key': console.token, 'content-type': 'application/json' };
    const { status, text } = await ask(
      console.base,
      '/svc/api/query',
      { method: 'POST', headers, body: JSON.stringify({ ontology_name: ontology, query: sql }) },
      120_000,
    );
    expect(status, text).toBe(200);
    return (JSON.parse(text) as { data: Record<string, unknown>[] }).data;
  };

  it('shows a plan as a tree that opens and closes', async () => {
    const page = await console.admin('query');
    await page.getByRole('textbox', { name: 'SQL' }).click();
    await page.keyboard.insertText('SELECT name, COUNT(`made_order[order].order_no`) AS n FROM dsvc.customer GROUP BY 1');
    await page.getByRole('button', { name: 'Explain' }).click();
    const top = page.locator('.plan > details > summary');
    await top.waitFor();
    expect(await top.textContent()).toMatch(/cost 100 %/);
    expect(await page.locator('.plan details details').count()).toBeGreaterThan(0);
    const step = page.getByText(/Seq Scan on orders/);
    await step.waitFor();
    await top.click();
    await step.waitFor({ state: 'hidden' });
  });

  it('shows nested rows as a tree', async () => {
    const page = await console.signedIn('query');
    await page.getByLabel('Nested').check();
    await run(page, 'SELECT entity_id, name, "has_town[town].name", "has_town[town].has_customer[customer].name" FROM dsvc.region ORDER BY name DESC');
    await page.locator('.grid .line').first().waitFor();
    await page.getByRole('button', { name: 'Tree' }).click();
    await page.locator('.tree summary', { hasText: 'South' }).waitFor();
    await page.locator('.tree summary', { hasText: 'has_town[town]' }).first().click();
    await page.locator('.tree summary', { hasText: 'Lisbon' }).click();
    await page.locator('.tree summary', { hasText: 'has_customer[customer]' }).click();
    await page.locator('.tree summary', { hasText: 'Ann' }).waitFor();
    expect(console.complaints).toEqual([]);
  });

  it('draws rows with coordinates on a map', async () => {
    const page = await console.signedIn('query');
    await run(page, 'SELECT name, 38.7 + town_no AS latitude, -9.1 + town_no * 0.5 AS longitude FROM svc.town ORDER BY town_no');
    await page.locator('.grid .line').first().waitFor();
    await page.getByRole('button', { name: 'Map' }).click();
    await page.getByRole('img', { name: '4 points' }).waitFor();
    expect(await page.locator('.map circle title').allTextContents()).toEqual(['Lisbon', 'Porto', 'Braga', 'Viana']);
    expect(await page.locator('.map circle').first().getAttribute('cy')).toBe('-39.7');
    await page.getByRole('button', { name: 'Whole world' }).click();
    expect(await page.locator('.map svg').getAttribute('viewBox')).toBe('-180 -90 360 180');
    // rows without coordinates have no map
    await page.getByRole('button', { name: 'New query' }).click();
    await run(page, 'SELECT name FROM svc.town');
    await expect.poll(() => page.getByRole('button', { name: 'Map' }).count()).toBe(0);
    expect(console.complaints).toEqual([]);
  });

  it('asks for the values of parameters', async () => {
    const page = await console.signedIn('query');
    await run(page, 'SELECT name FROM svc.town WHERE name > :from AND town_no < :below ORDER BY name');
    await page.getByText('The parameter :from has no value').waitFor();
    await page.getByLabel(':from').fill('Ca');
    await page.getByLabel(':below').fill('3');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.grid .line').first().waitFor();
    expect(await cells(page)).toEqual([['Lisbon'], ['Porto']]);
    await page.getByLabel(':from').fill("L' OR TRUE --");
    await page.getByRole('button', { name: 'Run' }).click();
    await expect.poll(() => cells(page)).toEqual([['Lisbon'], ['Porto']]);
    // the place of an error is that in the editor
    await run(page, 'SELECT name, :from AS a, nmae FROM svc.town');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('line 1, column 26');
  });

  it('saves queries for all who may run them', async () => {
    const editor = await console.admin('query');
    await editor.getByRole('textbox', { name: 'SQL' }).click();
    await editor.keyboard.insertText('SELECT name FROM svc.town ORDER BY name');
    await editor.getByRole('button', { name: 'Saved queries' }).click();
    await editor.getByText('This ontology has no saved queries.').waitFor();
    await editor.getByLabel('Save this query as').fill("Towns' names");
    await editor.getByText("CREATE OR REPLACE EXAMPLE 'Towns'' names' AS").waitFor();
    await editor.keyboard.press('Enter');
    await editor.getByRole('button', { name: "Towns' names", exact: true }).waitFor();
    const page = await console.signedIn('query');
    await page.getByRole('button', { name: 'Saved queries' }).click();
    await page.getByRole('button', { name: "Towns' names", exact: true }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.grid .line').first().waitFor();
    expect((await cells(page)).flat()).toEqual(['Braga', 'Lisbon', 'Porto', 'Viana']);
    // ann may not change them
    await page.getByRole('button', { name: 'Saved queries' }).click();
    await page.getByRole('button', { name: "Towns' names", exact: true }).waitFor();
    expect(await page.getByLabel('Save this query as').count()).toBe(0);
    await editor.getByRole('button', { name: "Delete: Towns' names" }).click();
    await editor.getByText("DROP EXAMPLE 'Towns'' names'").waitFor();
    await editor.getByRole('button', { name: 'Delete', exact: true }).click();
    await editor.getByText('This ontology has no saved queries.').waitFor();
    expect(await admin('SELECT question FROM svc.SYS_EXAMPLES')).toEqual([]);
  });

  it('shows an error in a query that is saved at its place in the statement', async () => {
    const editor = await console.admin('query');
    await editor.getByRole('textbox', { name: 'SQL' }).click();
    await editor.keyboard.insertText('SELECT naem FROM svc.town');
    await editor.getByRole('button', { name: 'Saved queries' }).click();
    await editor.getByLabel('Save this query as').fill('It fails');
    await editor.getByRole('button', { name: 'Save', exact: true }).click();
    await editor.getByRole('alert').getByText('unknown property `naem`').waitFor();
    await editor.getByRole('alert').getByText('line 2, column 8').waitFor();
  });

  it('knows the statements about jobs and caches, and takes no property for a keyword', async () => {
    const page = await console.admin('query');
    const editor = page.getByRole('textbox', { name: 'SQL' });
    const proposals = page.locator('.cm-tooltip-autocomplete li');
    const weightOf = (word: string): Promise<string> =>
      editor
        .locator('span', { hasText: new RegExp(`^${word}$`) })
        .evaluate((element) => (globalThis as unknown as { getComputedStyle(e: unknown): { fontWeight: string } }).getComputedStyle(element).fontWeight);
    await editor.click();
    for (const [text, word] of [
      ['SHOW J', 'JOBS'],
      ['UNC', 'UNCACHE'],
      ['ALTER JO', 'JOB'],
      ["CREATE JOB j SCHEDULE '1 1 1 1 1' TIMEZ", 'TIMEZONE'],
    ] as const) {
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(text.slice(0, -1));
      await page.keyboard.type(text.slice(-1));
      await proposals.filter({ hasText: new RegExp(`^${word}$`) }).waitFor();
      await page.keyboard.press('Escape');
    }
    expect(await weightOf('SCHEDULE')).toBe('600');
    await run(page, 'SELECT name, region FROM svc.town');
    await page.locator('.grid .line, .failure').first().waitFor();
    expect(await weightOf('SELECT')).toBe('600');
    expect(await editor.locator('span', { hasText: /^name$/ }).count()).toBe(0);
  });

  it('types over a selection as the CSP allows it, and completes no keywords after a dot', async () => {
    const page = await console.signedIn('query');
    const editor = page.getByRole('textbox', { name: 'SQL' });
    await run(page, 'SELECT name FROM svc.town');
    await page.locator('.grid .line').first().waitFor();
    // what the user types replaces the whole text, and quotes go around a selection
    await editor.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('SELECT name');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Shift+ArrowLeft');
    await page.keyboard.type('"');
    await page.keyboard.press('End');
    await page.keyboard.type(' FROM svc.to');
    const proposals = page.locator('.cm-tooltip-autocomplete li');
    await proposals.filter({ hasText: 'town' }).waitFor();
    expect(await proposals.allTextContents()).toEqual(['town', 'customer']);
    await page.keyboard.press('Escape');
    expect(await editor.textContent()).toBe('SELECT "name" FROM svc.to');
    expect(console.complaints.filter((c) => !/status of 400/.test(c))).toEqual([]);
  });

  it('keeps for each query its result, its error and its running statement', async () => {
    const page = await console.signedIn('query');
    const held: string[] = [];
    const ended: string[] = [];
    page.on('requestfailed', (request) => ended.push(request.postData() ?? ''));
    await page.route('**/svc/api/query', (route) => {
      const body = route.request().postData() ?? '';
      if (!/AS held/.test(body) || /EXPLAIN/.test(body)) return route.continue();
      held.push(body);
    });
    const tab = (name: string) => page.getByRole('button', { name, exact: true });
    const lines = page.locator('.grid .line').filter({ visible: true });
    await run(page, 'SELECT name FROM svc.town');
    await expect.poll(() => lines.count()).toBe(4);
    await tab('Tree').click();
    await page.locator('.tree').waitFor();
    await tab('New query').click();
    await page.getByText('Write a SELECT over the concepts and run it').last().waitFor();
    await run(page, 'SELECT nmae FROM svc.region');
    await page.getByRole('alert').waitFor();
    await tab('New query').click();
    expect(await page.getByRole('alert').count()).toBe(0);
    await run(page, 'SELECT name AS held FROM svc.customer');
    await tab('Cancel').waitFor();
    await expect.poll(() => held.length).toBe(1);
    // the others are as they were, and the running one is marked
    await tab('region').click();
    await page.getByRole('alert').waitFor();
    expect(await tab('Cancel').count()).toBe(0);
    await tab('customer \u2026').waitFor();
    await tab('town').click();
    await page.locator('.tree').waitFor();
    await tab('Table').click();
    await expect.poll(() => lines.count()).toBe(4);
    // a statement of one query does not end that of another
    await run(page, 'SELECT name FROM svc.town WHERE town_no = 1');
    await expect.poll(() => lines.count()).toBe(1);
    await tab('customer \u2026').click();
    expect(await lines.count()).toBe(0);
    expect(ended.filter((body) => /AS held/.test(body))).toEqual([]);
    await tab('Cancel').click();
    await page.getByText('Cancelled').waitFor();
    await tab('town').click();
    await expect.poll(() => lines.count()).toBe(1);
    expect(await page.getByText('Cancelled').filter({ visible: true }).count()).toBe(0);
    // closing a query ends its statement
    await tab('customer').click();
    await tab('Run').click();
    await expect.poll(() => held.length).toBe(2);
    await tab('Close Query 3').click();
    await expect.poll(() => ended.filter((body) => /AS held/.test(body)).length).toBe(2);
    await page.getByRole('alert').waitFor();
  });

  it('goes on where it was when the session has expired in the middle of a query', async () => {
    const page = await console.signedIn('query');
    await page.getByRole('textbox', { name: 'SQL' }).waitFor();
    await page.context().clearCookies();
    // a token may end with another one
    for (;;) {
      const [token] = await admin('SHOW TOKEN FOR ann');
      if (token === undefined) break;
      await admin(`REVOKE TOKEN '${token.token_id}'`);
    }
    await run(page, REGIONS);
    await page.getByRole('link', { name: 'Sign in at the login page' }).click();
    await page.getByLabel('User name').fill('ann');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'SQL' }).textContent()).toContain('SELECT name FROM svc.region');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.grid .line').first().waitFor();
    expect(await cells(page)).toEqual([['North'], ['South']]);
  });

  it('shows an error without a connection, and works again with one', async () => {
    const page = await console.signedIn('query');
    await page.getByRole('textbox', { name: 'SQL' }).waitFor();
    await page.context().setOffline(true);
    await run(page, REGIONS);
    await page.getByText('The service cannot be reached').first().waitFor();
    await page.context().setOffline(false);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.grid .line').first().waitFor();
    expect(await cells(page)).toEqual([['North'], ['South']]);
  });

  it('shows an error when the connection is lost in the middle of the rows', async () => {
    const page = await console.signedIn('query');
    await page.getByRole('textbox', { name: 'SQL' }).waitFor();
    const cutter = await cutsAfterFirstRow(console.base);
    const ofRun = (url: URL): boolean => url.pathname === '/svc/api/query';
    await page.route(ofRun, (route, request) =>
      request.headers().accept === 'application/x-ndjson' ? route.continue({ url: cutter.url + new URL(request.url()).pathname }) : route.continue(),
    );
    await run(page, REGIONS);
    await page.getByText('The service cannot be reached').first().waitFor();
    expect([cutter.sent, await page.locator('.grid .line').count()]).toEqual([['{"name":"North"}\n'], 0]);
    await page.unroute(ofRun);
    await cutter.close();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.grid .line').first().waitFor();
    expect(await cells(page)).toEqual([['North'], ['South']]);
  });

  it(`scrolls through ${SHOWN} rows`, async () => {
    await console.sql(`CREATE TABLE shop.numbers AS SELECT n, n * 2 AS twice FROM generate_series(1, ${ROWS}) n`);
    await admin('CREATE ONTOLOGY many', '');
    await admin('CREATE CONCEPT number (n integer, twice integer, PRIMARY KEY (n)); CREATE MAPPING m INTO number AS SELECT n, twice FROM shop.numbers', 'many');
    const page = await console.admin('query');
    await page.goto(`${console.base}/svc/console/#/many/query`);
    await page.getByLabel('Rows at most').selectOption(String(ROWS));
    await run(page, 'SELECT n, twice FROM svc.number ORDER BY n');
    await page.getByText(`${SHOWN} rows in`).waitFor({ timeout: 120_000 });
    const grid = page.getByRole('grid');
    expect(await grid.getAttribute('aria-rowcount')).toBe(String(ROWS + 1));
    expect((await cells(page))[0]).toEqual(['1', '2']);
    // few of them are in the page
    expect(await page.locator('.grid .line').count()).toBeLessThan(60);
    await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await expect.poll(async () => (await cells(page)).at(-1)).toEqual([String(ROWS), String(2 * ROWS)]);
    await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
    await expect.poll(async () => Math.abs(Number((await cells(page))[0]?.[0]) - ROWS / 2)).toBeLessThan(ROWS / 1000);
    const middle = (await cells(page)).map(([n]) => Number(n));
    expect(middle).toEqual(middle.map((_, i) => (middle[0] as number) + i));
    await grid.focus();
    await page.keyboard.press('Control+Home');
    await expect.poll(async () => (await cells(page))[0]).toEqual(['1', '2']);
  });

  it(`shows a model of ${CONCEPTS} concepts by its parts, and completes its names`, async () => {
    const name = (i: number): string => `concept_${String(i).padStart(4, '0')}`;
    await admin('CREATE ONTOLOGY wide', '');
    for (let from = 0; from < CONCEPTS; from += 250) {
      const script = Array.from({ length: 250 }, (_, k) => {
        const i = from + k;
        const link = i === 0 ? '' : `, CONSTRAINT follows_${i} FOREIGN KEY (before_${i}) REFERENCES ${name(i - 1)} (no_${i - 1}) INVERSEOF precedes_${i}`;
        return `CREATE CONCEPT ${name(i)} (no_${i} integer, before_${i} integer, PRIMARY KEY (no_${i})${link})`;
      });
      await admin(script.join(';\n'), 'wide');
    }
    const page = await console.admin('model');
    await page.goto(`${console.base}/svc/console/#/wide/model`);
    await page.locator('.node').first().waitFor({ timeout: 60_000 });
    expect(await page.locator('.node').count()).toBeLessThanOrEqual(300);
    await page.getByLabel('Find a concept').fill('concept_0234');
    await page.locator('.list .item').first().click();
    await page.getByRole('complementary', { name: 'concept_0234' }).waitFor();
    await page.getByRole('button', { name: 'Focus here' }).click();
    await expect.poll(async () => (await page.locator('.node > text').allTextContents()).sort()).toEqual([name(233), name(234), name(235)]);
    await page.getByRole('link', { name: 'Query', exact: true }).click();
    await page.getByRole('textbox', { name: 'SQL' }).click();
    await page.keyboard.insertText('SELECT 1 FROM dsvc.');
    await page.keyboard.type('concept_03', { delay: 20 });
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'concept_0300' }).waitFor();
    // a search over all concepts says where it ended
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    await page.getByRole('searchbox').fill('7');
    await page.keyboard.press('Enter');
    await page.getByText(`The values of 200 of ${CONCEPTS} concepts were read`).waitFor();
  });

  it(`uses no more memory after ${SIZES.expansions} expansions and undos`, async () => {
    const page = await console.signedIn('data?concept=town');
    await page.getByRole('button', { name: /^Porto/ }).click();
    const cdp = await page.context().newCDPSession(page);
    expect(await memoryGrowth(page, cdp, 'in_region[region] (1)', SIZES.expansions)).toBeLessThan(1.2);
  });

  it('is accessible with plans, trees, maps, parameters and saved queries', async () => {
    const shown = async (page: Page, form: string): Promise<void> => {
      await page.getByRole('button', { name: form }).click();
      await page.waitForTimeout(400);
      expect(await serious(page), form).toEqual([]);
    };
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await console.signedIn('query', { colorScheme, bypassCSP: true });
      await run(page, 'SELECT name, 38.7 + town_no AS latitude, -9.1 AS longitude FROM svc.town WHERE town_no > :from');
      await page.getByLabel(':from').fill('1');
      await page.getByRole('button', { name: 'Run' }).click();
      await page.locator('.grid .line').first().waitFor();
      for (const form of ['Tree', 'Map', 'Explain', 'Saved queries']) await shown(page, form);
    }
  });
});
