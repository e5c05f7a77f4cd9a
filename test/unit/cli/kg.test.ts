import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isToken } from '../../../src/auth/tokens.ts';
import { main } from '../../../src/cli/kg.ts';

interface Seen {
  readonly url: string;
  readonly token: string;
  readonly body: { readonly ontology_name: string; readonly query: string };
}

let dir: string;
let server: Server;
let base: string;
let seen: Seen[];
/** The answers of the simulated service, in order; the last one is repeated. */
let answers: [status: number, body: unknown][];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kg-'));
  server = createServer(async (request, response) => {
    seen.push({ url: request.url ?? '', token: String(request.headers['x-api-key']), body: (await json(request)) as Seen['body'] });
    const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, {}];
    response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await rm(dir, { recursive: true });
});
beforeEach(() => {
  seen = [];
  answers = [[200, { status: 'success', data: [{ version: 'v-1', statements: 2, warnings: [] }] }]];
});

const file = async (name: string, text: string): Promise<string> => {
  const path = join(dir, name);
  await writeFile(path, text);
  return path;
};
const kg = async (args: string[], env: Record<string, string> = { KG_URL: `${base}/`, KG_TOKEN: 'tk_one' }) => {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(args, env, { out: (l) => out.push(l), err: (l) => err.push(l) });
  return { code, out: out.join('\n'), err: err.join('\n') };
};
const refusal = (code: string, position?: number) => ({
  status: 'error',
  data: 'it is wrong',
  code,
  hint: 'fix it',
  ...(position === undefined ? {} : { position }),
  request_id: 'r',
});

const SCRIPT = "CREATE PROPERTY größe string DESCRIPTION '🜁';\nCREATE PROPERTY two string;\n";

describe('kg run', () => {
  it('sends the script to the ontology and prints the version', async () => {
    const path = await file('good.kg', SCRIPT);
    expect(await kg(['run', path, '--ontology', 'shop'])).toEqual({ code: 0, out: 'shop: 2 statements applied, version v-1', err: '' });
    expect(seen).toEqual([{ url: '/svc/api/query/', token: 'tk_one', body: { ontology_name: 'shop', query: SCRIPT } }]);
  });

  it('creates a missing ontology, and prints positions in the file', async () => {
    const path = await file('good.kg', SCRIPT);
    const prefix = 'CREATE ONTOLOGY `my ``shop`;\n';
    const position = [...prefix, ...SCRIPT.slice(0, SCRIPT.indexOf('two'))].length + 1;
    answers = [
      [404, refusal('unknown_ontology')],
      [200, { status: 'success', data: [{ version: 'v-2', statements: 3, warnings: [{ code: 'odd', message: 'odd it is', position }] }] }],
    ];
    expect(await kg(['run', path, '--ontology', 'my `shop'])).toEqual({
      code: 0,
      out: `${path}:2:17: warning: odd it is (odd)\nmy \`shop: 2 statements applied, version v-2`,
      err: '',
    });
    expect(seen[1]?.body).toEqual({ ontology_name: '', query: prefix + SCRIPT });
  });

  it('sends a file that begins with CREATE ONTOLOGY unchanged', async () => {
    const text = `-- mine\nCREATE ONTOLOGY Mine;\n${SCRIPT}`;
    const path = await file('own.kg', text);
    expect((await kg(['run', path])).code).toBe(0);
    expect((await kg(['run', path, '--ontology', 'mine'])).code).toBe(0);
    expect(seen.map((s) => s.body)).toEqual(Array(2).fill({ ontology_name: '', query: text }));
    expect(await kg(['run', path, '--ontology', 'other'])).toMatchObject({ code: 2, err: expect.stringContaining('--ontology is other') });
    expect(seen.length).toBe(2);
  });

  it('prints message, hint and position of an error', async () => {
    const path = await file('bad.kg', SCRIPT);
    answers = [[400, refusal('unknown_type', [...SCRIPT.slice(0, SCRIPT.lastIndexOf('string'))].length + 1)]];
    expect(await kg(['run', path, '--ontology', 'shop'])).toEqual({
      code: 1,
      out: '',
      err: `${path}:2:21: error: it is wrong (unknown_type)\n  hint: fix it`,
    });
    answers = [[403, refusal('forbidden')]];
    expect(await kg(['run', path, '--ontology', 'shop'])).toMatchObject({ code: 1, err: `${path}: error: it is wrong (forbidden)\n  hint: fix it` });
    answers = [
      [404, refusal('unknown_ontology')],
      [403, refusal('forbidden', 3)],
    ];
    expect(await kg(['run', path, '--ontology', 'shop'])).toMatchObject({ code: 1, err: expect.stringContaining(`${path}: error: it is wrong (forbidden)`) });
  });

  it('prints the rows of a script that ends with a query', async () => {
    answers = [[200, { status: 'success', data: [{ a: 1 }, { a: 2 }] }]];
    expect((await kg(['run', await file('q.kg', `${SCRIPT}SELECT 1`), '--ontology', 'shop'])).out).toBe('{"a":1}\n{"a":2}');
  });

  it('prints no control characters of the texts of others; rows stay JSON of the same values', async () => {
    const rows = [{ 'a\u009b31m': '\u001b[2J\u202ex\u007f' }];
    answers = [[200, { status: 'success', data: rows }]];
    const script = await file('q.kg', `${SCRIPT}SELECT 1`);
    const { out } = await kg(['run', script, '--ontology', 'shop']);
    expect(out).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(JSON.parse(out)).toEqual(rows[0]);
    const warning = { code: 'x\u0007', message: '\u001b]0;x\u202e', position: 1 };
    answers = [[200, { status: 'success', data: [{ version: 'v\u009b', statements: 1, warnings: [warning] }] }]];
    expect((await kg(['run', script, '--ontology', 'shop'])).out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    answers = [[200, { status: 'success', data: [{ token: 'tk_\u001b[2J' }] }]];
    expect(await kg(['token', 'ann'])).toMatchObject({ code: 1, out: '' });
  });

  it('names what is missing', async () => {
    expect(await kg(['run', join(dir, 'absent.kg'), '--ontology', 'shop'])).toMatchObject({ code: 1, err: expect.stringContaining('absent.kg') });
    expect(await kg(['run', await file('good.kg', SCRIPT)])).toMatchObject({ code: 2, err: expect.stringContaining('--ontology') });
    expect(await kg(['run', await file('bytes.kg', ''), '--ontology', 'x'], { SESSION_FILE: join(dir, 'none.json') })).toMatchObject({
      code: 1,
      err: expect.stringContaining('KG_URL'),
    });
    expect(seen).toEqual([]);
  });

  it('reports if the service does not answer, or answers something else', async () => {
    const path = await file('good.kg', SCRIPT);
    expect(await kg(['run', path, '--ontology', 'x'], { KG_URL: 'http://127.0.0.1:1', KG_TOKEN: 't' })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^the service at http:\/\/127\.0\.0\.1:1 does not answer/),
    });
    answers = [[502, '<html>']];
    expect(await kg(['run', path, '--ontology', 'x'])).toMatchObject({ code: 1, err: `${base} answered 502, but not like this service` });
  });
});

