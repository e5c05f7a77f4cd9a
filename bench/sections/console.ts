/** (console) The console in a real browser: the first view, typing with a large model, drawing a model and many entities. */
import type { CDPSession, Page } from 'playwright-core';
import { buildConsole } from '../../scripts/build-console.ts';
import { openBrowser } from '../../test/integration/support/chromium.ts';
import { buildService } from '../lib/build.ts';
import { memoryGrowth } from '../lib/growth.ts';
import { median } from '../lib/measure.ts';
import { loadModel, post, SERVICE_BINDINGS, serviceSettings, startScripts, worldDatabase } from '../lib/stack.ts';
import { aim, note, table } from '../lib/table.ts';

const ROUNDS = 9;
const PASSWORD = 'Correct-horse-9!';
/** Concepts of the model in which text is typed, and of the one that is drawn. */
const [TYPED, DRAWN] = [2_000, 250];
const EXPANSIONS = 200;
const TEXT = 'SELECT no_300, "follows_300[concept_0299].follows_299[concept_0298].no_298" FROM dsvc.concept_0300 WHERE no_300 > 5';

interface Event {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Microseconds: by the clock, and of processor time. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest task of the page's main thread while something runs, in milliseconds: by the clock, and of processor time. */
async function longest(cdp: CDPSession, work: () => Promise<unknown>): Promise<{ readonly clock: number; readonly cpu: number }> {
  const events: Event[] = [];
  const collect = ({ value }: { value: object[] }): void => void events.push(...(value as Event[]));
  cdp.on('Tracing.dataCollected', collect);
  await cdp.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel', 'disabled-by-default-devtools.timeline'] } });
  await work();
  const complete = new Promise<void>((resolve) => cdp.once('Tracing.tracingComplete', () => resolve()));
  await cdp.send('Tracing.end');
  await complete;
  cdp.off('Tracing.dataCollected', collect);
  const main = new Set(events.filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain').map((e) => `${e.pid} ${e.tid}`));
  const tasks = events.filter((e) => /RunTask$/.test(e.name) && main.has(`${e.pid} ${e.tid}`));
  if (tasks.length === 0) throw new Error('the browser traced no tasks');
  return { clock: Math.max(...tasks.map((e) => e.dur ?? 0)) / 1000, cpu: Math.max(...tasks.map((e) => e.tdur ?? 0)) / 1000 };
}

/** The page's clock when something is there, in milliseconds since the start of loading. */
const since = (page: Page, selector: string): Promise<number> =>
  page.evaluate(
    `new Promise((done) => { const look = () => (document.querySelector('${selector}') === null ? requestAnimationFrame(look) : done(performance.now())); look(); })`,
  );

const conceptName = (i: number): string => `concept_${String(i).padStart(4, '0')}`;

/** Concepts in a chain: each but the first has a relationship to the one before. */
async function chain(run: (sql: string, ontology?: string) => Promise<unknown>, ontology: string, count: number): Promise<void> {
  await run(`CREATE ONTOLOGY ${ontology}`);
  for (let from = 0; from < count; from += 250) {
    const script = Array.from({ length: 250 }, (_, k) => {
      const i = from + k;
      const link = i === 0 ? '' : `, CONSTRAINT follows_${i} FOREIGN KEY (before_${i}) REFERENCES ${conceptName(i - 1)} (no_${i - 1}) INVERSEOF precedes_${i}`;
      return `CREATE CONCEPT ${conceptName(i)} (no_${i} integer, before_${i} integer, PRIMARY KEY (no_${i})${link})`;
    });
    await run(script.join(';\n'), ontology);
  }
}

export async function run(): Promise<void> {
  const [script, files, { adminToken, bindings }] = await Promise.all([buildService(), buildConsole(), worldDatabase().then(serviceSettings)]);
  const more = { ...SERVICE_BINDINGS, serviceBindings: { ASSETS: { disk: { path: files, writable: false } } } };
  const running = await startScripts({ service: { script, bindings, more } });
  const base = running.urls.service as string;
  const query = async (sql: string, ontology = ''): Promise<readonly Record<string, unknown>[]> => {
    const answer = await post(`${base}/svc/api/query/`, { ontology_name: ontology, query: sql }, { 'x-api-key': adminToken });
    return (JSON.parse(answer.toString()) as { data: Record<string, unknown>[] }).data;
  };
  await loadModel(base, adminToken);
  await chain(query, 'wide', TYPED);
  await chain(query, 'middle', DRAWN);
  await query(`CREATE USER browser PASSWORD '${PASSWORD}'`);
  for (const ontology of ['world', 'wide', 'middle']) await query(`GRANT QUERY ON ALL ontology.${ontology} TO USER browser`);
  const browser = await openBrowser();
  try {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-US' })).newPage();
    const cdp = await page.context().newCDPSession(page);
    const console_ = `${base}/svc/console/`;
    await page.goto(console_);
    await page.getByRole('link', { name: 'Sign in at the login page' }).click();
    await page.getByLabel('User name').fill('browser');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.locator('.card a').first().waitFor();

    const views: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      await page.reload();
      views.push(await since(page, '.card a'));
    }

    const drawn: number[] = [];
    for (let i = 0; i < ROUNDS; i++) {
      await page.goto(`${console_}#/`);
      await page.locator('.card a').first().waitFor();
      const begun = (await page.evaluate("location.hash = '#/middle/model'; performance.now()")) as number;
      drawn.push((await since(page, '.node')) - begun);
    }

    await page.goto(`${console_}#/wide/query`);
    const editor = page.getByRole('textbox', { name: 'SQL' });
    await editor.waitFor({ timeout: 60_000 });
    await editor.click();
    // completion loads the names with the first key
    await page.keyboard.type('S', { delay: 500 });
    await page.keyboard.press('Backspace');
    const typing = await longest(cdp, async () => {
      await page.keyboard.type(TEXT, { delay: 60 });
      await page.waitForTimeout(1_000);
    });

    await page.goto(`${console_}#/world/data?entity=country%3APRT`);
    await page.locator('.entity').first().waitFor();
    const memory = await memoryGrowth(page, cdp, 'in_subregion[subregion] (1)', EXPANSIONS);
    await page.getByRole('button', { name: 'Clear' }).click();

    const ids = [
      ...(await query('SELECT entity_id AS id FROM svc.country ORDER BY 1 LIMIT 250', 'world')),
      ...(await query('SELECT entity_id AS id FROM svc.city ORDER BY population DESC LIMIT 250', 'world')),
    ].map((row) => String(row.id));
    const places = new URLSearchParams({ entities: ids.join('\n'), links: 'country.borders\ncity.in_country' });
    await page.goto(`${console_}#/world/data?${places}`);
    await page
      .locator('.entity')
      .nth(ids.length - 1)
      .waitFor({ timeout: 120_000 });
    await page.waitForTimeout(2_000);
    const box = (await page.locator('.canvas svg').boundingBox()) as { x: number; y: number };
    const panning = await longest(cdp, async () => {
      await page.mouse.move(box.x + 20, box.y + 20);
      await page.mouse.down();
      for (let i = 1; i <= 60; i++) await page.mouse.move(box.x + 20 + 4 * i, box.y + 20 + 2 * i);
      await page.mouse.up();
      for (let i = 0; i < 10; i++) await page.mouse.wheel(0, i % 2 === 0 ? 100 : -100);
      await page.waitForTimeout(500);
    });

    const text = (n: number): string => `${n.toFixed(0)} ms`;
    table(
      '(console) time in a browser',
      ['', 'median or longest', 'of processor time'],
      [
        [`first view of a signed-in user, ${ROUNDS} loads`, text(median(views)), ''],
        [`model of ${DRAWN} concepts drawn, ${ROUNDS} times`, text(median(drawn)), ''],
        [`longest task while typing, model of ${TYPED} concepts`, text(typing.clock), text(typing.cpu)],
        [`longest task while moving and zooming ${ids.length} entities`, text(panning.clock), text(panning.cpu)],
        [`memory after ${EXPANSIONS} expansions and undos`, `x${memory.toFixed(2)}`, ''],
      ],
    );
    note('Tasks are those of the page’s main thread. Other load of the machine adds to times by the clock, not to processor time.');
    aim('console', 'first view of the console', median(views), { most: 1000 }, 'ms');
    aim('console', `a model of ${DRAWN} concepts drawn`, median(drawn), { most: 1000 }, 'ms');
    aim('console', `longest task while typing, model of ${TYPED} concepts`, typing.cpu, { most: 50 }, 'ms');
    aim('console', `memory after ${EXPANSIONS} expansions and undos`, memory, { most: 1.2 });
    aim('console', `longest task while moving ${ids.length} entities`, panning.cpu, { most: 50 }, 'ms');
  } finally {
    await browser.close();
    await running.stop();
  }
}
