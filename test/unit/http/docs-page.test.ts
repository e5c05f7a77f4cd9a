/** The docs page: what it loads, and its script with a fake of the DOM that it uses. */
import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, it } from 'vitest';
import { SCRIPT } from '../../../src/http/docs-page-script.ts';
import { serviceDocument } from '../../../src/http/openapi.ts';
import { asked } from './fake-runtime.ts';

class FakeNode {
  tag: string;
  children: (FakeNode | string)[] = [];
  dataset: Record<string, string> = {};
  className = '';
  value = '';
  disabled = false;
  readonly listeners = new Map<string, (event: unknown) => unknown>();
  constructor(tag: string) {
    this.tag = tag;
  }
  append(...nodes: (FakeNode | string)[]) {
    for (const n of nodes) if (typeof n !== 'string' && !(n instanceof FakeNode)) throw new TypeError(`not a node: ${String(n)}`);
    this.children.push(...nodes);
  }
  replaceChildren(...nodes: (FakeNode | string)[]) {
    this.children = [];
    this.append(...nodes);
  }
  setAttribute() {}
  addEventListener(name: string, listener: (event: unknown) => unknown) {
    this.listeners.set(name, listener);
  }
  fire(name: string): unknown {
    return this.listeners.get(name)?.({ preventDefault: () => undefined });
  }
  set textContent(text: string) {
    this.children = [text];
  }
  get textContent(): string {
    return this.children.map((c) => (typeof c === 'string' ? c : c.textContent)).join('');
  }
  set innerHTML(_: string) {
    throw new Error('nothing is put in as HTML');
  }
  all(tag: string): FakeNode[] {
    return this.children.flatMap((c) => (typeof c === 'string' ? [] : [...(c.tag === tag ? [c] : []), ...c.all(tag)]));
  }
}

const IDS = ['app', 'token', 'document', 'search', 'message', 'operations', 'credential'];
let nodes: Record<string, FakeNode>;
let sent: { url: string; init: RequestInit }[];
let answers: (url: string) => Response;

/** Runs the script over new nodes. */
function open(): void {
  nodes = Object.fromEntries(IDS.map((id) => [id, new FakeNode(id)]));
  (nodes.app as FakeNode).dataset.api = '/svc/api';
  sent = [];
  runInNewContext(SCRIPT, {
    document: { getElementById: (id: string) => nodes[id], createElement: (tag: string) => new FakeNode(tag) },
    location: { origin: 'http://127.0.0.1:8787' },
    performance,
    fetch: async (url: string, init: RequestInit) => {
      sent.push({ url, init });
      return answers(url);
    },
  });
}

const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
const node = (id: string): FakeNode => nodes[id] as FakeNode;
const document = serviceDocument({ product: 'svc', release: '1', url: null });

beforeEach(async () => {
  answers = (url) =>
    url.endsWith('get_ontologies')
      ? Response.json({ status: 'success', data: ['shop', '<b>'] })
      : url.includes('.json')
        ? Response.json(document)
        : Response.json({});
  open();
  node('token').value = 'tk_x';
  node('credential').fire('submit');
  await settle();
});

/** The box of an operation, opened. */
function opened(title: string): FakeNode {
  const box = node('operations')
    .all('details')
    .find((d) => d.className === 'operation' && d.all('summary')[0]?.textContent.startsWith(title)) as FakeNode;
  box.fire('toggle');
  return box;
}
const button = (box: FakeNode, label: string): FakeNode => box.all('button').find((b) => b.textContent === label) as FakeNode;
/** The input under a label. */
function field(box: FakeNode, label: string): FakeNode {
  const row = box.all('div').find((d) => d.className === 'field' && d.all('label')[0]?.textContent.replace(' *', '') === label) as FakeNode;
  return [...row.all('input'), ...row.all('select')][0] as FakeNode;
}

