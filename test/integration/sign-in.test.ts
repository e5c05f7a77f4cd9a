/** Signing in: get_token with a bearer, the login page with its sessions, and the page that issues a token. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { makeBearer } from '../../src/auth/bearer.ts';
import { encrypt } from '../../src/auth/fernet.ts';
import { hashPassword } from '../../src/auth/passwords.ts';
import { AttemptCounter } from '../../src/auth/throttle.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { neonDb } from '../../src/catalog/db.ts';
import { housekeeping } from '../../src/catalog/housekeeping.ts';
import { parseConnection } from '../../src/config.ts';
import { startService, type TestService } from '../support/service.ts';
import { hidden, Visitor } from './support/visitor.ts';

const hashes = vi.hoisted(() => ({ made: 0, open: Promise.resolve() }));
/** Passwords are hashed fast here, and counted. A hash ends when `hashes.open` does. */
vi.mock('node:crypto', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:crypto')>();
  const scrypt: typeof real.scrypt = ((password, salt, length, options, callback) => {
    hashes.made++;
    void hashes.open.then(() => real.scrypt(password, salt, length, { ...options, N: 16 }, callback));
  }) as typeof real.scrypt;
  return { ...real, scrypt };
});

const SALT = 'pepper & m\u00f8re';
const PASSWORD = 'Correct-horse-9!';
const SECRET = 'a secret that signs the sessions of this test';
const HOUR = 3600_000;
const PAGE = '/svc/get_svc_user_token/';

let service: TestService;
/** The service's clock is this far ahead of the machine's. */
let ahead = 0;
const now = () => Date.now() + ahead;
const log: string[] = [];
const pauses: number[] = [];
/** Counters by key, as in Durable Objects. */
const counters = new Map<string, AttemptCounter>();
let broken = false;

function counter(key: string): AttemptCounter {
  const values = new Map<string, unknown>();
  const made =
    counters.get(key) ??
    new AttemptCounter(
      {
        get: async <T>(k: string) => values.get(k) as T | undefined,
        put: async (k, v) => void values.set(k, v),
        setAlarm: async () => undefined,
        deleteAll: async () => values.clear(),
      },
      now,
    );
  counters.set(key, made);
  return made;
}

/** Keys of users and addresses that attempts have looked up. */
const lookedUp: string[] = [];

beforeAll(async () => {
  service = await startService({
    settings: { API_AUTH_SALT: SALT, SESSION_SECRET: SECRET, API_TOKEN_TTL: '3' },
    parts: {
      now,
      log: (line) => void log.push(JSON.stringify(line)),
      pause: async (ms) => {
        pauses.push(ms);
        ahead += ms;
      },
      attempts: {
        begin: async (key, most) => {
          if (broken) throw new Error('unreachable');
          return counter(key).begin(most);
        },
        settle: async (key, failed, ticket) => {
          if (broken) throw new Error('unreachable');
          return counter(key).settle(failed, ticket);
        },
        cancel: async (key, ticket) => counter(key).cancel(ticket),
        isKnown: async (key) => {
          lookedUp.push(key);
          return counters.get(key)?.isKnown() ?? false;
        },
        remember: async (key) => counter(key).remember(),
      },
    },
  });
  for (const user of ['ann', 'ben', 'cleo', 'many']) await service.rows(`CREATE USER ${user} PASSWORD '${PASSWORD}'`);
  await service.rows('CREATE USER nopass');
});
afterAll(() => service.close());
beforeEach(() => {
  ahead = 0;
  broken = false;
  counters.clear();
  pauses.length = 0;
});