describe('kg plan and apply', () => {
  const ITEM = {
    action: 'change',
    kind: 'concept',
    name: 'item',
    before: 'CREATE CONCEPT item (\n  a bigint\n)',
    after: 'CREATE CONCEPT item (\n  a string\n)',
  };
  const changes = (...list: unknown[]) => ({ version: null, changes: list, unlisted: [{ kind: 'view', name: 'v' }], warnings: [] });
  const success = (data: unknown): [number, unknown] => [200, { status: 'success', data }];
  const folder = async (): Promise<string> => {
    const at = await mkdtemp(join(dir, 'model-'));
    await mkdir(join(at, 'sub'));
    await Promise.all([
      writeFile(join(at, 'b.kg'), 'CREATE CONCEPT b'),
      writeFile(join(at, 'sub', 'a.kg'), 'CREATE CONCEPT a'),
      writeFile(join(at, 'c.txt'), 'no'),
    ]);
    return at;
  };

  it('send all files of a folder, and print changes, with exit code 3 for a plan', async () => {
    answers = [success(changes(ITEM))];
    const at = await folder();
    expect(await kg(['plan', at, '--ontology', 'shop'])).toEqual({
      code: 3,
      out: '~ concept item\n    - a bigint\n    + a string\nnot in the files: view v\nshop: 0 to create, 1 to change, 0 to drop',
      err: '',
    });
    expect(seen).toEqual([
      {
        url: '/svc/api/model/shop/plan',
        token: 'tk_one',
        body: {
          files: [
            { name: join(at, 'b.kg'), text: 'CREATE CONCEPT b' },
            { name: join(at, 'sub', 'a.kg'), text: 'CREATE CONCEPT a' },
          ],
          source: null,
          prune: false,
          expect: null,
        },
      },
    ]);
    answers = [success({ ...changes(), unlisted: [] })];
    expect(await kg(['plan', at, '--ontology', 'shop'])).toEqual({ code: 0, out: 'shop: nothing to change', err: '' });
    answers = [success({ ...changes(ITEM), version: 'v-2' })];
    expect((await kg(['apply', at, '--ontology', 'shop', '--source', 'ci', '--expect', 'v-1'])).out).toMatch(/1 changed, 0 dropped, version v-2$/);
    expect(seen.at(-1)?.body).toMatchObject({ source: 'ci', prune: false, expect: 'v-1' });
  });

  it('print no control characters of the texts of others', async () => {
    const at = await folder();
    const hostile = { ...ITEM, name: 'it\u001b[2Jem', after: `${ITEM.after} DESCRIPTION = '\u202e\u009b31m\u0007'` };
    answers = [success({ ...changes(hostile), warnings: [{ code: 'column_dropped', message: '\u001b]0;x\u0007' }] })];
    const { out } = await kg(['plan', at, '--ontology', 'shop']);
    expect(out).toContain('~ concept it\\u{1b}[2Jem');
    expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  it('drop nothing without a confirmation', async () => {
    const at = await folder();
    answers = [success(changes({ ...ITEM, action: 'drop', after: null }))];
    expect(await kg(['apply', at, '--ontology', 'shop', '--prune', '--source', 's'])).toEqual({
      code: 1,
      out: '',
      err: 'This drops: concept item\nNothing was changed. Confirm with --yes',
    });
    expect(seen.map((s) => s.url)).toEqual(['/svc/api/model/shop/plan']);
    expect((await kg(['apply', at, '--ontology', 'shop', '--prune', '--all', '--yes'])).code).toBe(0);
    expect(seen.at(-1)).toMatchObject({ url: '/svc/api/model/shop/apply', body: { source: null, prune: true } });
    expect((await kg(['apply', at, '--ontology', 'shop', '--prune'])).code).toBe(2);
  });

  it('prune only what a plan of the same version drops', async () => {
    const at = await folder();
    for (const [base, limits] of [
      ['v-1', { prune: true, expect: 'v-1' }],
      [null, { prune: false, expect: null }],
    ] as const) {
      answers = [success({ ...changes(ITEM), base })];
      expect((await kg(['apply', at, '--ontology', 'shop', '--prune', '--source', 's'])).code).toBe(0);
      expect(seen.slice(-2).map((s) => s.url)).toEqual(['/svc/api/model/shop/plan', '/svc/api/model/shop/apply']);
      expect(seen.at(-1)?.body).toMatchObject(limits);
    }
  });

  it('print an error at its place in its file', async () => {
    const at = await folder();
    answers = [[400, { ...refusal('unknown_concept', 8), data: `${join(at, 'sub', 'a.kg')}: it is wrong` }]];
    expect(await kg(['plan', at, '--ontology', 'shop'])).toMatchObject({
      code: 1,
      err: `${join(at, 'sub', 'a.kg')}:1:8: error: it is wrong (unknown_concept)\n  hint: fix it`,
    });
  });
});

describe('kg fmt and lint', () => {
  it('format in place, and check without changing anything', async () => {
    const path = await file('f.kg', 'create concept c(a bigint)');
    expect(await kg(['fmt', path, '--check'], {})).toEqual({ code: 3, out: `${path} is not formatted`, err: '' });
    expect((await kg(['fmt', path], {})).code).toBe(0);
    expect(await readFile(path, 'utf8')).toBe('CREATE CONCEPT c (\n  a bigint\n)\n');
    expect(await kg(['fmt', path, '--check'], {})).toEqual({ code: 0, out: '', err: '' });
  });

  it('find what is missing, unless a comment silences it', async () => {
    const path = await file(
      'l.kg',
      "CREATE PROPERTY ghost string;\nCREATE CONCEPT c (firstName string, last_name string, other_name string) DESCRIPTION 'd';\n-- lint: ignore missing_description, missing_label\nCREATE CONCEPT d (k bigint, PRIMARY KEY (k), CONSTRAINT r FOREIGN KEY (k) REFERENCES d (k));\nCREATE MEASURE m bigint AS SELECT COUNT(k)",
    );
    const { code, out } = await kg(['lint', path], {});
    expect([code, out.replaceAll(path, 'l.kg').split('\n')]).toEqual([
      3,
      [
        'l.kg:1:17: no concept lists the property `ghost` (unused_property)',
        'l.kg:2:16: the concept `c` has no PRIMARY KEY, so its rows have no entity_id (missing_key)',
        'l.kg:2:16: the concept `c` has no LABEL (missing_label)',
        'l.kg:2:19: `firstName` is not in snake_case, as most other names are (two_styles)',
        'l.kg:4:57: the relationship `r` has no INVERSEOF, so its other direction is named `~r` (missing_inverse)',
        'l.kg:5:16: the measure `m` has no description (measure_without_description)',
        '6 findings in 1 file',
      ],
    ]);
  });
});

describe('the service is found', () => {
  it('by the session file, whose token is sent only to its URL', async () => {
    const session = await file('session.json', JSON.stringify({ base_url: base, admin_token: 'tk_session' }));
    const path = await file('good.kg', SCRIPT);
    const run = (env: Record<string, string>) => kg(['run', path, '--ontology', 'shop'], { SESSION_FILE: session, ...env });
    expect((await run({})).code).toBe(0);
    expect((await run({ KG_TOKEN: 'tk_mine' })).code).toBe(0);
    expect((await run({ KG_URL: `${base}/` })).code).toBe(0);
    expect((await run({ PRODUCT_NAME: 'acme' })).code).toBe(0);
    expect(seen.map((s) => [s.url, s.token])).toEqual([
      ['/svc/api/query/', 'tk_session'],
      ['/svc/api/query/', 'tk_mine'],
      ['/svc/api/query/', 'tk_session'],
      ['/acme/api/query/', 'tk_session'],
    ]);
    expect(await run({ KG_URL: 'http://127.0.0.1:2' })).toMatchObject({ code: 1, err: 'no token for http://127.0.0.1:2: set KG_TOKEN' });
  });
});

describe('kg validate', () => {
  it('accepts a valid file, prints its warnings, calls no service', async () => {
    const path = await file(
      'v.kg',
      "CREATE ONTOLOGY o;\nCREATE CONCEPT item (k bigint, ghost string, PRIMARY KEY (k));\nCREATE MAPPING m INTO item USING anything AS SELECT id AS k FROM t.item;\nCREATE EXAMPLE 'Which?' AS SELECT k FROM vsvc.v;\nCREATE VIEW v AS SELECT k FROM svc.item;\n",
    );
    expect(await kg(['validate', path], {})).toEqual({
      code: 0,
      out: `${path}:2:32: warning: no mapping provides the property \`ghost\` of concept \`item\`: it is always NULL (unmapped_property)\n${path}: 5 statements, 1 warning`,
      err: '',
    });
    expect(seen).toEqual([]);
  });

  it.each([
    [
      'an unknown parent',
      'CREATE CONCEPT fine;\n  CREATE CONCEPT broken INHERITS (no_such_parent)',
      /^[^\n]*bad\.kg:2:35: error: unknown concept `no_such_parent`/,
    ],
    ['a misspelt keyword', '-- 🜁 é\n/* 🜁 */ CREAT CONCEPT x', /bad\.kg:2:9: error: unknown statement/],
    ['a view over an unknown property', 'CREATE CONCEPT item (k bigint); CREATE VIEW v AS\n SELECT kk FROM svc.item', /bad\.kg:2:9: error: .*kk/],
    ['an example over an unknown property', "CREATE EXAMPLE 'q' AS\n SELECT kk FROM svc.item; CREATE CONCEPT item (k bigint)", /bad\.kg:2:9: error: .*kk/],
    ['an example that changes something', "CREATE EXAMPLE 'q' AS\n SELECT 1 AS n INTO x", /bad\.kg:2:2: error: .*INTO/],
  ])('refuses %s with its position and exit code 1', async (_, text, message) => {
    const { code, err, out } = await kg(['validate', await file('bad.kg', text)], {});
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(message);
  });
});

describe('kg token and help', () => {
  it('prints the new token of a user, and nothing else', async () => {
    answers = [[200, { status: 'success', data: [{ token_id: '1', user: 'a', token: 'tk_new', expires: null }] }]];
    expect(await kg(['token', 'an`a'])).toEqual({ code: 0, out: 'tk_new', err: '' });
    expect(seen[0]?.body).toEqual({ ontology_name: '', query: 'CREATE TOKEN FOR `an``a`' });
    answers = [[400, refusal('unknown_user', 18)]];
    expect(await kg(['token', 'b'])).toMatchObject({ code: 1, err: expect.stringContaining('it is wrong (unknown_user)') });
  });

  it('token --new creates one offline', async () => {
    const { code, out } = await kg(['token', '--new'], {});
    expect([code, isToken(out)]).toEqual([0, true]);
    expect(seen).toEqual([]);
  });

  it.each([[[]], [['nothing']], [['apply']], [['validate', 'a', 'b']], [['token']], [['apply', 'x', '--colour']]])('%j is wrong usage', async (args) => {
    expect((await kg(args)).code).toBe(2);
  });

  it('help', async () => {
    for (const args of [['help'], ['--help'], ['apply', '-h']]) expect((await kg(args, {})).out).toMatch(/^Usage: npm run kg/);
  });
});
