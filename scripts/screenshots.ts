/** `npm run screenshots`: takes the pictures of docs/console.md from the sample graph of a running `npm start`. SESSION_FILE names its session file. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { consoleLink } from '../dev/start/provision.ts';
import { openBrowser } from '../test/integration/support/chromium.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const FOLDER = join(PROJECT, 'docs', 'images');

const SQL = `SELECT "in_country[country].name" AS country, SUM("measure.city_population") AS inhabitants
FROM dsvc.city
WHERE "in_country[country].region_name" = 'Europe'
GROUP BY 1
ORDER BY inhabitants DESC
LIMIT 12`;

/** The pictures: where they are taken, and what is done before. */
const PICTURES: Readonly<Record<string, { readonly place: string; readonly steps: (page: Page) => Promise<void> }>> = {
  ontologies: { place: '#/', steps: async (page) => page.getByText('world').first().waitFor() },
  model: {
    place: '#/world/model?concept=country',
    steps: async (page) => page.locator('.details table').waitFor(),
  },
  query: {
    place: `#/world/query?${new URLSearchParams({ sql: SQL })}`,
    steps: async (page) => {
      await page.getByText('city_population').first().waitFor();
      await page.getByRole('button', { name: 'Run' }).click();
      await page.locator('.grid .line').first().waitFor();
    },
  },
  chart: {
    place: `#/world/query`,
    steps: async (page) => {
      await page.getByRole('button', { name: 'Run' }).click();
      await page.locator('.grid .line').first().waitFor();
      await page.getByRole('button', { name: 'Chart' }).click();
      await page.locator('.chart canvas').waitFor();
    },
  },
  data: {
    place: '#/world/data?entity=country%3APRT',
    steps: async (page) => {
      for (const name of ['borders[country]', 'speaks[language]', 'uses[currency]', 'in_subregion[subregion]', 'has_capital[capital]']) {
        const shown = await page.locator('.entity').count();
        await page.getByRole('button', { name }).click();
        for (let i = 0; i < 50 && (await page.locator('.entity').count()) === shown; i++) await page.waitForTimeout(100);
      }
      await page.getByRole('button', { name: 'Spain, country' }).click();
      await page.getByRole('button', { name: 'borders[country] (' }).click();
      await page.waitForTimeout(1500);
    },
  },
  edit: {
    place: '#/world/edit',
    steps: async (page) => {
      await page.getByRole('button', { name: 'language', exact: true }).click();
      await page.getByRole('textbox', { name: 'Script' }).waitFor();
      await page.waitForTimeout(800);
    },
  },
  access: { place: '#/world/access', steps: async (page) => page.getByRole('cell', { name: 'demo' }).first().waitFor() },
  connect: { place: '#/world/connect', steps: async (page) => page.getByText('Claude Code').waitFor() },
};

const file = process.env.SESSION_FILE ?? join(PROJECT, '.dev', 'session.json');
const session = JSON.parse(readFileSync(file, 'utf8')) as { readonly base_url: string; readonly admin_token: string };
const link = await consoleLink({ base: session.base_url, product: 'svc' }, session.admin_token);
if (link === undefined) throw new Error('the service makes no link: start it with npm start');
const browser = await openBrowser();
try {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' });
  const page = await context.newPage();
  await page.goto(link);
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, { place, steps }] of Object.entries(PICTURES)) {
    await page.goto(`${session.base_url}/svc/console/${place}`);
    await steps(page);
    await page.screenshot({ path: join(FOLDER, `console-${name}.png`) });
    console.log(`docs/images/console-${name}.png`);
  }
} finally {
  await browser.close();
}
