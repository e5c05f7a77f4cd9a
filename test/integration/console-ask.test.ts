/** Questions in words in the console, with the built Worker and a scripted model. */
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chat, type Heard, type Stub, startStub } from '../unit/llm/stub.ts';
import { type ConsoleInBrowser, cells, serious, startConsole } from './support/console-browser.ts';
import { HOSTILE } from './support/console-shop.ts';
import { ask } from './support/worker.ts';

const SQL = 'SELECT `made_by[customer].name` AS customer, SUM(total) AS total FROM dsvc.order WHERE total < 100 GROUP BY 1 ORDER BY 2 DESC';
const READINGS = [
  { reading: 'The orders of each customer', sql: 'SELECT name, COUNT(`made_order[order].order_no`) AS n FROM dsvc.customer GROUP BY 1' },
  {
    reading: 'The orders of each town',
    sql: 'SELECT name, COUNT(`has_customer[customer].made_order[order].order_no`) AS n FROM dsvc.town GROUP BY 1 ORDER BY 1',
  },
];

/** What the model writes: SQL, or readings, or a refusal; `held` waits for `release`. */
interface Script {
  readonly sql?: string;
  readonly readings?: typeof READINGS;
  readonly refusal?: string;
  readonly answer?: string;
  readonly isHeld?: boolean;
}

