/** The console in a real browser: late answers replace nothing, and users see at the place where they look why something is missing. */
import type { Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleInBrowser, run, startConsole } from './support/console-browser.ts';
import { ask } from './support/worker.ts';

/** Keeps the first request whose body matches, until it is let go. */
async function delayed(page: Page, body: RegExp): Promise<{ arrived(): Promise<void>; release(): Promise<void> }> {
  const { promise, resolve } = Promise.withResolvers<Route>();
  let isTaken = false;
  await page.route('**/svc/api/query', (route) => {
    if (isTaken || !body.test(route.request().postData() ?? '')) return route.continue();
    isTaken = true;
    resolve(route);
  });
  return {
    arrived: async () => void (await promise),
    async release() {
      const route = await promise;
      // the page may have cancelled the request
      await route.continue().catch(() => undefined);
      await page.waitForTimeout(500);
    },
  };
}

describe('the console', () => {
  let console: ConsoleInBrowser;
  const change = async (query: string, ontology = 'shop'): Promise<void> => {
    const headers = { 'x-api-key': console.token, 'content-type': 'application/json' };
    const answer = await ask(console.base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ ontology_name: ontology, query }) });
    expect(answer.status, answer.text).toBe(200);
  };
  beforeAll(async () => {
    console = await startConsole();
  });
  afterEach(() => console.reset());
  afterAll(() => console?.close());

  describe('with answers that arrive late', () => {
    it('does not bring back what was hidden meanwhile', async () => {
      const page = await console.signedIn('data?entities=town%3A1%0Atown%3A2%0Atown%3A3');
      await page.locator('.entity').nth(2).waitFor();
      await page.getByRole('button', { name: 'Lisbon, town' }).click();
      const late = await delayed(page, /in_region.*ORDER BY label/);
      await page.getByRole('button', { name: 'in_region[region] (1)' }).click();
      await late.arrived();
      await page.getByRole('button', { name: 'Braga, town' }).click();
      await page.getByRole('button', { name: 'Hide' }).click();
      await page.getByRole('button', { name: 'Braga, town' }).waitFor({ state: 'detached' });
      await late.release();
      expect(await page.locator('.entity').count()).toBe(2);
    });

    it('shows the entities of the newest search', async () => {
      const page = await console.signedIn('data');
      const find = async (text: string): Promise<void> => {
        await page.getByRole('searchbox').fill(text);
        await page.getByRole('button', { name: 'Find' }).click();
      };
      await page.getByLabel('Concept').selectOption('town');
      const late = await delayed(page, /Lisb/);
      await find('Lisb');
      await late.arrived();
      await find('Porto');
      await page.locator('.found button', { hasText: 'Porto' }).waitFor();
      await late.release();
      expect(await page.locator('.found').textContent()).not.toContain('Lisbon');
    });

    it('opens the script that was chosen last', async () => {
      const page = await console.admin('edit');
      const late = await delayed(page, /SHOW CREATE CONCEPT \\?"region/);
      await page.getByRole('button', { name: 'region', exact: true }).click();
      await late.arrived();
      await page.getByRole('button', { name: 'town', exact: true }).click();
      const script = page.getByRole('textbox', { name: 'Script' });
      await expect.poll(() => script.textContent()).toContain('near_no');
      await late.release();
      expect(await script.textContent()).toContain('near_no');
    });

    it('plans the text that is in the editor', async () => {
      const page = await console.admin('edit');
      await page.getByRole('button', { name: 'New script' }).click();
      const script = page.getByRole('textbox', { name: 'Script' });
      await script.click();
      await page.keyboard.insertText('CREATE CONCEPT early (no integer, PRIMARY KEY (no))');
      const { promise, resolve } = Promise.withResolvers<Route>();
      await page.route('**/plan', (route) => resolve(route), { times: 1 });
      await page.getByRole('button', { name: 'Plan' }).click();
      const route = await promise;
      await script.click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText('CREATE CONCEPT late (no integer, PRIMARY KEY (no))');
      await route.continue();
      await page.waitForTimeout(500);
      expect(await page.getByText('early').count()).toBe(0);
      expect(await page.getByRole('button', { name: /^Apply/ }).count()).toBe(0);
    });
  });

  describe('to a user who does not see everything', () => {
    it('says next to the values what masks hide', async () => {
      await change('CREATE POLICY hidden_total ON PROPERTY total MASK NULL; CREATE POLICY some_orders ON CONCEPT order TO USER ann USING (order_no = 2)');
      const page = await console.signedIn('query');
      await run(page, 'SELECT order_no, total FROM svc.order');
      await page.getByText('Policies hide some of it').click();
      await page.getByText('You see NULL instead of total').waitFor();
      await page.getByText('An administrator can change this.').waitFor();
      await page.goto(`${console.base}/svc/console/#/shop/data?entity=order%3A2`);
      await page.getByRole('complementary').or(page.locator('.panel')).getByText('You see NULL instead of total').waitFor();
      await page.goto(`${console.base}/svc/console/#/shop/access`);
      const policies = page.locator('section', { has: page.getByRole('heading', { name: 'Row policies and masks of this ontology' }) });
      await policies.getByText('You see NULL instead of total').waitFor();
      await policies.getByText('A row policy decides which rows of order you see.').waitFor();
      await change('DROP POLICY hidden_total; DROP POLICY some_orders');
    });

    it('says why a search finds nothing', async () => {
      await change('CREATE POLICY no_towns ON CONCEPT town TO USER ann USING (false)');
      const page = await console.signedIn('data?concept=town');
      await page.getByText('No entity has such a label or value.').waitFor();
      await page.getByText('A row policy decides which rows of town you see.').waitFor();
      await change('DROP POLICY no_towns');
    });

    it('finds dates, calculated and several values, and says what it did not read', async () => {
      await change('CREATE ONTOLOGY clinic', '');
      await change(
        `CREATE PROPERTY doubled integer AS SELECT no * 2;
         CREATE PROPERTY code string AS SELECT concat('V-', no);
         CREATE CONCEPT visit (no integer, on_day date, at timestamp, doubled integer, code string, PRIMARY KEY (no), CONSTRAINT note MULTIVALUE string);
         CREATE MAPPING m INTO visit AS SELECT v.no, d AS on_day, d + time '09:30' AS at FROM (VALUES (1, date '2026-02-01'), (2, date '2026-03-01')) AS v (no, d);
         CREATE MAPPING n INTO visit MULTIVALUE note AS SELECT x.no, x.note FROM (VALUES (1, 'cough'), (1, 'fever'), (2, 'fall')) AS x (no, note)`,
        'clinic',
      );
      const page = await console.admin('data');
      await page.goto(`${console.base}/svc/console/#/clinic/data`);
      const finds = async (text: string, found: readonly string[]): Promise<void> => {
        await page.getByRole('searchbox').fill(text);
        await page.getByRole('button', { name: 'Find' }).click();
        await expect.poll(() => page.locator('.found button').allTextContents()).toEqual(found);
      };
      for (const concept of ['thing', 'visit']) {
        await page.getByLabel('Concept').selectOption(concept);
        await finds('2026-02', ['1 visit, on_day']);
        await finds('2026-03-01 09:30', ['2 visit, at']);
        await finds('v-2', ['2 visit, code']);
        await finds('FEVER', ['1 visit, note']);
      }
      // one value that cannot be calculated does not end the search
      await change('CREATE OR REPLACE PROPERTY doubled integer AS SELECT no / (no - 1)', 'clinic');
      await page.getByLabel('Concept').selectOption('thing');
      await finds('2', ['2 visit']);
      await page.getByText('Calculated values were not read').waitFor();
    });

    it('says that what was not granted does not appear', async () => {
      const page = await console.signedIn('query');
      await run(page, 'SELECT amount FROM svc.secret_wage');
      await page.getByText('You see only the concepts that were granted to you').waitFor();
      await page.getByRole('link', { name: 'Your rights' }).click();
      await page.getByRole('heading', { name: 'Access' }).waitFor();
      await page.getByRole('cell', { name: 'ontology.shop.concept.town' }).waitFor();
    });

    it('says which right an ontology needs that the user does not see', async () => {
      await change('CREATE ONTOLOGY staff', '');
      const page = await console.signedIn();
      await page.goto(`${console.base}/svc/console/#/staff/model`);
      await page.getByText('GRANT QUERY ON ALL ontology."staff" TO USER "ann"').waitFor();
      await change('DROP ONTOLOGY staff', '');
    });
  });
});