const catalog = (sql: string, params: unknown[] = []) => service.database.exec(sql, params, CATALOG_OWNER);
const bearer = (user: string, password = PASSWORD, at = Date.now()) => makeBearer({ user, password }, SALT, at);
interface Given {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly json: any;
}
const getToken = async (authorization: string | undefined, more: Record<string, string> = {}): Promise<Given> => {
  const headers = { ...(authorization === undefined ? {} : { authorization }), ...more };
  const response = await service.fetch('/svc/api/get_token', { method: 'POST', headers });
  return { status: response.status, headers: response.headers, json: await response.json() };
};
const give = async (user: string, password?: string) => getToken(`Bearer ${await bearer(user, password)}`);
const works = async (token: string): Promise<number> => (await service.fetch('/svc/api/get_ontologies', { headers: { 'x-api-key': token } })).status;
const visitor = () => new Visitor((path, init) => service.fetch(path, init));

describe('get_token', () => {
  it('returns a new API token of the bearer\u2019s user, repeatedly', async () => {
    const good = `Bearer ${await bearer('ann')}`;
    const [a, b] = [await getToken(good), await getToken(good)];
    for (const { status, json, headers } of [a, b]) {
      expect([status, json]).toEqual([200, { status: 'success', data: [expect.stringMatching(/^tk_[0-9A-Za-z]{33}$/)] }]);
      expect(headers.get('cache-control')).toBe('private, no-store');
      expect(await works(json.data[0])).toBe(200);
    }
    expect(a.json.data[0]).not.toBe(b.json.data[0]);
    const rows = await service.rows('SHOW TOKEN FOR ann');
    expect(rows.map((r) => r.label)).toEqual(['get_token', 'get_token']);
    expect(Math.abs(Date.parse(String(rows[0]?.expires)) - Date.now() - 72 * HOUR)).toBeLessThan(HOUR);
    const audit = await catalog("SELECT user_name, credential, action, object FROM kg_catalog.audit WHERE action = 'give_token' ORDER BY id");
    expect(audit).toEqual(rows.map((r) => ({ user_name: 'ann', credential: 'bearer', action: 'give_token', object: r.token_id })));
  });

  it('keeps the newest twenty of a user, and does not count other tokens', async () => {
    const own = String((await service.rows('CREATE TOKEN FOR many'))[0]?.token);
    const tokens: string[] = [];
    for (let i = 0; i < 21; i++) tokens.push((await give('many')).json.data[0]);
    // another user's tokens, and those of another origin
    await give('ann');
    await visitor().send(PAGE);
    expect([await works(tokens[0] as string), await works(tokens[1] as string), await works(tokens[20] as string), await works(own)]).toEqual([
      401, 200, 200, 200,
    ]);
    // an expired one does not count
    await catalog(
      "UPDATE kg_catalog.tokens SET expires = now() - interval '1 minute' WHERE label = 'get_token' AND user_id = (SELECT id FROM kg_catalog.users WHERE key = 'many') AND id IN (SELECT id FROM kg_catalog.tokens WHERE revoked IS NULL ORDER BY created DESC LIMIT 3)",
    );
    const before = await catalog('SELECT count(*)::int AS n FROM kg_catalog.tokens WHERE revoked IS NOT NULL');
    await give('many');
    expect(await catalog('SELECT count(*)::int AS n FROM kg_catalog.tokens WHERE revoked IS NOT NULL')).toEqual(before);
  });

  it('finds the user without case, and ignores body, content-type and other credentials', async () => {
    expect((await give('ANN')).status).toBe(200);
    const good = `Bearer ${await bearer('ann')}`;
    expect((await getToken(good, { 'x-api-key': 'tk_nonsense', 'content-type': 'text/plain' })).status).toBe(200);
    const posted = await service.fetch('/svc/api/get_token/', { method: 'POST', headers: { authorization: good }, body: 'not json' });
    expect(posted.status).toBe(200);
  });

  it('answers the same for every error, and leaves no trace of it in the log', async () => {
    await service.rows(`CREATE USER gone PASSWORD '${PASSWORD}'`);
    await catalog("UPDATE kg_catalog.users SET active = false WHERE key = 'gone'");
    const key = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(SALT)));
    const good = await bearer('ann');
    const wrong: Record<string, string | undefined> = {
      'wrong password': `Bearer ${await bearer('ann', 'wrong')}`,
      'unknown user': `Bearer ${await bearer('nobody')}`,
      'no password': `Bearer ${await bearer('nopass', '')}`,
      inactive: `Bearer ${await bearer('gone')}`,
      'zero byte': `Bearer ${await bearer('ann\0')}`,
      'empty user': `Bearer ${await bearer('')}`,
      'long user': `Bearer ${await bearer('a'.repeat(5000))}`,
      'long password': `Bearer ${await bearer('ann', 'p'.repeat(70_000))}`,
      'too old': `Bearer ${await bearer('ann', PASSWORD, Date.now() - 24 * HOUR - 2000)}`,
      'of the future': `Bearer ${await bearer('ann', PASSWORD, Date.now() + 2 * 60_000)}`,
      'another salt': `Bearer ${await makeBearer({ user: 'ann', password: PASSWORD }, 'another', Date.now())}`,
      'no colon': `Bearer ${await encrypt(new TextEncoder().encode('YW5u'), key, Date.now())}`,
      'in the clear': `Bearer ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}`,
      garbage: 'Bearer gAAAAA',
      'an API token': `Bearer ${createToken()}`,
      'the administrator\u2019s token': `Bearer ${service.token}`,
      'no scheme': good,
      basic: `Basic ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}`,
      empty: '',
      none: undefined,
    };
    log.length = 0;
    for (const [what, authorization] of Object.entries(wrong)) {
      const { status, json, headers } = await getToken(authorization);
      expect([what, status, json]).toEqual([
        what,
        401,
        {
          status: 'error',
          data: 'The bearer is not valid',
          code: 'invalid_bearer',
          hint: expect.stringMatching(/generate-bearer/),
          request_id: expect.anything(),
        },
      ]);
      expect(headers.get('www-authenticate')).toBe('Bearer realm="svc"');
    }
    expect(log.length).toBe(Object.keys(wrong).length);
    for (const secret of [PASSWORD, SALT, good, String(wrong['wrong password'])]) expect(log.join('\n')).not.toContain(secret);
  });

  it('costs one hash and one catalog query if the signature is valid, also for an unknown user or a wrong password', async () => {
    const attempts = [`Bearer ${await bearer('ann', 'wrong')}`, `Bearer ${await bearer('nobody')}`, `Bearer ${await bearer('nopass')}`];
    for (const authorization of [...attempts, `Bearer ${await bearer('ann\0')}`])
      expect([authorization, ...(await costOf(authorization))]).toEqual([authorization, 1, 1]);
  });

  it('costs neither if the signature is invalid, or the bearer too old', async () => {
    const other = await makeBearer({ user: 'ann', password: PASSWORD }, 'another salt', now());
    const forged = `${(await bearer('ann')).slice(0, -6)}AAAAA=`;
    for (const authorization of [`Bearer ${other}`, `Bearer ${forged}`, `Bearer ${await bearer('ann', PASSWORD, 0)}`, 'Bearer gAAAAA', undefined])
      expect([authorization, ...(await costOf(authorization))]).toEqual([authorization, 0, 0]);
  });

  /** Hashes and look-ups of a refused attempt. */
  async function costOf(authorization: string | undefined): Promise<[number, number]> {
    const asked = vi.spyOn(globalThis, 'fetch');
    hashes.made = 0;
    asked.mockClear();
    expect((await getToken(authorization)).status).toBe(401);
    // the audit writes its pending entries at any time
    return [hashes.made, asked.mock.calls.filter(([, init]) => String(init?.body).includes('FROM kg_catalog.users WHERE key')).length];
  }

  it('delays answers after five failures of a user, also correct ones', async () => {
    for (let i = 0; i < 6; i++) await getToken(`Bearer ${await bearer('ann', `wrong ${i}`)}`, { 'cf-connecting-ip': `192.0.2.${i}` });
    expect(pauses).toEqual([500, 1000]);
    pauses.length = 0;
    expect((await getToken(`Bearer ${await bearer('Ann')}`, { 'cf-connecting-ip': '198.51.100.1' })).status).toBe(200);
    expect((await getToken(`Bearer ${await bearer('ben')}`, { 'cf-connecting-ip': '198.51.100.1' })).status).toBe(200);
    expect(pauses).toEqual([1000]);
    ahead = 20 * 60_000;
    pauses.length = 0;
    expect([(await give('ann')).status, pauses]).toEqual([200, []]);
  });

  it('delays answers after five failures from an address, which for IPv6 is a /64', async () => {
    const from = (i: number) => ({ 'cf-connecting-ip': `2001:db8:1:2::${i + 1}` });
    for (let i = 0; i < 5; i++) await getToken(`Bearer ${await bearer(`nobody${i}`)}`, from(i));
    expect(pauses).toEqual([500]);
    expect((await getToken(`Bearer ${await bearer('ann')}`, from(99))).status).toBe(200);
    expect((await getToken(`Bearer ${await bearer('ann')}`, { 'cf-connecting-ip': '2001:db8:1:3::1' })).status).toBe(200);
    expect(pauses).toEqual([500, 500]);
  });

  it('counts only bearers with a valid signature', async () => {
    for (let i = 0; i < 8; i++) await getToken(`Bearer ${await makeBearer({ user: 'ann', password: 'x' }, 'another salt', Date.now())}`);
    for (let i = 0; i < 8; i++) await getToken(undefined);
    expect([counters.size, pauses]).toEqual([0, []]);
    await getToken(`Bearer ${await bearer('ann', 'x')}`);
    expect([...counters.keys()].map((key) => key.replace(/[0-9a-f]{64}$/, '<hash>')).sort()).toEqual(['address:<hash>', 'user:<hash>']);
  });

  it('locks no user out if attempts cannot be counted', async () => {
    broken = true;
    log.length = 0;
    expect([(await give('ann')).status, pauses]).toEqual([200, [4000]]);
    expect(log.join('\n')).toContain('throttle_failed');
  });

  /** Sends attempts at once. @returns the number of refused ones and of hashes while no hash has ended; then the result of `meanwhile`; then all answers */
  async function atOnce<T>(bearers: readonly (readonly [string, string])[], refused: number, meanwhile: () => Promise<T>) {
    let open: () => void = () => undefined;
    hashes.open = new Promise((resolve) => {
      open = resolve;
    });
    hashes.made = 0;
    const early: Given[] = [];
    const all = bearers.map(async ([authorization, address]) => {
      const answer = await getToken(authorization, { 'cf-connecting-ip': address });
      early.push(answer);
      return answer;
    });
    try {
      await vi.waitFor(() => expect([early.length, hashes.made]).toEqual([refused, bearers.length - refused]), 60_000);
      for (const { status, headers, json } of early) expect([status, headers.get('retry-after'), json.code]).toEqual([429, '5', 'too_many_requests']);
      hashes.open = Promise.resolve();
      const result = await meanwhile();
      const late = async (): Promise<number[]> => {
        open();
        return (await Promise.all(all)).map((a) => a.status);
      };
      return { result, late };
    } catch (error) {
      open();
      hashes.open = Promise.resolve();
      throw error;
    }
  }
  const statusFrom = async (user: string, address: string) => (await getToken(`Bearer ${await bearer(user)}`, { 'cf-connecting-ip': address })).status;
  const count = (statuses: readonly number[], status: number) => statuses.filter((s) => s === status).length;

  it('checks five attempts of an address at once, and refuses the others before they cost a hash', async () => {
    const wrong: [string, string][] = [];
    for (let i = 0; i < 40; i++) wrong.push([`Bearer ${await bearer('ann', `wrong ${i}`)}`, '192.0.2.1']);
    lookedUp.length = 0;
    const { result, late } = await atOnce(wrong, 35, async () => [
      await statusFrom('ann', '192.0.2.2'),
      await statusFrom('ben', '192.0.2.2'),
      await statusFrom('ben', '192.0.2.1'),
    ]);
    expect(result).toEqual([200, 200, 429]);
    // the refused ones reach no object of a user
    expect(lookedUp).toHaveLength(7);
    const statuses = await late();
    expect([count(statuses, 429), count(statuses, 401)]).toEqual([35, 5]);
    expect(await statusFrom('ann', '192.0.2.1')).toBe(200);
  });

  it('checks ten attempts for a user at once, from any address', async () => {
    const wrong: [string, string][] = [];
    for (let i = 0; i < 40; i++) wrong.push([`Bearer ${await bearer(i % 2 ? 'ann' : 'ANN', `wrong ${i}`)}`, `192.0.2.${i}`]);
    const { result, late } = await atOnce(wrong, 30, async () => [await statusFrom('ann', '198.51.100.1'), await statusFrom('ben', '198.51.100.1')]);
    expect(result).toEqual([429, 200]);
    const statuses = await late();
    expect([count(statuses, 429), count(statuses, 401)]).toEqual([30, 10]);
    // the addresses of refused attempts have no running attempt
    expect(await statusFrom('ben', '192.0.2.39')).toBe(200);
  });

  it('locks no user out of the places from which it has signed in before, and does not delay it there', async () => {
    expect(await statusFrom('ann', '203.0.113.1')).toBe(200);
    for (let i = 0; i < 9; i++) await getToken(`Bearer ${await bearer('ann', `wrong ${i}`)}`, { 'cf-connecting-ip': `192.0.2.${i}` });
    pauses.length = 0;
    const wrong: [string, string][] = [];
    for (let i = 0; i < 12; i++) wrong.push([`Bearer ${await bearer('ann', `wrong ${i}`)}`, `192.0.2.${i}`]);
    const { result, late } = await atOnce(wrong, 2, async () => [
      await statusFrom('ann', '203.0.113.2'),
      await statusFrom('ann', '203.0.113.1'),
      await statusFrom('ben', '203.0.113.1'),
    ]);
    expect([result, pauses]).toEqual([[429, 200, 200], []]);
    await late();
    // guesses there count for themselves
    pauses.length = 0;
    for (let i = 0; i < 5; i++) await getToken(`Bearer ${await bearer('ann', `wrong ${i}`)}`, { 'cf-connecting-ip': '203.0.113.1' });
    expect(pauses).toEqual([500]);
  });

  it('checks thirty-two attempts at once in an isolate, for any users', async () => {
    const wrong: [string, string][] = [];
    for (let i = 0; i < 60; i++) wrong.push([`Bearer ${await bearer(`nobody ${i}`)}`, `192.0.2.${i}`]);
    const { result, late } = await atOnce(wrong, 28, () => statusFrom('ann', '198.51.100.1'));
    expect(result).toBe(429);
    const statuses = await late();
    expect([count(statuses, 429), count(statuses, 401)]).toEqual([28, 32]);
    expect(await statusFrom('ann', '198.51.100.1')).toBe(200);
  });

  it('checks thirty-two attempts at once if they cannot be counted', async () => {
    broken = true;
    const wrong: [string, string][] = [];
    for (let i = 0; i < 40; i++) wrong.push([`Bearer ${await bearer('ann', `wrong ${i}`)}`, '192.0.2.1']);
    const { late } = await atOnce(wrong, 8, async () => undefined);
    expect(count(await late(), 401)).toBe(32);
    expect(await statusFrom('ann', '192.0.2.1')).toBe(200);
  });

  it('releases the slots if the catalog fails', async () => {
    const asked = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('unreachable'));
    const from = { 'cf-connecting-ip': '192.0.2.1' };
    for (let i = 0; i < 12; i++) expect((await getToken(`Bearer ${await bearer('ann')}`, from)).status).toBe(503);
    asked.mockRestore();
    expect(await statusFrom('ann', '192.0.2.1')).toBe(200);
  });

  it('is 405 for another method', async () => {
    const get = await service.fetch('/svc/api/get_token', { headers: { authorization: `Bearer ${await bearer('ann')}` } });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  });
});

