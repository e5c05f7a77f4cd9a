/** `npm run screenshots`: takes the pictures of docs/console.md from the sample graph. It starts the service with a scripted language model; names as arguments select pictures. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { consoleLink } from '../dev/start/provision.ts';
import { openBrowser } from '../test/integration/support/chromium.ts';
import { startAsDeveloper } from '../test/integration/support/npm-start.ts';
import { chat, type Heard, startStub } from '../test/unit/llm/stub.ts';

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const FOLDER = join(PROJECT, 'docs', 'images');

const SQL = `SELECT "in_country[country].name" AS country, SUM("measure.city_population") AS inhabitants
FROM dsvc.city
WHERE "in_country[country].region_name" = 'Europe'
GROUP BY 1
ORDER BY inhabitants DESC
LIMIT 12`;

const QUESTION = 'Which European countries have the most people in cities?';
const ANSWER = 'Russia has the most people in its cities: 127,908,941. Germany (84,995,606) and the United Kingdom (65,929,942) follow.';

/** What the scripted model answers: the stages of a question ask for different members. */
function reply({ body }: Heard): object {
  const { properties } = (body.response_format as { json_schema: { schema: { properties: object } } }).json_schema.schema;
  if ('answer' in properties) return { answer: ANSWER };
  if ('sql' in properties) return { reason: 'Cities have the measure of their population', sql: SQL, refusal: null };
  return { reason: 'The question is about cities', concept: 'city' };
}

/** The pictures: where they are taken, and what is done before. */
const PICTURES: Readonly<Record<string, { readonly place: string; readonly steps: (page: Page) => Promise<void> }>> = {
  ontologies: { place: '#/', steps: async (page) => page.getByText('9 concepts').waitFor() },
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
        await page.locator('.entity').nth(shown).waitFor();
      }
      await page.getByRole('button', { name: 'Spain, country' }).click();
      await page.getByRole('button', { name: 'borders[country] (' }).click();
      await page.waitForTimeout(1500);
    },
  },
  ask: {
    place: '#/world/ask',
    steps: async (page) => {
      await page.getByRole('textbox', { name: 'Your question' }).fill(QUESTION);
      await page.keyboard.press('Enter');
      await page.getByText(ANSWER).waitFor();
      await page.waitForTimeout(500);
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
  connect: { place: '#/world/connect', steps: async (page) => page.getByText('Claude Code').first().waitFor() },
};

const wanted = process.argv.slice(2);
const model = await startStub();
model.play((response, heard) => chat(response, JSON.stringify(reply(heard))));
const settings = { LLM_TYPE: 'openai-compatible', LLM_BASE_URL: `${model.url}/v1`, LLM_MODEL: 'scripted', LLM_API_KEY: 'k' };
const service = await startAsDeveloper({ SAMPLE: 'world', MCP_CORS_ORIGINS: '*', ...settings });
const browser = await openBrowser();
try {
  const link = await consoleLink({ base: service.base, product: 'svc' }, service.token);
  if (link === undefined) throw new Error('the service makes no link');
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US', reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(link);
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, { place, steps }] of Object.entries(PICTURES)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    await page.goto(`${service.base}/svc/console/${place}`);
    await steps(page);
    await page.screenshot({ path: join(FOLDER, `console-${name}.png`) });
    console.log(`docs/images/console-${name}.png`);
  }
} finally {
  await browser.close();
  await service.stop();
  await model.close();
}
