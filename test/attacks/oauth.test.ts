/** Attacks with the URLs of OAuth clients: the service must not connect to loopback or to private networks. */
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LocalPostgres } from '../../dev/testing.ts';
import { fetchingOwn, fetchingPublic, isPublicAddress, publicFetch } from '../../src/oauth/public-address.ts';
import { ask, type BuiltWorkers, startBuiltWorkers } from '../integration/support/worker.ts';
import { borrowPostgres } from '../support/databases/index.ts';

/** Hosts on loopback or in a private network, in many spellings. */
const INSIDE = [
  '127.0.0.1',
  '127.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '0177.0x0.1',
  '%31%32%37.0.0.1',
  '127\u30020\u30020\u30021',
  '\uff11\uff12\uff17.0.0.1',
  '127.0.0.1.',
  '0.0.0.0',
  '0',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[ff02::1]',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'localhost..',
  'a.localhost',
  'a.localhost.',
  'localhost.localdomain',
  'printer.local',
  'metadata.google.internal',
  'host.docker.internal',
  'vault.internal.',
  'kubernetes.default.svc.cluster.local',
  'nas.lan',
  'router.home.arpa',
  'intranet',
  'db',
  'a@127.0.0.1',
  'a:b@127.0.0.1',
  'loom.example@127.0.0.1',
  'a@loom.example',
];

describe('an address is public', () => {
  it.each([
    'https://loom.example/client.json',
    'https://LOOM.example:8443/a',
    'https://a.b.c.example./x',
    'https://b\u00fccher.example/x',
    'https://localhost.example/',
  ])('%s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    ...INSIDE.flatMap((host) => [`https://${host}/client.json`, `https://${host}:8443/client.json`]),
    'http://loom.example/client.json',
    'ftp://loom.example/',
    'file:///etc/passwd',
    'data:application/json,{}',
    'loom.example',
    'https://',
    '',
  ])('and not: %s', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('what the library fetches', () => {
  /** A fetch that returns the given answer, and records the requested URLs. */
  const faked = (answer: () => Response) => {
    const asked: string[] = [];
    const real = (async (input: string, init?: RequestInit) => {
      asked.push(`${input} ${init?.redirect}`);
      return answer();
    }) as typeof fetch;
    return { asked, fetched: publicFetch(real) };
  };

  it('is never a redirect', async () => {
    for (const location of ['https://127.0.0.1/', 'https://loom.example/other.json', '/other.json']) {
      const { asked, fetched } = faked(() => new Response(null, { status: 302, headers: { location } }));
      await expect(fetched('https://loom.example/client.json')).rejects.toThrow('redirects');
      expect(asked).toEqual(['https://loom.example/client.json manual']);
    }
  });

  it('is refused before any request', async () => {
    const { asked, fetched } = faked(() => Response.json({}));
    for (const address of ['https://127.0.0.1/keys', 'https://[::1]/keys', 'http://loom.example/keys'])
      await expect(fetched(address)).rejects.toThrow(TypeError);
    await expect(fetched(new Request('https://10.0.0.1/keys'))).rejects.toThrow(TypeError);
    expect(asked).toEqual([]);
    expect(await (await fetched('https://loom.example/keys')).text()).toBe('{}');
  });

  it.each(['text/plain', 'text/html', 'application/octet-stream', 'image/svg+xml', 'text/json', 'application/jsonx', 'application/x; a=application/json', ''])(
    'is JSON, not another stored file of the host (%s)',
    async (type) => {
      const { fetched } = faked(() => new Response('{}', { headers: { 'content-type': type } }));
      await expect(fetched('https://paste.example/raw/client.json')).rejects.toThrow('not JSON');
    },
  );

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JWK-Set+JSON'])('may be %s', async (type) => {
    const { fetched } = faked(() => new Response('{}', { headers: { 'content-type': type } }));
    expect(await (await fetched('https://loom.example/client.json')).text()).toBe('{}');
  });

  it('is limited only in calls of the library', async () => {
    const real = globalThis.fetch;
    const asked: string[] = [];
    globalThis.fetch = (async (input: string) => {
      asked.push(input);
      return new Response('ok');
    }) as typeof fetch;
    try {
      const local = 'http://127.0.0.1:5432/sql';
      const [library, own, meanwhile] = await Promise.all([
        fetchingPublic(async () => fetch(local).catch((error: unknown) => error)),
        fetchingPublic(async () => fetchingOwn(async () => (await fetch(local)).text())),
        fetch(local).then((r) => r.text()),
      ]);
      expect([library, own, meanwhile, asked]).toEqual([expect.any(TypeError), 'ok', 'ok', [local, local]]);
    } finally {
      globalThis.fetch = real;
    }
  });
});

describe('a client_id that leads inside', () => {
  let database: LocalPostgres;
  let workers: BuiltWorkers<'usual' | 'documents'>;
  let heard: string[] = [];
  const servers: Server[] = [];

  /** Listens there, and closes every connection. */
  const listen = (host: string, port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const server = createServer((socket) => {
        heard.push(host);
        socket.destroy();
      });
      server.on('error', reject);
      server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
      servers.push(server);
    });
  let port = 0;

  beforeAll(async () => {
    database = await borrowPostgres();
    workers = await startBuiltWorkers(database, { usual: {}, documents: { MCP_OAUTH_CIMD_ENABLED: 'true' } });
    port = await listen('0.0.0.0', 0);
    // if the machine has IPv6
    await listen('::1', port).catch(() => undefined);
  });
  beforeEach(() => {
    heard = [];
  });
  afterAll(async () => {
    for (const server of servers) server.close();
    await workers?.stop();
    await database?.close();
  });

  const authorize = (client: string): string =>
    `/svc/oauth/authorize?${new URLSearchParams({
      response_type: 'code',
      client_id: client,
      redirect_uri: 'http://127.0.0.1:33418/callback',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    })}`;
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

  it.each(['usual', 'documents'] as const)('is never connected to (%s settings)', async (name) => {
    const base = workers.urls[name];
    const metadata = JSON.parse((await ask(base, '/.well-known/oauth-authorization-server')).text) as Record<string, unknown>;
    expect(metadata.client_id_metadata_document_supported ?? false).toBe(name === 'documents');
    for (const host of INSIDE) {
      for (const scheme of ['https', 'http']) {
        const client = `${scheme}://${host}:${port}/client.json`;
        const { status, headers } = await ask(base, authorize(client));
        expect([client, status, headers.location]).toEqual([client, 400, undefined]);
      }
      const client = `https://${host}:${port}/client.json`;
      const body = new URLSearchParams({ grant_type: 'authorization_code', code: 'x', client_id: client, code_verifier: 'x' }).toString();
      const basic = { ...FORM, authorization: `Basic ${Buffer.from(`${encodeURIComponent(client)}:x`).toString('base64')}` };
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { iss: client, sub: client, aud: base, jti: 'x', exp: Math.floor(Date.now() / 1000) + 60 };
      const assertion = new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: 'x',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: `${part({ alg: 'ES256' })}.${part(claims)}.eA`,
      }).toString();
      for (const [headers, sent] of [
        [FORM, body],
        [basic, 'grant_type=refresh_token&refresh_token=x'],
        [FORM, assertion],
      ] as const) {
        const { status } = await ask(base, '/svc/oauth/token', { method: 'POST', headers, body: sent });
        expect([client, status >= 400 && status < 500]).toEqual([client, true]);
      }
    }
    // a connection is noticed a little later
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(heard).toEqual([]);
    await expect(fetch(`https://127.0.0.1:${port}/`)).rejects.toThrow();
    expect(heard).toEqual(['0.0.0.0']);
  });
});
