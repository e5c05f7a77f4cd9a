/** The console and the other pages of the service: how they lead to each other, and the login at an OpenID Connect provider, in a real browser. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleInBrowser, startConsole } from './support/console-browser.ts';
import { CLIENT, type IdentityProvider, SECRET, startIdentityProvider } from './support/identity-provider.ts';
import { ask } from './support/worker.ts';

describe('the console and the other pages', () => {
  let console: ConsoleInBrowser;
  beforeAll(async () => {
    console = await startConsole();
  });
  afterEach(() => console.reset());
  afterAll(() => console?.close());

  it('lead to each other, and the login page does, too', async () => {
    const page = await console.signedIn('model');
    for (const [name, heading] of [
      ['API documentation', 'svc API'],
      ['Programs with access', 'Programs with access'],
    ] as const) {
      await page.getByRole('link', { name }).click();
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await page.getByRole('link', { name: 'Console' }).click();
      await page.getByRole('heading', { name: 'Ontologies' }).waitFor();
    }
    await page.goto(`${console.base}/svc/login`);
    await page.getByRole('link', { name: 'API documentation' }).click();
    await page.getByRole('heading', { name: 'svc API' }).waitFor();
    expect(console.complaints).toEqual([]);
  });

  it('have the settings of each client with the address of the service', async () => {
    const page = await console.signedIn('connect');
    await page.getByRole('heading', { name: /^Claude Code Copy/ }).waitFor();
    const text = async (title: string | RegExp): Promise<string> =>
      (await page
        .locator('section', { has: page.getByRole('heading', { name: title }) })
        .locator('pre')
        .textContent()) ?? '';
    const mcp = `${console.base}/svc/api/mcp?ontology=shop`;
    expect(await text(/^Claude Code Copy/)).toContain(`'${mcp}' --header`);
    expect(await text('without a token')).toBe(`claude mcp add --transport http svc '${mcp}'`);
    expect(JSON.parse(await text('Windsurf'))).toEqual({ mcpServers: { svc: { serverUrl: mcp, headers: { 'x-api-key': `\${env:KG_TOKEN}` } } } });
    expect(JSON.parse(await text('Gemini CLI'))).toEqual({ mcpServers: { svc: { httpUrl: mcp, headers: { 'x-api-key': '$KG_TOKEN' } } } });
    expect(await text('Copilot Studio')).toBe(mcp);
  });
});

describe('the console with an OpenID Connect provider', () => {
  let provider: IdentityProvider;
  let console: ConsoleInBrowser;
  beforeAll(async () => {
    provider = await startIdentityProvider({
      olga: { email: 'olga@corp.example', email_verified: true },
      stranger: { email: 'stranger@corp.example', email_verified: true },
    });
    console = await startConsole({ MCP_OAUTH_ISSUER: provider.issuer, MCP_OAUTH_CLIENT_ID: CLIENT, MCP_OAUTH_CLIENT_SECRET: SECRET });
    provider.allow(`${console.base}/svc/login/callback`);
    for (const query of ["CREATE USER olga OPTIONS (email='olga@corp.example')", 'GRANT QUERY ON ontology.shop.concept.town TO USER olga']) {
      const headers = { 'x-api-key': console.token, 'content-type': 'application/json' };
      const made = await ask(console.base, '/svc/api/query', { method: 'POST', headers, body: JSON.stringify({ ontology_name: '', query }) });
      expect(made.status, made.text).toBe(200);
    }
  });
  afterEach(() => console.reset());
  afterAll(async () => {
    await console?.close();
    await provider?.close();
  });

  /** Opens the console, and logs in at the pages of the provider. */
  async function atProvider(account: string) {
    const page = await console.open();
    await page.goto(`${console.base}/`);
    await page.getByRole('link', { name: 'Sign in at the login page' }).click();
    await page.waitForURL(`${provider.issuer}/**`);
    await page.locator('input[name=login]').fill(account);
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    // the provider asks for consent, too
    await page.locator('input[name=prompt][value=consent]').waitFor({ state: 'attached' });
    await page.locator('button[type=submit]').click();
    return page;
  }

  it('signs in, shows what the user may see, and signs out', async () => {
    const page = await atProvider('olga');
    await page.getByRole('heading', { name: 'Ontologies' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/svc/console/');
    await page.locator('.user').getByText('olga').waitFor();
    await page.getByRole('link', { name: 'shop' }).click();
    await page.getByRole('button', { name: 'town', exact: true }).first().waitFor();
    expect(await page.getByRole('button', { name: 'customer', exact: true }).count()).toBe(0);
    const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])');
    expect(stored).not.toMatch(/tk_|eyJ/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('does not sign in somebody whom the service does not know', async () => {
    const page = await atProvider('stranger');
    await page.getByRole('alert').getByText('User not found').waitFor();
    await page.getByRole('link', { name: 'Console' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});
