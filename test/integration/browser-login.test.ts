/** The login page in a real browser. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../support/service.ts';
import { openBrowser, openContext, type Site, serve } from './support/chromium.ts';

const PASSWORD = 'Correct-horse-9!';

describe('in a browser', () => {
  let service: TestService;
  let site: Site;
  /** Another site: its pages are at `localhost`, which is not 127.0.0.1. */
  let evil: Site;
  let evilPage = '';
  let browser: Browser;
  let base = '';
  let tokenPage = '';
  const contexts: BrowserContext[] = [];
  /** Errors of the browser: blocked styles, scripts, frames. */
  const complaints: string[] = [];

  beforeAll(async () => {
    service = await startService({ settings: { SESSION_SECRET: 'a secret of more than thirty-two characters' } });
    await service.rows(`CREATE USER ann PASSWORD '${PASSWORD}'`);
    site = await serve((path, init) => service.fetch(path, init));
    evil = await serve(async () => new Response(evilPage, { headers: { 'content-type': 'text/html' } }));
    base = `http://127.0.0.1:${site.port}`;
    tokenPage = `${base}/svc/get_svc_user_token/`;
    browser = await openBrowser();
  });
  afterEach(async () => {
    complaints.length = 0;
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });
  afterAll(async () => {
    await browser?.close();
    await evil?.close();
    await site?.close();
    await service?.close();
  });

  async function open(javaScriptEnabled = true): Promise<Page> {
    const context = await openContext(browser, { javaScriptEnabled });
    contexts.push(context);
    const page = await context.newPage();
    page.on('console', (message) => {
      // the answer with the token is not a page that names an icon
      if (message.type() === 'error' && !message.location().url.endsWith('/favicon.ico')) complaints.push(message.text());
    });
    return page;
  }
  async function logIn(page: Page): Promise<void> {
    await page.goto(`${base}/svc/login`);
    await page.getByLabel('User name').fill('ann');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('You are logged in as ann').waitFor();
  }
  /** Waits until a field has the focus: the browser sets it with the first frame, after the page has loaded. */
  const hasFocus = (page: Page): Promise<void> => page.locator('input:focus').waitFor();
  const shownToken = async (page: Page): Promise<unknown> => JSON.parse((await page.locator('pre, body').first().textContent()) ?? '');

  it('a user logs in with only the keyboard, without script, and gets the token', async () => {
    for (const scripted of [true, false]) {
      const page = await open(scripted);
      await page.goto(tokenPage);
      expect([new URL(page.url()).pathname, await page.title()]).toEqual(['/svc/login', 'Log in to svc']);
      await hasFocus(page);
      await page.keyboard.type('ann');
      await page.keyboard.press('Tab');
      await page.keyboard.type(PASSWORD);
      await Promise.all([page.waitForURL(tokenPage), page.keyboard.press('Enter')]);
      expect(await shownToken(page)).toEqual({ token: expect.stringMatching(/^tk_[0-9A-Za-z]{33}$/) });
      expect(await page.context().cookies()).toEqual(
        ['svc_form', 'svc_session'].map((name) => expect.objectContaining({ name, httpOnly: true, sameSite: 'Lax', secure: false, expires: -1, path: '/' })),
      );
    }
    expect(complaints).toEqual([]);
  });

  it('a wrong password is reported, and the password field has the focus', async () => {
    const page = await open();
    await page.goto(`${base}/svc/login`);
    await hasFocus(page);
    await page.keyboard.type('ann');
    await page.keyboard.press('Tab');
    await page.keyboard.type('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toBe('User name or password is wrong.');
    expect([await page.title(), await page.getByLabel('User name').inputValue(), await page.getByLabel('Password').inputValue()]).toEqual([
      'Error: Log in to svc',
      'ann',
      '',
    ]);
    const field = page.getByRole('textbox', { name: 'User name' });
    expect(await field.evaluate((e) => e.ownerDocument.getElementById(e.getAttribute('aria-describedby') ?? '')?.textContent)).toBe(
      'User name or password is wrong.',
    );
    await hasFocus(page);
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByText('You are logged in as ann').waitFor();
  });

  it('its style is applied, in light and dark, with sufficient contrast', async () => {
    const page = await open();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${base}/svc/login`);
      const style = (selector: string, property: string): Promise<string> =>
        page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
      expect(await style('main', 'maxWidth')).toBe('416px');
      expect(contrast(await style('button', 'color'), await style('button', 'backgroundColor'))).toBeGreaterThan(4.5);
      expect((await page.getByRole('button').boundingBox())?.height).toBeGreaterThanOrEqual(44);
    }
  });

  it('logging out ends it', async () => {
    const page = await open();
    await logIn(page);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    await page.goto(tokenPage);
    expect(new URL(page.url()).pathname).toBe('/svc/login');
  });

  it('another site can neither frame the pages, nor send their forms, nor ask for tokens', async () => {
    const page = await open();
    await logIn(page);
    const other = `http://localhost:${evil.port}/`;
    const tokens = async () => (await service.rows('SHOW TOKEN FOR ann')).length;
    const before = await tokens();

    evilPage = `<iframe src="${base}/svc/login"></iframe>`;
    await page.goto(other);
    await expect.poll(() => complaints.join('\n')).toMatch(/frame-ancestors|X-Frame-Options/i);

    evilPage = `<a href="${tokenPage}">link</a>`;
    await page.goto(other);
    const [linked] = await Promise.all([page.waitForResponse(tokenPage), page.getByText('link').click()]);
    expect(linked.status()).toBe(403);

    for (const path of ['login', 'logout']) {
      evilPage = `<form method="post" action="${base}/svc/${path}"><input name="user" value="ann"><input name="password" value="${PASSWORD}"><button>go</button></form>`;
      await page.goto(other);
      const [sent] = await Promise.all([page.waitForResponse(`${base}/svc/${path}`), page.getByText('go').click()]);
      expect([path, sent.status()]).toEqual([path, 403]);
    }

    evilPage = `<p id="out"></p><script>fetch(${JSON.stringify(tokenPage)}, { credentials: 'include' }).then((r) => r.text(), () => 'refused').then((t) => { out.textContent = t; });</script>`;
    await page.goto(other);
    await expect.poll(() => page.locator('#out').textContent()).toBe('refused');

    expect(await tokens()).toBe(before);
    await page.goto(tokenPage);
    expect(await shownToken(page)).toEqual({ token: expect.stringMatching(/^tk_/) });
  });
});

/** The contrast ratio of WCAG 2 between two `rgb(r, g, b)`. */
function contrast(a: string, b: string): number {
  const luminance = (color: string): number => {
    const [r = 0, g = 0, bl = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
      const v = Number(part) / 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * bl;
  };
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}