describe('the script of the docs page', () => {
  it('loads the document with the token and lists all operations', () => {
    expect(sent.map((s) => [s.url, (s.init.headers as Record<string, string>)['x-api-key']])).toEqual([
      ['/svc/api/get_ontologies', 'tk_x'],
      ['/svc/api/openapi.json', 'tk_x'],
    ]);
    expect(
      node('document')
        .all('option')
        .map((o) => o.textContent),
    ).toEqual(['The service', 'Ontology shop', 'Ontology <b>']);
    const count = Object.values(document.paths as Record<string, object>).reduce((n, item) => n + Object.keys(item).length, 0);
    expect(node('operations').all('details').length).toBe(count);
    expect(node('message').textContent).toBe('svc: knowledge-graph query API, 1');
    for (const box of node('operations').all('details')) box.fire('toggle');
    expect(node('operations').textContent).toMatch(/executed_query: string/);
  });

  it('finds operations', () => {
    node('search').value = 'AGENTS';
    node('search').fire('input');
    expect(
      node('operations')
        .all('summary')
        .map((s) => s.textContent.replace(/ Lists the agents.*/, '')),
    ).toEqual(['GET /svc/api/get_agents', 'POST /svc/api/get_agents']);
  });

  it('sends calls as filled in, and shows the answer with all digits', async () => {
    const box = opened('GET /svc/api/q/{ontology_name}/concept/{concept_name}');
    field(box, 'ontology_name').value = 'a/b';
    field(box, 'concept_name').value = 'ö';
    field(box, '_subj_').value = 'name';
    field(box, '_op_').value = 'eq';
    button(box, 'Another filter').fire('click');
    field(box, '_subj1_').value = 'x&y';
    field(box, 'nested').value = 'true';
    answers = () =>
      new Response('{"status":"success","data":[{"n":12345678901234567890.10,"t":"<b>\\"{,"}],"e":[]}', { headers: { 'content-type': 'application/json' } });
    button(box, 'Send').fire('click');
    await settle();
    const { url, init } = sent.at(-1) as { url: string; init: RequestInit };
    expect(url).toBe('/svc/api/q/a%2Fb/concept/%C3%B6?_subj_=name&_op_=eq&_comp_=&_subj1_=x%26y');
    expect([init.method, init.headers, init.body]).toEqual(['GET', { 'x-api-key': 'tk_x', nested: 'true' }, undefined]);
    const answer = box.all('div').find((d) => d.className === 'answer') as FakeNode;
    expect(answer.all('p')[0]?.textContent).toMatch(/^HTTP 200 in \d+ ms/);
    expect(answer.all('pre').at(-1)?.textContent).toBe(
      '{\n  "status": "success",\n  "data": [\n    {\n      "n": 12345678901234567890.10,\n      "t": "<b>\\"{,"\n    }\n  ],\n  "e": []\n}',
    );
    button(box, 'As curl').fire('click');
    expect(answer.textContent).toBe(
      `curl -X GET 'http://127.0.0.1:8787/svc/api/q/a%2Fb/concept/%C3%B6?_subj_=name&_op_=eq&_comp_=&_subj1_=x%26y' \\\n  -H "x-api-key: $TOKEN" \\\n  -H 'nested: true'`,
    );
  });

  it('sends bodies', async () => {
    const box = opened('POST /svc/api/query');
    (box.all('textarea')[0] as FakeNode).value = '{"query":"SELECT 1"}';
    button(box, 'Send').fire('click');
    await settle();
    expect(sent.at(-1)).toEqual({
      url: '/svc/api/query',
      init: { method: 'POST', headers: { 'x-api-key': 'tk_x', 'content-type': 'application/json' }, body: '{"query":"SELECT 1"}', cache: 'no-store' },
    });
  });

  it('shows errors', async () => {
    answers = () => Response.json({ status: 'error', data: 'The API token is not valid' }, { status: 401 });
    node('credential').fire('submit');
    await settle();
    expect([node('message').textContent, node('message').className, node('operations').children]).toEqual(['The API token is not valid', 'bad', []]);
  });
});

describe('the docs page', () => {
  it('needs no credential and loads only its own script and style', async () => {
    for (const path of ['/svc/api/docs', '/svc/api/docs/']) {
      const page = await asked(path);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/);
      const html = await page.text();
      // links of the navigation load nothing
      const loaded = [...html.replaceAll(/<a [^>]*>/g, '').matchAll(/(?:src|href)="([^"]+)"/g)].map((m) => m[1]);
      expect(loaded).toEqual(['data:,', '/svc/api/docs/style.css', '/svc/api/docs/script.js']);
      expect(html).not.toMatch(/<script[^>]*>[^<]|\son\w+=|style="/);
      for (const id of IDS) expect(html).toContain(`id="${id}"`);
    }
    for (const [path, type] of [
      ['/svc/api/docs/script.js', 'text/javascript; charset=utf-8'],
      ['/svc/api/docs/style.css', 'text/css; charset=utf-8'],
    ] as const) {
      const asset = await asked(path);
      expect([asset.status, asset.headers.get('content-type')]).toEqual([200, type]);
      expect(await asset.text()).not.toMatch(/https?:\/\//);
    }
  });
});
