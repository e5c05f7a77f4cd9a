/** The console of the built Worker in a real browser, over the sample shop. */
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Frame, Page } from 'playwright-core';
import { expect } from 'vitest';
import { borrowPostgres } from '../../support/databases/index.ts';
import { openBrowser, openContext } from './chromium.ts';
import { loadShop, PASSWORD } from './console-shop.ts';
import { startBuiltWorkers } from './worker.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export interface ConsoleInBrowser {
  readonly base: string;
  /** The administrator's token. */
  readonly token: string;
  /** Errors of the browser, such as violations of the CSP. */
  readonly complaints: readonly string[];
  /** The URLs that the browser requested. */
  readonly requested: readonly string[];
  /** The bodies of the API's answers to the browser. */
  answers(): Promise<readonly string[]>;
  /** A page in a browser of its own. */
  open(options?: BrowserContextOptions): Promise<Page>;
  /** Logs in as ann with the login page, from the console and back to it, in a session that the test may end. */
  logsIn(): Promise<Page>;
  /** A page of ann, in a session that all tests share. @param place in the ontology shop; empty: the list of ontologies */
  signedIn(place?: string, options?: BrowserContextOptions): Promise<Page>;
  /** Signs in as the administrator, with the token. */
  admin(place: string, options?: BrowserContextOptions): Promise<Page>;
  /** SQL on the tables, as their owner. */
  sql(statement: string): Promise<unknown>;
  /** Closes all pages, forgets what they did, and waits for the database: workerd does not cancel a statement before its answer begins (its issue 4185). */
  reset(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the service with the shop and a browser. @param settings further settings of the service */
export async function startConsole(settings: Readonly<Record<string, string>> = {}): Promise<ConsoleInBrowser> {
  const database = await borrowPostgres();
  const workers = await startBuiltWorkers(database, { service: settings });
  const { token } = workers;
  const base = workers.urls.service;
  await loadShop(database, base, token);
  const browser: Browser = await openBrowser();
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  const requested: string[] = [];
  const answered: Promise<string>[] = [];

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await openContext(browser, { viewport: { width: 1280, height: 860 }, locale: 'en-US', ...options });
    contexts.push(context);
    const page = await context.newPage();
    page.on(
      'console',
      (message) => message.type() === 'error' && complaints.push(`${message.text()} (${message.location().url}:${message.location().columnNumber})`),
    );
    page.on('pageerror', (error) => complaints.push(`pageerror: ${error.message}`));
    page.on('request', (request) => requested.push(request.url()));
    page.on('response', (response) => {
      if (new URL(response.url()).pathname.startsWith('/svc/api/')) answered.push(response.text().catch(() => ''));
    });
    return page;
  }
  async function logsIn(): Promise<Page> {
    const page = await open();
    await page.goto(`${base}/`);
    await page.getByRole('link', { name: 'Sign in at the login page' }).click();
    await page.getByLabel('User name').fill('ann');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Ontologies' }).waitFor();
    return page;
  }
  // checking a password is slow on purpose
  let session: Awaited<ReturnType<BrowserContext['storageState']>> | undefined;
  async function signedIn(place = '', options: BrowserContextOptions = {}): Promise<Page> {
    session ??= await (await logsIn()).context().storageState();
    const page = await open({ ...options, storageState: session });
    await page.goto(`${base}/svc/console/${place === '' ? '' : `#/shop/${place}`}`);
    if (place === '') await page.getByRole('heading', { name: 'Ontologies' }).waitFor();
    return page;
  }
  async function admin(place: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await open(options);
    await page.goto(`${base}/svc/console/#/shop/${place}`);
    await page.getByLabel('API token or JWT').fill(token);
    await page.keyboard.press('Enter');
    return page;
  }
  return {
    base,
    token,
    complaints,
    requested,
    answers: () => Promise.all(answered),
    open,
    logsIn,
    signedIn,
    admin,
    sql: (statement) => database.exec(statement),
    async reset() {
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      complaints.length = 0;
      requested.length = 0;
      answered.length = 0;
      await database.exec('SELECT 1');
    },
    async close() {
      await browser.close();
      await workers.stop();
      await database.close();
    },
  };
}

/** Writes a statement into the editor of the query view, and runs it. */
export async function run(page: Page, sql: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'SQL' });
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(sql);
  await page.keyboard.press('Control+Enter');
}

/** The cells of the result that are in the page. */
export const cells = (page: Page): Promise<string[][]> =>
  page.locator('.grid .line').evaluateAll((lines) => lines.map((line) => [...line.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent ?? '')));

/** The serious findings of axe, which then spends no time on describing what passes. The page must have been opened with `bypassCSP`. */
export async function serious(page: Page | Frame): Promise<readonly string[]> {
  await page.addScriptTag({ path: AXE }).catch(() => undefined);
  const isThere = await page.evaluate(() => 'axe' in globalThis);
  expect(isThere).toBe(true);
  return page.evaluate(async () => {
    const { violations } = await (
      globalThis as unknown as { axe: { run(options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }
    ).axe.run({ resultTypes: ['violations'] });
    return violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => `${v.id}: ${v.nodes[0]?.html}`);
  });
}