describe('the login page', () => {
  it('creates a session for the right password, and redirects to the requested page', async () => {
    const browser = visitor();
    const address = `${PAGE}?x=1&y=%26`;
    const sent = await browser.send(address);
    expect([sent.status, sent.location]).toEqual([303, `/svc/login?${new URLSearchParams({ return_to: address })}`]);
    const shown = await browser.send(sent.location as string);
    expect(shown.status).toBe(200);
    const done = await browser.post('/svc/login', { ...hidden(shown.text), user: 'ann', password: PASSWORD });
    expect([done.status, done.location, done.text]).toEqual([303, address, '']);
    const given = await browser.send(done.location as string);
    expect([given.status, JSON.parse(given.text)]).toEqual([200, { token: expect.stringMatching(/^tk_/) }]);
    expect(given.headers.get('cache-control')).toBe('no-store');
    const again = await browser.send(PAGE.slice(0, -1), { headers: { accept: '*/*' } });
    expect(JSON.parse(again.text).token).not.toBe(JSON.parse(given.text).token);
    expect(await works(JSON.parse(given.text).token)).toBe(200);
    const rows = await service.rows('SHOW TOKEN FOR ann');
    expect(rows.filter((r) => r.label === 'get_svc_user_token').length).toBe(2);
    const audit = await catalog("SELECT user_name, credential FROM kg_catalog.audit WHERE action = 'login'");
    expect(audit).toEqual([{ user_name: 'ann', credential: 'password' }]);
  });

  it('keeps its cookies from scripts and other sites', async () => {
    const browser = visitor();
    await browser.logIn('ann', PASSWORD);
    expect(browser.set.map((line) => line.replace(/=[^;]*/, '=...'))).toEqual([
      'svc_form=...; Path=/; HttpOnly; SameSite=Lax',
      'svc_session=...; Path=/; HttpOnly; SameSite=Lax',
    ]);
  });

  it('shows the logged-in user, and redirects to the requested page', async () => {
    const browser = visitor();
    const done = await browser.logIn('ann', PASSWORD);
    expect(done.location).toBe('/svc/login');
    expect((await browser.send('/svc/login')).text).toContain('You are logged in as <strong>ann</strong>');
    const on = await browser.send('/svc/login?return_to=%2Fsvc%2Fapi%2Fdocs');
    expect([on.status, on.location]).toEqual([303, '/svc/api/docs']);
  });

  it('answers the same for a wrong password and an unknown user, and keeps the return path', async () => {
    const texts: string[] = [];
    for (const [user, password] of [
      ['ann', 'wrong'],
      ['nobody', PASSWORD],
      ['nopass', ''],
      ['ann\0', PASSWORD],
    ] as const) {
      const browser = visitor();
      const answer = await browser.logIn(user, password, '/svc/api/docs');
      expect([answer.status, browser.cookies.has('svc_session'), hidden(answer.text).return_to]).toEqual([401, false, '/svc/api/docs']);
      expect(answer.text).not.toContain(PASSWORD);
      texts.push(answer.text.replace(/value="[^"]*"/g, ''));
    }
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain('<p id="message" role="alert">User name or password is wrong.</p>');
  });

  it('delays answers like get_token, with shared counters', async () => {
    const browser = visitor();
    for (let i = 0; i < 4; i++) await getToken(`Bearer ${await bearer('ann', 'x')}`);
    await browser.logIn('ann', 'wrong');
    expect((await browser.logIn('ann', PASSWORD)).status).toBe(303);
    expect(pauses).toEqual([500, 500]);
  });

  it('refuses an attempt when too many run', async () => {
    const browser = visitor();
    const fields = { ...hidden((await browser.send('/svc/login')).text), user: 'ann', password: PASSWORD };
    const address = counter(`address:${createHash('sha256').update('-').digest('hex')}`);
    const tickets = Array.from({ length: 5 }, () => address.begin(5));
    expect((await browser.post('/svc/login', fields)).status).toBe(429);
    address.cancel(String(tickets[0]));
    expect((await browser.post('/svc/login', fields)).status).toBe(303);
  });

  it('accepts a form only of its own page in the same browser', async () => {
    const own = visitor();
    const fields = { ...hidden((await own.send('/svc/login')).text), user: 'ann', password: PASSWORD };
    const others = visitor();
    await others.send('/svc/login');
    const attempts: readonly (readonly [Visitor, Record<string, string>, Record<string, string>, number])[] = [
      [visitor(), fields, {}, 403], // another browser
      [others, fields, {}, 403],
      [own, { ...fields, form_token: '' }, {}, 403],
      [own, { user: 'ann', password: PASSWORD }, {}, 403],
      [own, fields, { origin: 'https://evil.example' }, 403],
      [own, fields, { origin: 'null' }, 403],
      [own, fields, { origin: 'https://127.0.0.1' }, 403],
      [own, fields, { 'sec-fetch-site': 'cross-site' }, 403],
      [own, fields, { 'sec-fetch-site': 'same-site' }, 403],
      [own, fields, { 'content-type': 'text/plain' }, 415],
      [own, fields, { origin: 'http://127.0.0.1', 'sec-fetch-site': 'same-origin' }, 303],
    ];
    for (const [browser, sent, headers, status] of attempts) {
      const answer = await browser.post('/svc/login', sent, headers);
      expect([sent, headers, answer.status, browser.cookies.has('svc_session')]).toEqual([sent, headers, status, status === 303]);
    }
    // of the one attempt that was made
    expect(counters.size).toBe(3);
  });

  it('accepts a form of an older tab, and repeats one from before the cookie was lost', async () => {
    const browser = visitor();
    const older = hidden((await browser.send('/svc/login')).text);
    await browser.send('/svc/login');
    expect((await browser.post('/svc/login', { ...older, user: 'ann', password: PASSWORD })).status).toBe(303);
    browser.cookies.clear();
    const again = await browser.post('/svc/login', { ...older, user: 'ann', password: PASSWORD });
    expect([again.status, again.text.includes('Try again.')]).toEqual([403, true]);
    expect((await browser.post('/svc/login', { ...hidden(again.text), user: 'ann', password: PASSWORD })).status).toBe(303);
  });
});

describe('a session', () => {
  const isIn = async (browser: Visitor): Promise<boolean> => {
    const { status, location } = await browser.send(PAGE);
    expect([200, 303]).toContain(status);
    if (status === 303) expect(location).toMatch(/^\/svc\/login\?/);
    return status === 200;
  };
  const loggedIn = async (user: string): Promise<Visitor> => {
    const browser = visitor();
    await browser.logIn(user, PASSWORD);
    expect(await isIn(browser)).toBe(true);
    return browser;
  };

  it('ends with a new password, even if it is the same', async () => {
    const browser = await loggedIn('cleo');
    await catalog("UPDATE kg_catalog.users SET password = $1 WHERE key = 'cleo'", [await hashPassword(PASSWORD)]);
    expect(await isIn(browser)).toBe(false);
  });

  it('ends with its user', async () => {
    const browser = await loggedIn('cleo');
    await catalog("UPDATE kg_catalog.users SET active = false WHERE key = 'cleo'");
    expect(await isIn(browser)).toBe(false);
    expect((await browser.logIn('cleo', PASSWORD)).status).toBe(401);
    await catalog("UPDATE kg_catalog.users SET active = true WHERE key = 'cleo'");
  });

  it('ends after eight hours', async () => {
    const browser = await loggedIn('ben');
    ahead = 8 * HOUR - 60_000;
    expect(await isIn(browser)).toBe(true);
    ahead = 8 * HOUR;
    expect(await isIn(browser)).toBe(false);
  });

  it('ends when its user logs out, in every copy of its cookie; other sessions of the user continue', async () => {
    const [browser, other] = [await loggedIn('ben'), await loggedIn('ben')];
    const copy = browser.cookies.get('svc_session') as string;
    const { text } = await browser.send('/svc/login');
    expect((await browser.post('/svc/logout', { form_token: 'x' })).status).toBe(403);
    expect((await browser.post('/svc/logout', hidden((await other.send('/svc/login')).text))).status).toBe(403);
    expect((await browser.post('/svc/logout', hidden(text), { origin: 'https://evil.example' })).status).toBe(403);
    expect(await isIn(browser)).toBe(true);
    const out = await browser.post('/svc/logout', hidden(text));
    expect([out.status, out.location, browser.cookies.has('svc_session')]).toEqual([303, '/svc/login', false]);
    browser.cookies.set('svc_session', copy);
    expect([await isIn(browser), await isIn(other)]).toEqual([false, true]);
    // kept for as long as the cookie would have been valid
    const db = neonDb(parseConnection(service.database.secret(CATALOG_OWNER), 'CATALOG_URL'));
    await housekeeping(db, { auditRetentionDays: 90, historyRetentionDays: 30, versionRetentionDays: 0 });
    expect(await isIn(browser)).toBe(false);
    await catalog("UPDATE kg_catalog.ended_sessions SET until = now() - interval '1 second'");
    await housekeeping(db, { auditRetentionDays: 90, historyRetentionDays: 30, versionRetentionDays: 0 });
    expect(await catalog('SELECT count(*)::int AS n FROM kg_catalog.ended_sessions')).toEqual([{ n: 0 }]);
  });

  it('is accepted only as signed, and only as a session', async () => {
    const browser = await loggedIn('ben');
    const value = browser.cookies.get('svc_session') as string;
    const [text = '', signature = ''] = value.split('.');
    const sealed = JSON.parse(Buffer.from(text, 'base64url').toString());
    const admin = Buffer.from(JSON.stringify({ ...sealed, user: '00000000-0000-4000-8000-000000000001' })).toString('base64url');
    const form = hidden((await visitor().send('/svc/login')).text).form_token as string;
    const forged = [
      `${admin}.${signature}`,
      `${text}.`,
      text,
      `${text}.${signature}.x`,
      `${value}x`,
      `.${signature}`,
      '',
      'x.y',
      `${text}.${form}`,
      `${text}.${signature.slice(0, -1)}`,
    ];
    for (const other of forged) {
      browser.cookies.set('svc_session', other);
      expect([other, await isIn(browser)]).toEqual([other, false]);
    }
    browser.cookies.set('svc_session', value);
    expect(await isIn(browser)).toBe(true);
  });

  it('is not a credential for the REST API, and a token is not one for the pages', async () => {
    const browser = await loggedIn('ben');
    expect((await browser.send('/svc/api/get_ontologies')).status).toBe(401);
    const sent = await visitor().send(PAGE, { headers: { 'x-api-key': service.token, authorization: `Bearer ${service.token}` } });
    expect(sent.status).toBe(303);
  });
});

describe('the token page', () => {
  it('gives nothing to pages of other sites, to prefetching browsers, to HEAD', async () => {
    const browser = visitor();
    await browser.logIn('ben', PASSWORD);
    const tokens = () => catalog('SELECT count(*)::int AS n FROM kg_catalog.tokens');
    const before = await tokens();
    for (const [init, status] of [
      [{ headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' } }, 403],
      [{ headers: { 'sec-fetch-site': 'cross-site', accept: '*/*' } }, 403],
      [{ headers: { 'sec-fetch-site': 'same-site', accept: '*/*' } }, 403],
      [{ headers: { 'sec-purpose': 'prefetch;prerender' } }, 403],
      [{ method: 'HEAD' }, 405],
      [{ method: 'POST' }, 405],
    ] as const) {
      const { status: got, text } = await browser.send(PAGE, init);
      expect([init, got, /tk_/.test(text)]).toEqual([init, status, false]);
    }
    expect(await tokens()).toEqual(before);
    for (const site of ['same-origin', 'none']) expect((await browser.send(PAGE, { headers: { 'sec-fetch-site': site } })).status).toBe(200);
  });
});
