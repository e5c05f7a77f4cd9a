/** The console in a real browser with JWTs that expire, with names and values that want to be more than text, and with concepts that nobody may notice. */
import { generateKeyPairSync } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { shows } from '../support/shows.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { type ConsoleInBrowser, cells, run, serious, startConsole } from './support/console-browser.ts';
import { HOSTILE } from './support/console-shop.ts';
import { ask } from './support/worker.ts';

const SIZES = sizesOf('integration/console-strangers');
const KEYS = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const FORGED = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** Seconds for which an expired JWT is still accepted. */
const LENIENCY = 30;

const jwt = (name: string, seconds: number, key = KEYS.privateKey): Promise<string> => {
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ email: `${name}@corp.example` })
    .setProtectedHeader({ alg: 'ES256' })
    .setSubject(name)
    .setIssuedAt(now - 100)
    .setExpirationTime(now + seconds)
    .sign(key);
};

describe('the console of strangers', () => {
  let console: ConsoleInBrowser;
  const change = async (query: string, ontology = ''): Promise<void> => {
    const headers = { 'x-api-key': console.token, 'content-type': 'application/json' };
    const answer = await ask(console.base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ ontology_name: ontology, query }) });
    expect(answer.status, answer.text).toBe(200);
  };
  beforeAll(async () => {
    console = await startConsole({
      ENABLE_TOKEN: 'true',
      JWT_DEFAULT_KEY: KEYS.publicKey.export({ type: 'spki', format: 'pem' }).toString().replaceAll('\n', '\\n'),
      JWT_DEFAULT_ALGORITHM: 'ES256',
    });
    for (const name of ['eve', 'bob']) {
      await change(`CREATE USER ${name} OPTIONS (email='${name}@corp.example')`);
      for (const concept of ['region', 'town', 'customer', 'order']) await change(`GRANT QUERY ON ontology.shop.concept.${concept} TO USER ${name}`);
    }
    await change('GRANT EDIT ON ontology.shop TO USER eve');
  });
  afterEach(() => console.reset());
  afterAll(() => console?.close());

  const pastes = async (page: Page, token: string): Promise<void> => {
    await page.getByLabel('API token or JWT').fill(token);
    await page.keyboard.press('Enter');
  };
  const withJwt = async (name: string, place: string, seconds = 600, bypassCSP = false): Promise<Page> => {
    const page = await console.open({ bypassCSP });
    await page.goto(`${console.base}/svc/console/#/shop/${place}`);
    await pastes(page, await jwt(name, seconds));
    return page;
  };

  describe('with a JWT', () => {
    /** Uses a JWT until it expires in the middle of work. */
    async function expired(): Promise<Page> {
      for (let seconds = 4; ; seconds *= 3) {
        const ends = Date.now() + 1000 * (seconds + 1);
        const page = await withJwt('bob', 'query', seconds - LENIENCY);
        const ended = page.getByRole('alert').getByText('Token has expired').first();
        await page.getByRole('textbox', { name: 'SQL' }).or(ended).first().waitFor();
        if (!(await ended.isVisible())) {
          await run(page, 'SELECT name FROM svc.region ORDER BY name');
          await page.locator('.grid .line').or(ended).first().waitFor();
        }
        // on a busy machine it has expired before the first answer
        if (await ended.isVisible()) {
          expect(seconds, 'it is valid for long enough').toBeLessThan(100);
          continue;
        }
        expect(await cells(page)).toEqual([['North'], ['South']]);
        await page.waitForTimeout(Math.max(0, ends - Date.now()));
        await page.keyboard.press('Control+Enter');
        await ended.waitFor();
        return page;
      }
    }
    const textOf = (page: Page): Promise<string | null> => page.getByRole('textbox', { name: 'SQL' }).textContent();

    it('goes on where it was with the next JWT of the same user, when one has expired in the middle of work', async () => {
      const page = await expired();
      await pastes(page, await jwt('bob', 600));
      await expect.poll(() => textOf(page)).toContain('svc.region');
      await page.getByRole('button', { name: 'Run' }).click();
      await page.locator('.grid .line').first().waitFor();
      expect(await cells(page)).toEqual([['North'], ['South']]);
      const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])');
      expect(stored).not.toMatch(/eyJ/);
    });

    it('shows it neither to another user nor to somebody who writes the same claims', async () => {
      const page = await expired();
      await pastes(page, await jwt('bob', 600, FORGED.privateKey));
      await page.getByRole('alert').getByText('The token was not accepted').waitFor();
      expect(await page.getByRole('textbox', { name: 'SQL' }).count()).toBe(0);
      await pastes(page, await jwt('eve', 600));
      await page.getByRole('textbox', { name: 'SQL' }).waitFor();
      expect(await textOf(page)).not.toContain('svc.region');
    });
  });

  it('says that a session has ended, and not that a token is wrong', async () => {
    const page = await console.logsIn();
    await page.goto(`${console.base}/svc/console/#/shop/query`);
    await page.getByRole('textbox', { name: 'SQL' }).waitFor();
    await page.context().clearCookies();
    await change('DROP USER ann');
    await run(page, 'SELECT name FROM svc.region');
    await page.getByRole('alert').getByText('Your session has ended').waitFor();
  });

  describe('with hostile names and values', () => {
    const WIDE = 'a_concept_with_a_name_that_is_as_long_as_a_name_may_be_and_wide';

    beforeAll(async () => {
      const long = 'y'.repeat(10_000);
      await console.sql(
        `CREATE TABLE shop.odd AS SELECT * FROM (VALUES (1, '${long}'), (2, ''), (3, E'\\u202Elive'), (4, '${HOSTILE.replaceAll("'", "''")}')) t (id, name)`,
      );
      await change('CREATE ONTOLOGY odd');
      const description = `${HOSTILE.replaceAll("'", "''")} ${long}`;
      await change(
        `CREATE CONCEPT item (id integer, name string, PRIMARY KEY (id), LABEL (name)) DESCRIPTION '${description}';
        CREATE CONCEPT ${WIDE} (no integer, PRIMARY KEY (no)); CREATE CONCEPT \`${HOSTILE}\` (no integer, PRIMARY KEY (no));
        CREATE CONCEPT rare_item INHERITS (item); CREATE MAPPING m INTO item AS SELECT id, name FROM shop.odd`,
        'odd',
      );
    });

    /** The elements of the page that are wider than the one they are in. */
    const cut = (page: Page): Promise<string[]> =>
      page
        .locator('.panel, .details, .list, main')
        .evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => `${e.className}: ${e.scrollWidth} > ${e.clientWidth}`));
    const opened = async (place: string, width: number): Promise<Page> => {
      const page = await console.open({ viewport: { width, height: 800 } });
      await page.goto(`${console.base}/svc/console/#/odd/${place}`);
      await pastes(page, console.token);
      return page;
    };

    it.each([1280, 360])('shows them as texts that fit, at %d pixels', async (width) => {
      const page = await opened('model?concept=item', width);
      await page.getByRole('complementary', { name: 'item' }).getByText(HOSTILE).first().waitFor();
      expect(await cut(page)).toEqual([]);
      await page.goto(`${console.base}/svc/console/#/odd/data?concept=item`);
      await page.locator('.found li').nth(3).waitFor();
      expect(await cut(page)).toEqual([]);
      // a name that shows nothing is the identity
      expect((await page.locator('.found li').allTextContents()).map((text) => text.slice(0, 8)).sort()).toEqual(
        ['<img src', 'item:2 i', 'yyyyyyyy', '\u202Elive it'].sort(),
      );
      for (const text of await page.locator('.found li').allTextContents()) expect(text.length).toBeLessThan(300);
      for (const id of ['item:1', 'item:2', 'item:3', 'item:4']) {
        await page.goto(`${console.base}/svc/console/#/odd/data?entity=${encodeURIComponent(id)}`);
        await page.locator(`.entity[data-entity="${id}"]`).waitFor();
        await page.getByText('It has no links').waitFor();
        expect(await cut(page), id).toEqual([]);
      }
      expect([await page.title(), await page.locator('img').count(), console.complaints]).toEqual(['svc console', 0, []]);
    });

    it('takes names of members that every object has as names', async () => {
      await change('CREATE ONTOLOGY `constructor`');
      await change(
        'CREATE CONCEPT `__proto__` (no integer, PRIMARY KEY (no)); CREATE CONCEPT `toString` INHERITS (`__proto__`); CREATE VIEW `valueOf` AS SELECT 1 AS one',
        'constructor',
      );
      const page = await console.open();
      await page.goto(`${console.base}/svc/console/#/constructor/model?view=hasOwnProperty`);
      await pastes(page, console.token);
      for (const name of ['__proto__', 'toString']) await page.locator('.node').filter({ hasText: name }).waitFor();
      for (const place of ['data?concept=__proto__', 'query?sql=SELECT%20:constructor', 'ask', 'edit', 'access', 'connect', 'model?view=valueOf']) {
        await page.goto(`${console.base}/svc/console/#/constructor/${place}`);
        await page.waitForTimeout(300);
      }
      await page.getByRole('complementary', { name: 'valueOf' }).getByText('one').first().waitFor();
      expect(console.complaints).toEqual([]);
    });

    it('has no serious accessibility problem where concepts can be hidden below another one, and hides them by keyboard', async () => {
      const page = await console.open({ bypassCSP: true });
      await page.goto(`${console.base}/svc/console/#/odd/model`);
      await pastes(page, console.token);
      const nodes = page.locator('.node');
      await nodes.filter({ hasText: 'rare_item' }).waitFor();
      expect(await serious(page)).toEqual([]);
      await page.getByRole('button', { name: 'Hide the concepts below item' }).focus();
      await page.keyboard.press('Enter');
      await expect.poll(() => nodes.filter({ hasText: 'rare_item' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Show the concepts below item' }).click();
      await nodes.filter({ hasText: 'rare_item' }).waitFor();
    });
  });

  it('sends nothing to the browser that names a hidden concept, in any view and after any button', async () => {
    const page = await withJwt('eve', 'model');
    const to = async (place: string): Promise<void> => {
      await page.goto(`${console.base}/svc/console/#/shop/${place}`);
      await page.waitForTimeout(300);
    };
    await page.getByLabel('Find a concept').fill('wage');
    for (const concept of ['customer', 'order']) {
      await to(`model?concept=${concept}`);
      await page.getByRole('complementary', { name: concept }).locator('table').waitFor();
    }
    await to('data');
    for (const text of ['4000', 'wage', 'Ann']) {
      await page.getByRole('searchbox').fill(text);
      await page.keyboard.press('Enter');
      await page.locator('.found li, .panel .muted').first().waitFor();
    }
    await to('data?entity=customer%3A1');
    await page.getByRole('button', { name: 'made_order[order] (2)' }).click();
    await page.locator('.entity').nth(2).waitFor();
    await to('query');
    for (const sql of [
      'SELECT * FROM svc.customer',
      'SELECT * FROM svc.SYS_CONCEPTS',
      'SELECT amount FROM svc.wages',
      'SHOW GRANTS',
      'SHOW VERSIONS',
      'DESC CONCEPT customer',
    ]) {
      await run(page, sql);
      await page.locator('.grid .line, .failure').first().waitFor();
    }
    await page.getByRole('button', { name: 'Explain' }).click();
    for (const name of ['Saved queries', 'History']) await page.getByRole('button', { name }).click();
    await to('edit');
    await page.getByText('Changing this ontology needs EDIT on it').waitFor();
    await to('access');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForTimeout(500);
    for (const place of ['connect', 'ask']) await to(place);
    await page.goto(`${console.base}/svc/console/#/`);
    await page.getByText('A small shop').waitFor();
    const answers = await console.answers();
    expect(answers.length).toBeGreaterThan(20);
    expect(shows(answers.join('\n'), ['secret_wage', 'paid_to', 'm_wage', 'shop.wages'])).toEqual([]);
    expect(await page.content()).not.toContain('secret_wage');
  });

  it.each(oneIn(SIZES.everyScheme, ['light', 'dark'] as const, 0))(
    'has no serious accessibility problem with a JWT, hostile values and an error in sight: %s',
    async (colorScheme) => {
      const page = await withJwt('bob', 'data?entities=customer%3A2%0Acustomer%3A3', 600, true);
      await page.emulateMedia({ colorScheme });
      await page.locator('.entity').nth(1).waitFor();
      expect(await serious(page)).toEqual([]);
      await page.goto(`${console.base}/svc/console/#/shop/query`);
      await run(page, 'SELECT naem FROM svc.customer');
      await page.getByRole('alert').waitFor();
      expect(await serious(page)).toEqual([]);
    },
  );
});