describe('asking in the console', () => {
  let console: ConsoleInBrowser;
  let stub: Stub;
  let release = (): void => undefined;

  beforeAll(async () => {
    stub = await startStub();
    console = await startConsole({ LLM_TYPE: 'openai-compatible', LLM_BASE_URL: `${stub.url}/v1`, LLM_MODEL: 'm', LLM_API_KEY: 'k' });
  });
  afterEach(async () => {
    release();
    await console.reset();
  });
  afterAll(async () => {
    await console?.close();
    await stub?.close();
  });

  const stageOf = ({ body }: Heard): string => {
    const { properties } = (body.response_format as { json_schema: { schema: { properties: Record<string, unknown> } } }).json_schema.schema;
    return 'answer' in properties ? 'answer' : 'sql' in properties ? 'sql' : 'concept';
  };
  /** The model follows the script. A chosen reading is in its prompt. */
  function play({ sql = SQL, readings, refusal, answer = 'Ann bought most.', isHeld = false }: Script): void {
    stub.play((response, heard) => {
      const stage = stageOf(heard);
      const reply = (value: object): void => chat(response, JSON.stringify(value));
      if (stage === 'concept') return reply({ reason: 'r', concept: 'order' });
      if (stage === 'answer') return reply({ answer });
      const chosen = readings?.find((r) => heard.raw.includes(`meant like this: <<<${r.reading}>>>`));
      const made = { reason: 'so', sql: chosen?.sql ?? (readings === undefined && refusal === undefined ? sql : ''), refusal: refusal ?? null };
      const write = (): void => reply(chosen === undefined && readings !== undefined ? { ...made, readings } : made);
      if (isHeld) release = once(write);
      else write();
    });
  }
  const once = (work: () => void) => (): void => {
    release = () => undefined;
    work();
  };
  const question = async (page: Page, text: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Your question' }).fill(text);
    await page.keyboard.press('Enter');
  };
  const last = (page: Page) => page.locator('.turn').last();

  it('answers with words, rows and SQL that opens in Query', async () => {
    play({ answer: 'Ann paid 7.00, and another one 30.50.' });
    const page = await console.signedIn('model');
    await page.getByRole('link', { name: 'Ask', exact: true }).click();
    await question(page, 'What did each customer pay for small orders?');
    await page.getByText('Ann paid 7.00, and another one 30.50.').waitFor();
    expect(await cells(page)).toEqual([
      [HOSTILE, '30.5'],
      ['Ann', '7'],
    ]);
    expect(await page.locator('img').count()).toBe(0);
    // ann may not store examples
    expect(await page.getByRole('button', { name: 'Good answer' }).count()).toBe(0);
    await last(page).getByText('SQL', { exact: true }).click();
    await last(page).getByRole('link', { name: 'Open in Query' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'SQL' }).textContent()).toContain('FROM dsvc.order WHERE total < 100');
    // the conversation is still there
    await page.getByRole('link', { name: 'Ask', exact: true }).click();
    await page.getByText('Ann paid 7.00, and another one 30.50.').waitFor();
    // the console asks whether ann may store examples
    expect(console.complaints.filter((c) => !c.includes('403 (Forbidden)'))).toEqual([]);
  });

  it('shows each step while the answer is made, and can be cancelled', async () => {
    play({ isHeld: true });
    const page = await console.signedIn('ask');
    await question(page, 'Who buys most?');
    await page.getByText('Writing the SQL').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await last(page).getByText('Cancelled').waitFor();
    release();
    play({});
    await question(page, 'Who buys most?');
    await page.getByText('Ann bought most.').waitFor();
  });

  it('offers the readings of an ambiguous question, and answers the chosen one', async () => {
    play({ readings: READINGS, answer: 'Lisbon has two.' });
    const page = await console.signedIn('ask');
    await question(page, 'How many orders are there for each?');
    await page.getByText('This can mean several things.').waitFor();
    expect(await page.locator('.readings > div > button').allTextContents()).toEqual(READINGS.map((r) => r.reading));
    await page.getByRole('button', { name: 'The orders of each town' }).click();
    await page.getByText('Lisbon has two.').waitFor();
    expect(await cells(page)).toEqual([
      ['Braga', '0'],
      ['Lisbon', '2'],
      ['Porto', '1'],
      ['Viana', '0'],
    ]);
    expect(await page.getByRole('button', { name: 'The orders of each town' }).getAttribute('aria-pressed')).toBe('true');
  });

  it('says why a question is not answered', async () => {
    play({ refusal: 'the graph has no weather' });
    const page = await console.signedIn('ask');
    await question(page, 'Will it rain?');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('the graph has no weather');
  });

  it('sends what was asked before with the next question, and forgets it with the conversation', async () => {
    play({});
    const page = await console.signedIn('ask');
    await question(page, 'What did customers pay in January?');
    await page.getByText('Ann bought most.').waitFor();
    await question(page, 'And in February?');
    await expect.poll(() => page.getByText('Ann bought most.').count()).toBe(2);
    expect(stub.heard.some((h) => h.raw.includes('And in February?') && h.raw.includes('What did customers pay in January?'))).toBe(true);
    await page.getByRole('button', { name: 'New conversation' }).click();
    stub.heard.length = 0;
    await question(page, 'Who buys?');
    await page.getByText('Ann bought most.').waitFor();
    expect(stub.heard.some((h) => h.raw.includes('January'))).toBe(false);
  });

  it('stores a good answer as an example, and a corrected one', async () => {
    play({});
    const page = await console.admin('ask');
    await question(page, "Who pays what, in 'small' orders?");
    await page.getByText('Ann bought most.').waitFor();
    await page.getByRole('button', { name: 'Good answer' }).click();
    await page.getByText(`CREATE OR REPLACE EXAMPLE 'Who pays what, in ''small'' orders?' AS`).waitFor();
    await page.getByRole('button', { name: 'Store the example' }).click();
    await page.getByText('The example was stored.').waitFor();
    await question(page, 'How many towns?');
    await expect.poll(() => page.getByRole('button', { name: 'Wrong answer' }).count()).toBe(2);
    await page.getByRole('button', { name: 'Wrong answer' }).last().click();
    await page.getByLabel('Right SQL').fill('SELECT COUNT(*) AS n FROM dsvc.twon');
    await page.getByRole('button', { name: 'Store the example' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Right SQL').fill('SELECT COUNT(*) AS n FROM dsvc.town');
    await page.getByRole('button', { name: 'Store the example' }).click();
    await expect.poll(() => page.getByText('The example was stored.').count()).toBe(2);
    const headers = { 'x-api-key': console.token, 'content-type': 'application/json' };
    const body = JSON.stringify({ ontology_name: 'shop', query: 'SELECT question, query FROM svc.SYS_EXAMPLES ORDER BY question' });
    const stored = JSON.parse((await ask(console.base, '/svc/api/query', { method: 'POST', headers, body })).text) as { data: unknown };
    expect(stored.data).toEqual([
      { question: 'How many towns?', query: 'SELECT COUNT(*) AS n FROM dsvc.town' },
      { question: "Who pays what, in 'small' orders?", query: SQL },
    ]);
    // examples are offered to begin with, and answered without the model
    stub.heard.length = 0;
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByRole('button', { name: 'How many towns?' }).click();
    await page.getByText('Ann bought most.').waitFor();
    expect(await cells(page)).toEqual([['4']]);
    expect(stub.heard.map(stageOf)).toEqual(['answer']);
  });

  it('shows nothing of the conversation to the next user', async () => {
    play({});
    const page = await console.logsIn();
    await page.goto(`${console.base}/svc/console/#/shop/ask`);
    await question(page, 'Who buys most?');
    await page.getByText('Ann bought most.').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token or JWT').fill(console.token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Ask a question' }).waitFor();
    expect(await page.locator('.turn').count()).toBe(0);
  });

  it('is accessible, and fits a small screen', async () => {
    play({ readings: READINGS });
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await console.signedIn('ask', { colorScheme, bypassCSP: true, viewport: { width: 360, height: 740 } });
      await page.getByRole('textbox', { name: 'Your question' }).waitFor();
      expect(await serious(page)).toEqual([]);
      await question(page, 'How many orders are there for each?');
      await page.getByRole('button', { name: 'The orders of each customer' }).click();
      await page.getByText('Ann bought most.').waitFor();
      await page.locator('.grid .line').first().waitFor();
      expect(await serious(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    }
  });
});
