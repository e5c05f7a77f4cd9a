/** The console in a real browser, against the built Worker: each flow as a user does it, by mouse or keyboard. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { shows } from '../support/shows.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { type ConsoleInBrowser, cells, run, serious, startConsole } from './support/console-browser.ts';
import { HOSTILE } from './support/console-shop.ts';
import { ask } from './support/worker.ts';

const SIZES = sizesOf('integration/console');

describe('the console', () => {
  let console: ConsoleInBrowser;
  let base = '';
  let complaints: readonly string[] = [];
  let requested: readonly string[] = [];
  let token = '';
  const open: ConsoleInBrowser['open'] = (options) => console.open(options);
  const logsIn: ConsoleInBrowser['logsIn'] = () => console.logsIn();
  const signedIn: ConsoleInBrowser['signedIn'] = (place, options) => console.signedIn(place, options);

  beforeAll(async () => {
    console = await startConsole();
    ({ base, complaints, requested, token } = console);
  });
  afterEach(() => console.reset());
  afterAll(() => console?.close());

  it('opens at / and signs in with user and password', async () => {
    const page = await logsIn();
    expect(new URL(page.url()).pathname).toBe('/svc/console/');
    await page.getByRole('link', { name: 'shop' }).waitFor();
    await page.getByText('4 concepts').waitFor();
    await page.getByText('A small shop').waitFor();
    await page.getByText(/Changed [A-Z][a-z]{2} \d+, \d{4}/).waitFor();
    // ann may create none
    expect(await page.getByRole('heading', { name: 'Create an ontology' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('signs in with a token, which is in no storage and no address', async () => {
    const page = await open();
    await page.goto(`${base}/svc/console/`);
    await page.getByLabel('API token or JWT').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'shop' }).click();
    await page.locator('.node').first().waitFor();
    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])');
    expect(stored).not.toContain(token);
    expect(requested.some((url) => url.includes(token))).toBe(false);
  });

  it('says that a token is not valid', async () => {
    const page = await open();
    await page.goto(`${base}/svc/console/`);
    await page.getByLabel('API token or JWT').fill('tk_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('not valid');
  });

  it('signs in once with the link of npm start', async () => {
    const made = await ask(base, '/svc/console/link', { method: 'POST', headers: { 'x-api-key': token, 'content-type': 'application/json' } });
    const { link } = JSON.parse(made.text) as { link: string };
    const page = await open();
    await page.goto(base + link);
    await page.getByText('admin', { exact: true }).waitFor();
    expect(page.url()).toBe(`${base}/svc/console/`);
    const again = await open();
    await again.goto(base + link);
    expect(await again.getByRole('alert').textContent()).toBe('This link was used before, or has expired.');
  });

  it('signs out: the token and the session end', async () => {
    const page = await logsIn();
    await page.goto(`${base}/svc/console/#/shop/model`);
    await page.locator('.node').first().waitFor();
    const sent = page.waitForRequest((request) => request.url().includes('/get_ontologies'));
    await page.getByRole('link', { name: 'Ontologies', exact: true }).click();
    const token = (await sent).headers()['x-api-key'] as string;
    await page.getByText('A small shop').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token or JWT').waitFor();
    await expect.poll(async () => (await ask(base, '/svc/api/get_ontologies', { headers: { 'x-api-key': token } })).status).toBe(401);
    await page.reload();
    await page.getByLabel('API token or JWT').waitFor();
  });

  it('gets a new token when its own has expired in the middle of work', async () => {
    const page = await signedIn('query');
    await page.getByRole('textbox', { name: 'SQL' }).waitFor();
    const admin = async (sql: string): Promise<readonly Record<string, string>[]> => {
      const headers = { 'x-api-key': token, 'content-type': 'application/json' };
      return JSON.parse((await ask(base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query: sql }) })).text).data;
    };
    const tokens = (await admin('SHOW TOKEN FOR ann')).filter((t) => t.label === 'console');
    expect(tokens.length).toBeGreaterThan(0);
    for (const t of tokens) await admin(`REVOKE TOKEN '${t.token_id}'`);
    await run(page, 'SELECT name FROM svc.region ORDER BY name');
    await page.locator('.grid .line').first().waitFor();
    expect(await cells(page)).toEqual([['North'], ['South']]);
  });

  it('shows the model, a concept, and nothing that is hidden', async () => {
    const page = await signedIn('model');
    await page.locator('.node').first().waitFor();
    expect((await page.locator('.node > text').allTextContents()).sort()).toEqual(['customer', 'order', 'region', 'town']);
    await page.getByLabel('Find a concept').fill('total');
    expect(await page.locator('.list .item').allTextContents()).toEqual(['order total']);
    await page.locator('.list .item').first().click();
    const details = page.getByRole('complementary', { name: 'order' });
    await details.locator('table').waitFor();
    expect(await details.textContent()).toContain('12345678901234567.25');
    await details.getByRole('button', { name: 'customer' }).click();
    await page.getByRole('complementary', { name: 'customer' }).getByText('Somebody who buys').waitFor();
    expect(complaints).toEqual([]);
    expect(shows((await console.answers()).join(''), ['secret_wage', '4000'])).toEqual([]);
  });

  it('draws the surroundings of a concept, and everything again', async () => {
    const page = await signedIn('model?focus=region');
    await page.locator('.node').first().waitFor();
    expect((await page.locator('.node > text').allTextContents()).sort()).toEqual(['region', 'town']);
    await page.getByLabel('Depth').selectOption('2');
    await expect.poll(() => page.locator('.node').count()).toBe(3);
    await page.getByRole('button', { name: 'All concepts' }).click();
    await expect.poll(() => page.locator('.node').count()).toBe(4);
  });

  it('chooses a concept in the drawing by keyboard', async () => {
    const page = await signedIn('model');
    await page.locator('.node', { hasText: 'town' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'town', exact: true }).waitFor();
  });

  it('saves the drawing as SVG and PNG', async () => {
    const page = await signedIn('model');
    await page.locator('.node').first().waitFor();
    for (const [button, type] of [
      ['Save as SVG', '<svg'],
      ['Save as PNG', '\u0089PNG'],
    ] as const) {
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: button }).click();
      const stream = await (await download).createReadStream();
      const parts: Buffer[] = [];
      for await (const part of stream) parts.push(part as Buffer);
      expect(Buffer.concat(parts).toString('latin1').startsWith(type)).toBe(true);
    }
    expect(complaints).toEqual([]);
  });

  it('leads a newcomer from a concept to its rows', async () => {
    const page = await signedIn('model?concept=region');
    await page.getByRole('link', { name: 'Query it' }).click();
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.grid .line').first().waitFor();
    expect((await cells(page)).map((row) => row[0]).sort()).toEqual(['North', 'South']);
  });

  it('completes a path of three hops by keyboard', async () => {
    const page = await signedIn('query');
    await page.getByRole('textbox', { name: 'SQL' }).click();
    await page.keyboard.insertText('SELECT DISTINCT "" AS region FROM dsvc.order ORDER BY 1');
    for (let i = 0; i < '" AS region FROM dsvc.order ORDER BY 1'.length; i++) await page.keyboard.press('ArrowLeft');
    for (const typed of ['made', 'lives', 'in_r', 'nam']) {
      await page.keyboard.type(typed, { delay: 20 });
      await page.locator('.cm-tooltip-autocomplete li[aria-selected]', { hasText: typed }).first().waitFor();
      // CodeMirror takes no key for a moment after the list appears
      await page.waitForTimeout(150);
      await page.keyboard.press('Enter');
    }
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Enter');
    await page.locator('.grid .line').first().waitFor();
    expect(await cells(page)).toEqual([['North'], ['South']]);
  });

  it('changes nothing by a link, by typing or by Explain', async () => {
    const statement = 'SELECT name FROM svc.region; CREATE ROLE intruder';
    const page = await open();
    await page.goto(`${base}/svc/console/#/shop/query?sql=${encodeURIComponent(statement)}`);
    await page.getByLabel('API token or JWT').fill(token);
    const checked = page.waitForResponse((response) => response.url().endsWith('/svc/api/query') && (response.request().postData() ?? '').includes('EXPLAIN'));
    await page.keyboard.press('Enter');
    expect((await checked).status()).toBe(403);
    await page.getByRole('button', { name: 'Explain' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('read_only');
    const headers = { 'x-api-key': token, 'content-type': 'application/json' };
    const roles = await ask(base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query: 'SELECT role_name FROM svc.SYS_ROLES' }) });
    expect(roles.text).not.toContain('intruder');
  });

  it('runs the changes of a text only after it has shown them', async () => {
    // the change is below what the window shows
    const statement = `SELECT name FROM svc.region;${'\n'.repeat(200)}CREATE ROLE hidden_below -- \u202e`;
    const page = await console.admin(`query?sql=${encodeURIComponent(statement)}`);
    const headers = { 'x-api-key': token, 'content-type': 'application/json' };
    const roles = async () =>
      (await ask(base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query: 'SELECT role_name FROM svc.SYS_ROLES' }) })).text;
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('This text changes something').waitFor();
    expect(await page.locator('.result .code').textContent()).toBe('CREATE ROLE hidden_below -- \\u202e');
    expect(await roles()).not.toContain('hidden_below');
    await page.getByRole('button', { name: 'Run it' }).click();
    await expect.poll(roles).toContain('hidden_below');
  });

  it('shows all changes above the button that runs them', async () => {
    // a harmless change first, and another one below what its box showed
    const statement = `DROP EXAMPLE 'none';${'\n-- a note\n\n\n\n\n'.repeat(40)}CREATE ROLE hidden_behind`;
    const page = await console.admin(`query?sql=${encodeURIComponent(statement)}`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('This text changes something').waitFor();
    const code = page.locator('.result .code');
    expect(await code.textContent()).toContain('CREATE ROLE hidden_behind');
    expect(
      await code.evaluate((box) => (box as unknown as { scrollHeight: number }).scrollHeight - (box as unknown as { clientHeight: number }).clientHeight),
    ).toBe(0);
  });

  it('saves no query whose text changes something else', async () => {
    const statement = `SELECT name FROM svc.region;${'\n'.repeat(200)}CREATE ROLE hidden_in_saved`;
    const page = await console.admin(`query?sql=${encodeURIComponent(statement)}`);
    await page.getByRole('button', { name: 'Saved queries' }).click();
    await page.getByLabel('Save this query as').fill('Regions');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'read_only' }).waitFor();
    const headers = { 'x-api-key': token, 'content-type': 'application/json' };
    const list = async (sql: string) =>
      (await ask(base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ ontology_name: 'shop', query: sql }) })).text;
    expect(await list('SELECT role_name FROM svc.SYS_ROLES')).not.toContain('hidden_in_saved');
    expect(await list('SHOW EXAMPLES')).not.toContain('Regions');
  });

  it('shows what is wrong while typing, and where', async () => {
    const page = await signedIn('query');
    await page.getByRole('textbox', { name: 'SQL' }).click();
    await page.keyboard.insertText('SELECT nmae FROM svc.region');
    await page.locator('.cm-lintRange-error').waitFor();
    expect(await page.locator('.cm-lintRange-error').textContent()).toBe('nmae');
  });

  it('shows an error with its hint, and leads to its place', async () => {
    const page = await signedIn('query');
    await run(page, 'SELECT name,\n  nmae FROM svc.region');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('unknown property `nmae` of concept `region`; did you mean `name`?');
    expect(await alert.textContent()).toContain('line 2, column 3');
    await page.getByRole('button', { name: /^Show character/ }).click();
    await page.keyboard.press('Control+Shift+ArrowRight');
    await page.keyboard.insertText('name AS n2');
    await page.keyboard.press('Control+Enter');
    await page.locator('.grid .line').first().waitFor();
  });

  it('keeps every digit, in the table and in the file', async () => {
    const page = await signedIn('query');
    await run(page, 'SELECT order_no, total FROM svc.order ORDER BY order_no DESC LIMIT 1');
    await page.locator('.grid .line').first().waitFor();
    expect(await cells(page)).toEqual([['9007199254740993', '12345678901234567.25']]);
    for (const [format, content] of [
      ['csv', 'order_no,total\r\n9007199254740993,12345678901234567.25\r\n'],
      ['ndjson', '{"order_no":9007199254740993,"total":12345678901234567.25}\n'],
    ] as const) {
      const download = page.waitForEvent('download');
      await page.getByLabel('Download').selectOption(format);
      const stream = await (await download).createReadStream();
      const parts: Buffer[] = [];
      for await (const part of stream) parts.push(part as Buffer);
      expect(Buffer.concat(parts).toString()).toBe(content);
    }
  });

  it('shows hostile names and long values as text', async () => {
    const page = await signedIn('query');
    await run(page, 'SELECT entity_id, name, note FROM svc.customer ORDER BY customer_no');
    await page.locator('.grid .line').first().waitFor();
    expect((await cells(page)).map((row) => row[1])).toEqual(['Ann', HOSTILE, '\u202Eevil']);
    await page.getByRole('button', { name: 'customer:2' }).click();
    await page.locator('.entity').waitFor();
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    expect(await page.title()).toBe('svc console');
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('runs the selected part of a text', async () => {
    const page = await signedIn('query');
    await page.getByRole('textbox', { name: 'SQL' }).click();
    await page.keyboard.insertText('SELECT 1 AS one;\nSELECT 2 AS two');
    await page.keyboard.press('Shift+Home');
    await page.keyboard.press('Control+Enter');
    await page.locator('.grid .line').first().waitFor();
    expect(await page.getByRole('columnheader', { name: 'two' }).count()).toBe(1);
  });

  it('keeps several queries and the history', async () => {
    const page = await signedIn('query');
    await run(page, 'SELECT name FROM svc.town');
    await page.locator('.grid .line').first().waitFor();
    await page.getByRole('button', { name: 'New query' }).click();
    await run(page, 'SELECT 3 AS three');
    await page.getByRole('columnheader', { name: 'three' }).waitFor();
    await page.getByRole('button', { name: 'town', exact: true }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'SQL' }).textContent()).toContain('svc.town');
    await page.getByRole('button', { name: 'History' }).click();
    expect(await page.locator('.history button').allTextContents()).toEqual(['SELECT 3 AS three', 'SELECT name FROM svc.town']);
  });

  it('shows nothing of the last user to the next one in the same page', async () => {
    const page = await logsIn();
    await page.goto(`${base}/svc/console/#/shop/data?entity=town%3A2`);
    await page.locator('.entity').waitFor();
    await page.goto(`${base}/svc/console/#/shop/query`);
    await run(page, 'SELECT name FROM svc.town');
    await page.locator('.grid .line').first().waitFor();
    // it is removed also by a page that has not shown it
    await page.goto(`${base}/svc/console/#/shop/model`);
    await page.reload();
    const stored = (): Promise<string> => page.evaluate('JSON.stringify(localStorage)');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await stored()).toContain('svc.town');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token or JWT').waitFor();
    expect(await stored()).not.toContain('svc.town');
    await page.goto(`${base}/svc/console/#/shop/query`);
    await page.getByLabel('API token or JWT').fill(token);
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'SQL' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'SQL' }).textContent()).not.toContain('svc.town');
    await page.getByRole('button', { name: 'History' }).click();
    expect(await page.locator('.history button').count()).toBe(0);
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    await page.getByText('Search for an entity to begin').waitFor();
    expect(await page.locator('.entity').count()).toBe(0);
  });

  it('cancels a statement that takes long', async () => {
    const page = await signedIn('query');
    await run(
      page,
      'SELECT COUNT(*) AS n FROM svc.town a, svc.town b, svc.town c, svc.town d, svc.town e, svc.town f, svc.town g, svc.town h, svc.town i, svc.town j, svc.town k, svc.town l',
    );
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Cancelled').waitFor();
  });

  it('explains a statement', async () => {
    const page = await signedIn('query');
    await page.getByRole('textbox', { name: 'SQL' }).click();
    await page.keyboard.insertText('SELECT name FROM dsvc.region');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('Read concept dsvc.region').waitFor();
  });

  it('draws a chart of numbers', async () => {
    const page = await signedIn('query');
    await run(page, 'SELECT placed, total FROM svc.order ORDER BY placed');
    await page.locator('.grid .line').first().waitFor();
    await page.getByRole('button', { name: 'Chart' }).click();
    await page.locator('.chart canvas').waitFor();
    expect(await page.getByLabel('Kind of chart').inputValue()).toBe('line');
    expect(await page.getByLabel('Along').inputValue()).toBe('placed');
    expect(complaints).toEqual([]);
  });

  it('shows nested rows as JSON', async () => {
    const page = await signedIn('query');
    await page.getByLabel('Nested').check();
    await run(page, `SELECT entity_id, name, "has_town[town].name" FROM dsvc.region WHERE code = 'S'`);
    await page.locator('.grid .line').first().waitFor();
    await page.getByRole('button', { name: 'JSON' }).click();
    expect(await page.locator('.result .code').textContent()).toContain('"name": "Lisbon"');
  });

  it('opens a query from a link, and shares one', async () => {
    const page = await signedIn();
    await page.goto(`${base}/svc/console/#/shop/query?${new URLSearchParams({ sql: 'SELECT 42 AS answer' })}`);
    await page.getByRole('textbox', { name: 'SQL' }).waitFor();
    await expect.poll(() => page.getByRole('textbox', { name: 'SQL' }).textContent()).toContain('42 AS answer');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.locator('.grid .line').first().waitFor();
    expect(await cells(page)).toEqual([['42']]);
  });

  it('finds an entity, counts its links in one request, expands in one, and undoes', async () => {
    const page = await signedIn('data?concept=town');
    await page.getByRole('button', { name: /^Porto/ }).click();
    await page.getByRole('button', { name: 'has_customer[customer] (1)' }).waitFor();
    const before = requested.length;
    await page.getByRole('button', { name: 'in_region[region] (1)' }).click();
    await expect.poll(() => page.locator('.entity').count()).toBe(2);
    expect(requested.slice(before).length).toBe(1);
    expect(await page.locator('.tie text').textContent()).toBe('in_region');
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => page.locator('.entity').count()).toBe(1);
    await page.getByRole('button', { name: 'Redo' }).click();
    await expect.poll(() => page.locator('.entity').count()).toBe(2);
    expect((await console.answers()).join('')).not.toContain('secret_wage');
  });

  it('finds a shortest path between two entities', async () => {
    const page = await signedIn('data?entities=town%3A4%0Atown%3A1');
    await expect.poll(() => page.locator('.entity').count()).toBe(2);
    await page.locator('.entity', { hasText: 'Viana' }).click();
    await page.getByRole('button', { name: 'Find path' }).click();
    await expect.poll(() => page.locator('.entity').count()).toBe(4);
    expect(await page.locator('.tie').count()).toBe(3);
  });

  it('expands a relationship for all entities of a concept in one request', async () => {
    const page = await signedIn('data?entities=town%3A2%0Atown%3A3%0Atown%3A1');
    await page.getByRole('button', { name: 'town', exact: true }).click();
    const all = page.getByRole('region', { name: 'Look and neighbours of town' });
    await all.getByRole('button', { name: 'in_region[region] (2)' }).waitFor();
    const before = requested.length;
    await all.getByRole('button', { name: 'in_region[region] (2)' }).click();
    await expect.poll(() => page.locator('.entity').count()).toBe(5);
    expect(requested.length - before).toBe(1);
    expect(await page.locator('.tie').count()).toBe(3);
    await page.getByText('Entities in the drawing').click();
    const north = page.getByRole('row', { name: /region:N/ });
    expect(await north.getByRole('cell').allTextContents()).toEqual(['North', 'region', 'region:N', '2']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => page.locator('.entity').count()).toBe(3);
  });

  it('styles a concept by its properties; undo, the file and the link keep the style', async () => {
    const page = await signedIn('data?entities=town%3A1%0Atown%3A2%0Atown%3A3', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByRole('button', { name: 'town', exact: true }).click();
    await page.getByRole('button', { name: 'near[town] (2)' }).click();
    await expect.poll(() => page.locator('.tie').count()).toBe(2);
    const fills = (of: Page): Promise<string[]> =>
      of.locator('.entity circle').evaluateAll((circles) => [...new Set(circles.map((c) => c.getAttribute('fill') ?? ''))]);
    await page.getByLabel('Colour by').selectOption('code');
    await expect.poll(async () => (await fills(page)).length).toBe(2);
    expect(await page.locator('.legend .value').allTextContents()).toEqual(['N', 'S']);
    await page.getByLabel('Size by').selectOption('town_no');
    await page.getByText('size 1 to 3').waitFor();
    await page.getByRole('combobox', { name: 'Text' }).selectOption('town_no');
    await expect.poll(async () => (await page.locator('.entity text').allTextContents()).sort()).toEqual(['1', '2', '3']);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(async () => (await page.locator('.entity text').allTextContents()).sort()).toEqual(['Braga', 'Lisbon', 'Porto']);
    await page.getByRole('button', { name: 'Redo' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const file = await (await download).path();
    await page.getByRole('button', { name: 'Copy link' }).click();
    const link = (await page.evaluate('navigator.clipboard.readText()')) as string;
    const other = await signedIn();
    await other.goto(link);
    await expect.poll(() => other.locator('.tie').count()).toBe(2);
    await expect.poll(async () => (await other.locator('.entity text').allTextContents()).sort()).toEqual(['1', '2', '3']);
    expect(await other.locator('.legend .value').allTextContents()).toEqual(['N', 'S', 'size 1 to 3']);
    await other.getByRole('button', { name: 'Clear' }).click();
    await other.locator('input[type=file]').setInputFiles(file);
    await expect.poll(async () => (await fills(other)).length).toBe(2);
    expect(await other.locator('.tie').count()).toBe(2);
    // and again
    await other.getByRole('button', { name: 'Clear' }).click();
    await other.locator('input[type=file]').setInputFiles(file);
    await expect.poll(async () => (await fills(other)).length).toBe(2);
    expect(complaints).toEqual([]);
  });

  it('finds an entity by a value, and names the property', async () => {
    const page = await signedIn('data');
    // all concepts are searched at first
    await page.getByRole('searchbox').fill('porto');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.found button').allTextContents()).toEqual(['Porto town']);
    for (const [text, found] of [
      ['xxxx', '<img'],
      ['30.50', 'order, total'],
    ] as const) {
      await page.getByRole('searchbox').fill(text);
      await page.keyboard.press('Enter');
      await expect.poll(() => page.locator('.found button').allTextContents()).toEqual([expect.stringContaining(found)]);
    }
    await page.getByRole('combobox', { name: 'Concept' }).selectOption('town');
    await page.getByRole('searchbox').fill('N');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.found button').allTextContents()).toEqual(['Viana town', 'Lisbon town', 'Braga town, code', 'Porto town, code']);
  });

  describe('changing the model', () => {
    const admin = (place: string): Promise<Page> => console.admin(place);
    const write = async (page: Page, script: string): Promise<void> => {
      await page.getByRole('textbox', { name: 'Script' }).click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(script);
    };

    it('plans a change, applies it, and rolls it back', async () => {
      const page = await admin('edit');
      await page.getByRole('button', { name: 'region', exact: true }).click();
      await page.getByRole('textbox', { name: 'Script' }).waitFor();
      await write(page, "CREATE CONCEPT region (code string, name string, PRIMARY KEY (code), LABEL (name)) DESCRIPTION 'A part of the country'");
      await page.getByRole('button', { name: 'Plan', exact: true }).click();
      await page.getByText('1 object changes.').waitFor();
      expect(await page.locator('.diff .added').allTextContents()).toEqual([expect.stringContaining("DESCRIPTION = 'A part of the country'")]);
      const statements = page.getByRole('group').filter({ hasText: 'Apply runs these statements' }).locator('pre');
      expect(await statements.textContent()).toMatch(/^CREATE OR REPLACE CONCEPT `region`[\s\S]*DESCRIPTION = 'A part of the country';$/);
      await page.getByRole('button', { name: 'Apply 1 change' }).click();
      await page.getByText('Applied as version').waitFor();
      await page.getByRole('link', { name: 'Model', exact: true }).click();
      await page.getByRole('button', { name: 'region', exact: true }).first().click();
      await page.getByRole('complementary', { name: 'region' }).getByText('A part of the country').waitFor();
      await page.getByRole('link', { name: 'Edit', exact: true }).click();
      // the view before it has a button of that name, too
      await page.getByRole('button', { name: 'Versions' }).waitFor();
      await page.getByRole('button', { name: 'region', exact: true }).click();
      await page.getByRole('textbox', { name: 'Script' }).waitFor();
      await page.getByRole('button', { name: 'Versions' }).click();
      // one of the list is marked: what is shown
      expect(await page.locator('.list [aria-pressed=true]').allTextContents()).toEqual(['Versions']);
      await page.locator('.versions .item').nth(1).click();
      await page.getByText(/ROLLBACK ONTOLOGY "shop" TO VERSION/).waitFor();
      await page.getByText('Rolling back to it changes:').waitFor();
      expect(await page.locator('.diff .removed').allTextContents()).toEqual([expect.stringContaining("DESCRIPTION = 'A part of the country'")]);
      await page.getByRole('button', { name: 'Roll back to this version' }).click();
      await page.getByText('as a new version').waitFor();
      const script = await ask(base, '/svc/api/query', {
        method: 'POST',
        headers: { 'x-api-key': token, 'content-type': 'application/json' },
        body: JSON.stringify({ ontology_name: 'shop', query: 'SHOW CREATE CONCEPT region' }),
      });
      expect(script.text).not.toContain('A part of the country');
    });

    it('says that nothing changes, and shows an error at its place', async () => {
      const page = await admin('edit');
      await page.getByRole('button', { name: 'town', exact: true }).click();
      await page.getByRole('button', { name: 'Plan', exact: true }).click();
      await page.getByText('Nothing changes.').waitFor();
      await write(page, 'CREATE CONCEPT town (town_no\n  integr)');
      await page.getByRole('button', { name: 'Plan', exact: true }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').textContent()).toContain('integr');
    });

    it('validates a script without a plan', async () => {
      const page = await admin('edit');
      await page.getByRole('button', { name: 'New script' }).click();
      await write(page, 'CREATE CONCEPT park (no integer, PRIMARY KEY (nr))');
      await page.getByRole('button', { name: 'Validate' }).click();
      expect(await page.getByRole('alert').textContent()).toContain('nr');
      await write(page, 'CREATE CONCEPT park (no integer, PRIMARY KEY (no))');
      await page.getByRole('button', { name: 'Validate' }).click();
      await page.getByText('The script is valid.').waitFor();
      expect(await page.getByRole('button', { name: /^Apply/ }).count()).toBe(0);
      await page.getByRole('link', { name: 'Model', exact: true }).click();
      await page.getByRole('button', { name: 'region', exact: true }).first().waitFor();
      expect(await page.getByRole('button', { name: 'park', exact: true }).count()).toBe(0);
    });

    it('drops an object after a question that shows the statement', async () => {
      const page = await admin('edit');
      await page.getByRole('button', { name: 'New script' }).click();
      await write(page, 'CREATE CONCEPT short_lived (n integer, PRIMARY KEY (n))');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('button', { name: /^Apply/ }).click();
      await page.getByText('Applied as version').waitFor();
      await page.getByRole('button', { name: 'short_lived', exact: true }).click();
      await page.getByRole('button', { name: 'Drop' }).click();
      await page.getByText('DROP CONCEPT "short_lived"').waitFor();
      await page.getByRole('button', { name: 'Drop' }).click();
      await page.getByText('short_lived was dropped.').waitFor();
    });

    it('is explained to users without the right', async () => {
      const page = await signedIn('edit');
      await page.getByText('Changing this ontology needs EDIT on it.').waitFor();
      await page.getByText('GRANT EDIT ON ALL ontology."shop" TO USER "ann"').waitFor();
      await page.getByText('admin_token in .dev/session.json').waitFor();
    });

    it('creates a user, grants, sees as the user, and revokes', async () => {
      const page = await admin('access');
      await page.getByText('Create a user', { exact: true }).first().click();
      const form = page.locator('details.form', { hasText: 'Create a user' });
      await form.getByLabel('User').fill('nimda\u202e');
      await form.getByText('CREATE USER "nimda\\u202e"').waitFor();
      await form.getByLabel('User').fill('new one');
      await form.getByText('CREATE USER "new one"').waitFor();
      await form.getByRole('button', { name: 'Create a user' }).click();
      await page.getByRole('cell', { name: 'new one' }).first().waitFor();
      await page.getByText('Grant a right', { exact: true }).first().click();
      const grant = page.locator('details.form', { hasText: 'Grant a right' });
      await grant.getByLabel('Only on the concept').selectOption('region');
      await grant.getByLabel('Name').fill('new one');
      await grant.getByText('GRANT QUERY ON ontology."shop".concept."region" TO USER "new one"').waitFor();
      await grant.getByRole('button', { name: 'Grant a right' }).click();
      // other users have the same right
      await page.getByRole('row', { name: /new one QUERY/ }).waitFor();
      await page.getByLabel('User', { exact: true }).first().fill('new one');
      await page.getByRole('button', { name: 'See as this user' }).click();
      await page.getByText('Seen as new one').waitFor();
      await page.getByRole('link', { name: 'Model', exact: true }).click();
      await expect.poll(() => page.locator('.node > text').allTextContents()).toEqual(['region']);
      await page.getByRole('button', { name: 'Stop' }).click();
      await expect.poll(() => page.locator('.node').count()).toBe(5);
      await page.getByRole('link', { name: 'Access', exact: true }).click();
      const row = page.getByRole('row', { name: /new one QUERY/ });
      await row.getByRole('button', { name: 'Revoke' }).click();
      await row.getByText('REVOKE QUERY ON ontology.shop.concept.region FROM USER "new one"').waitFor();
      await row.getByRole('button', { name: 'Revoke' }).click();
      await expect.poll(() => page.getByRole('row', { name: /new one QUERY/ }).count()).toBe(0);
      await page.getByRole('combobox', { name: 'Changes' }).selectOption('users, rights and policies');
      await page.getByLabel('User or statement contains').fill('new one');
      await page.keyboard.press('Enter');
      await page.getByRole('table', { name: 'Changes of models and rights' }).waitFor();
      expect(await page.locator('.changes td:nth-child(3)').allTextContents()).toEqual([
        'REVOKE QUERY ON ontology.shop.concept.region FROM USER `new one`',
        'GRANT QUERY ON ontology.shop.concept.region TO USER `new one`',
        'CREATE USER `new one`',
      ]);
    });

    it('says in words what policies hide, and names the questions about a concept and what uses it', async () => {
      const change = async (query: string): Promise<void> => {
        const headers = { 'x-api-key': token, 'content-type': 'application/json' };
        const answer = await ask(base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ ontology_name: 'shop', query }) });
        expect(answer.status, answer.text).toBe(200);
      };
      await change(`CREATE POLICY near_towns ON CONCEPT town TO USER ann USING (town_no < 3); CREATE POLICY no_code ON PROPERTY code MASK NULL; CREATE POLICY short ON PROPERTY name OF CONCEPT town MASK PARTIAL(2, '-', 0);
        CREATE EXAMPLE 'Which towns are there?' AS SELECT town_no FROM svc.town`);
      const page = await signedIn('model?concept=town');
      const details = page.getByRole('complementary', { name: 'town' });
      await details.getByText('A row policy decides which rows of town you see.').waitFor();
      const words = await details.getByRole('heading', { name: 'What you see of it' }).locator('+ ul > li').allTextContents();
      expect(words.sort()).toEqual([
        'A row policy decides which rows of town you see.',
        'You see NULL instead of code',
        'You see only some characters of name',
      ]);
      expect(await details.locator('table tbody tr').count()).toBe(2);
      // the result of a query says it, too
      await page.getByRole('link', { name: 'Query', exact: true }).click();
      const hidden = page.getByText('Policies hide some of it');
      await run(page, 'SELECT name FROM svc.town');
      await hidden.waitFor();
      await run(page, 'SELECT order_no FROM svc.order');
      await hidden.waitFor({ state: 'detached' });
      await run(page, 'SELECT name FROM svc.town');
      await hidden.click();
      await page.getByText('You see NULL instead of code').waitFor();
      await page.goto(`${base}/svc/console/#/shop/model?concept=town`);
      await change('DROP POLICY near_towns; DROP POLICY no_code; DROP POLICY short');
      await page.reload();
      await details.getByText('No row policy or mask limits what you see.').waitFor();
      await details.getByRole('link', { name: 'Which towns are there?' }).click();
      await expect.poll(() => page.getByRole('textbox', { name: 'SQL' }).textContent()).toContain('SELECT town_no FROM svc.town');
      await change("DROP EXAMPLE 'Which towns are there?'");
    });

    it('hides rows by a policy', async () => {
      const page = await admin('access');
      await page.getByText('Create a row policy', { exact: true }).first().click();
      const form = page.locator('details.form', { hasText: 'Create a row policy' });
      await form.getByLabel('Name').fill('south');
      await form.getByLabel('Concept').selectOption('region');
      await form.getByLabel('To (PUBLIC').fill('user ann');
      await form.getByLabel('Rows that they see').fill("code = 'S'");
      await form.getByText(`CREATE POLICY "south" ON CONCEPT "region" TO USER "ann" USING (code = 'S')`).waitFor();
      await form.getByRole('button', { name: 'Create a row policy' }).click();
      await page.getByRole('cell', { name: 'south' }).waitFor();
      const reader = await signedIn('query');
      await run(reader, 'SELECT name FROM svc.region');
      await reader.locator('.grid .line').first().waitFor();
      expect(await cells(reader)).toEqual([['South']]);
      await page.getByRole('row', { name: /south/ }).getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('row', { name: /south/ }).getByRole('button', { name: 'Remove' }).click();
      await page.getByText('This ontology has no policies').waitFor();
    });
  });

  it('shows an error when the connection is lost, and goes on afterwards', async () => {
    const page = await signedIn('query');
    await page.getByRole('textbox', { name: 'SQL' }).waitFor();
    await page.route('**/svc/api/query', (route) => route.abort());
    await run(page, 'SELECT 1 AS one');
    await page.getByText('The service cannot be reached').first().waitFor();
    await page.unroute('**/svc/api/query');
    await page.keyboard.press('Control+Enter');
    await page.locator('.grid .line').first().waitFor();
  });

  it('creates a token, and shows the statement that does', async () => {
    const page = await signedIn('connect');
    await page.getByText(/CREATE TOKEN FOR "ann" EXPIRES/).waitFor();
    expect(await page.locator('.connect').textContent()).toContain(`claude mcp add --transport http svc '${base}/svc/api/mcp?ontology=shop'`);
    // ann may create none, and reads where there is one
    await page.getByRole('button', { name: 'Create a token' }).click();
    await page.getByRole('alert').getByText('npm start has printed the token of its demo user').waitFor();
  });

  it('creates an ontology from tables: the choice, the guess, the plan and the rows', async () => {
    const page = await console.admin('model');
    await page.getByRole('link', { name: 'Ontologies', exact: true }).click();
    await page.getByLabel('Name').fill('own "one"');
    await page.getByText('CREATE ONTOLOGY "own ""one"""').waitFor();
    await page.getByRole('button', { name: 'Create an ontology' }).click();
    await page.getByRole('button', { name: 'From your tables' }).click();
    await page.getByText('SHOW DATASOURCE "main"').waitFor();
    await page.getByRole('button', { name: 'Read the tables' }).click();
    await page.getByLabel('Schema').selectOption('shop');
    for (const table of ['orders', 'wages', 'customers']) await page.getByRole('checkbox', { name: new RegExp(`^${table} `) }).uncheck();
    await page.getByText(/FROM shop.towns/).waitFor();
    await page.getByRole('button', { name: 'Open it in the editor' }).click();
    await page.getByRole('button', { name: 'Plan', exact: true }).click();
    await page.getByRole('button', { name: /^Apply \d+ changes$/ }).click();
    await page.getByText('Applied as version').waitFor();
    await page.getByRole('link', { name: 'Query', exact: true }).click();
    await run(page, 'SELECT name FROM svc.region ORDER BY name');
    await page.locator('.grid .line').first().waitFor();
    expect(await cells(page)).toEqual([['North'], ['South']]);
    const headers = { 'x-api-key': token, 'content-type': 'application/json' };
    await ask(base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ query: 'DROP ONTOLOGY "own ""one"""' }) });
  });

  it('makes a token with a label, and revokes it in the list of the user', async () => {
    const page = await console.admin('access');
    const form = page.locator('details.form', { hasText: 'Create a token' });
    await form.getByText('Create a token', { exact: true }).first().click();
    await form.getByLabel('User').fill('ann');
    await form.getByLabel('What it is for').fill("Ann's script");
    await form.getByText(/CREATE TOKEN FOR "ann" LABEL 'Ann''s script' EXPIRES/).waitFor();
    await form.getByRole('button', { name: 'Create a token' }).click();
    await form.getByText(/^tk_/).waitFor();
    const list = page.locator('details.form', { hasText: 'API tokens of a user' });
    await list.getByText('API tokens of a user', { exact: true }).first().click();
    await list.getByLabel('User').fill('ann');
    await list.getByRole('button', { name: 'Show tokens' }).click();
    const row = list.getByRole('row', { name: /Ann's script/ });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await row.getByText(/REVOKE TOKEN '[0-9a-f-]{36}'/).waitFor();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await expect.poll(() => list.getByRole('row', { name: /Ann's script/ }).count()).toBe(0);
    await page.getByRole('link', { name: 'Connect', exact: true }).click();
    expect(await page.getByRole('link', { name: 'Programs with access' }).getAttribute('href')).toBe('/svc/oauth/grants');
  });

  it('has no serious accessibility problem with forms, a drawing and settings open', async () => {
    const page = await console.admin('data?entities=town%3A1%0Atown%3A2', { bypassCSP: true });
    await page.getByRole('button', { name: 'town', exact: true }).click();
    await page.getByLabel('Colour by').selectOption('code');
    await page.getByText('Entities in the drawing').click();
    const found: Record<string, readonly string[]> = { data: await serious(page) };
    await page.goto(`${base}/svc/console/#/shop/edit`);
    await page.getByRole('button', { name: 'From your tables' }).click();
    await page.getByRole('button', { name: 'Read the tables' }).click();
    await page.getByRole('button', { name: 'Open it in the editor' }).waitFor();
    found.tables = await serious(page);
    await page.goto(`${base}/svc/console/#/shop/access`);
    await page.getByText('Create a user', { exact: true }).first().waitFor();
    for (const summary of await page.locator('details.form > summary').all()) await summary.click();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('table', { name: 'Changes of models and rights' }).waitFor();
    found.access = await serious(page);
    expect(found).toEqual({ data: [], tables: [], access: [] });
  });

  it.each(['', 'sign-in', 'model?concept=order', 'data?concept=town', 'query', 'edit', 'access', 'connect'].map((place, i) => [place, i] as const))(
    'has no serious accessibility problem: %s',
    async (place, i) => {
      const page = place === 'sign-in' ? await open({ bypassCSP: true }) : await signedIn(place, { bypassCSP: true });
      if (place === 'sign-in') await page.goto(`${base}/`);
      await page.waitForTimeout(600);
      for (const colorScheme of oneIn(SIZES.everyScheme, ['light', 'dark'] as const, i)) {
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(300);
        expect(await serious(page), colorScheme).toEqual([]);
      }
    },
  );

  it('fits a small screen, and a large one', async () => {
    const page = await signedIn('', { viewport: { width: 360, height: 740 } });
    for (const place of ['model?concept=order', 'data?concept=town', 'query', 'edit', 'access', 'connect']) {
      await page.goto(`${base}/svc/console/#/shop/${place}`);
      await page.waitForTimeout(500);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    }
    await page.setViewportSize({ width: 3840, height: 2160 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(3840);
  });

  it('has no view for questions without a language model', async () => {
    const page = await signedIn('ask');
    await page.getByText('This service has no language model').waitFor();
    expect(await page.getByRole('link', { name: 'Ask', exact: true }).count()).toBe(0);
  });

  it('loads nothing from elsewhere', async () => {
    const page = await signedIn('query');
    await run(page, 'SELECT 1 AS one');
    await page.locator('.grid .line').first().waitFor();
    expect(requested.filter((url) => !url.startsWith(`${base}/svc/`) && url !== `${base}/` && !url.startsWith('data:') && !url.startsWith('blob:'))).toEqual(
      [],
    );
  });

  describe('over HTTP', () => {
    const json = { 'content-type': 'application/json' };

    it('gives a token to nobody without a session, without its nonce, or from another site', async () => {
      const token = async (headers: Record<string, string>, body = '{"form_token":"x"}') =>
        (await ask(base, '/svc/console/token', { method: 'POST', headers: { ...json, ...headers }, body })).status;
      expect(await token({})).toBe(401);
      expect(await token({ origin: 'https://evil.example' })).toBe(403);
      expect(await token({ origin: base, 'sec-fetch-site': 'same-site' })).toBe(403);
      const page = await signedIn();
      const cookies = (await page.context().cookies()).map((c) => `${c.name}=${c.value}`).join('; ');
      expect(await token({ cookie: cookies })).toBe(403);
      const { form_token } = JSON.parse((await ask(base, '/svc/console/session', { headers: { cookie: cookies } })).text) as { form_token: string };
      expect(await token({ cookie: cookies }, JSON.stringify({ form_token }))).toBe(200);
      expect(await token({ cookie: cookies, origin: 'https://evil.example' }, JSON.stringify({ form_token }))).toBe(403);
    });

    it('sends only its own files, with a strict policy', async () => {
      const index = await ask(base, '/svc/console/');
      expect(index.headers['content-security-policy']).toContain("script-src 'self'; style-src 'self'");
      expect(index.headers['content-security-policy']).not.toContain('unsafe');
      for (const path of [
        '/svc/console/assets/..%2f..%2fpackage.json',
        '/svc/console/assets/.stamp',
        '/svc/console/assets/none.js',
        '/index.html',
        '/assets/x.js',
      ])
        expect((await ask(base, path)).status, path).toBe(404);
      expect((await ask(base, '/svc/console')).headers.location).toBe('/svc/console/');
      expect((await ask(base, '/')).headers.location).toBe('/svc/console/');
    });
  });
});
