/** The session in docs/model-as-code.md: the commands on files in two folders, against a service. The page must show exactly what they print. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { main } from '../../src/cli/kg.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let server: Server;
let folder: string;
let session = '';
const versions = new Map<string, string>();

/** Versions are named in the order in which they appear. */
const named = (line: string): string =>
  line.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => {
    if (!versions.has(id)) versions.set(id, `VERSION-${versions.size + 1}`);
    return versions.get(id) as string;
  });
const kg = async (command: string): Promise<void> => {
  const { port } = server.address() as AddressInfo;
  const lines: string[] = [];
  const env = { KG_URL: `http://127.0.0.1:${port}`, KG_TOKEN: service.token, INIT_CWD: folder };
  const print = (line: string): void => void lines.push(named(line));
  const code = await main(command.split(' '), env, { out: print, err: print });
  session += `$ kg ${command}\n${lines.map((line) => `${line}\n`).join('')}${code === 0 ? '' : `(exit code ${code})\n`}`;
};
const file = async (name: string, content: string): Promise<void> => {
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await writeFile(join(folder, name), content);
};
const say = (line: string): void => {
  session += `\n# ${line}\n`;
};

beforeAll(async () => {
  service = await startService({
    tables: [
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.customers (no int PRIMARY KEY, name text, city text)',
      'CREATE TABLE shop.staff (id int PRIMARY KEY, name text)',
    ],
  });
  server = createServer(async (request, response) => {
    const { method = 'GET', headers } = request;
    const body = method === 'GET' ? undefined : await text(request);
    const answer = await service.fetch(request.url ?? '/', { method, headers: headers as Record<string, string>, ...(body === undefined ? {} : { body }) });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  folder = await mkdtemp(join(tmpdir(), 'model-'));
});
afterAll(async () => {
  server?.close();
  await service?.close();
  if (folder) await rm(folder, { recursive: true });
});

const CUSTOMER = `CREATE CONCEPT customer (
  no integer,
  name string,
  city string,
  PRIMARY KEY (no),
  LABEL (name)
)
  DESCRIPTION 'Who buys';
CREATE MAPPING customers
  INTO customer
  AS SELECT no, name, city FROM shop.customers;
CREATE EXAMPLE 'Which cities?'
  AS SELECT DISTINCT city FROM svc.customer;
`;

it('the session of the page is what the commands print', async () => {
  await file('shop/customer.kg', CUSTOMER);
  await file(
    'staff/member.kg',
    'CREATE CONCEPT member (id integer, name string, PRIMARY KEY (id));\nCREATE MAPPING members\n  INTO member\n  AS SELECT id, name FROM shop.staff;\n',
  );
  say('Two folders, one for each ontology. CI applies both on main.');
  await kg('apply shop --ontology shop --source repo --prune --yes');
  await kg('apply staff --ontology staff --source repo --prune --yes');
  say('A pull request describes the city in the file of customers: CI comments with the plan.');
  await file('shop/customer.kg', CUSTOMER.replace("'Who buys'", "'Who buys, one row for each contract'"));
  await kg('plan shop --ontology shop --source repo --prune');
  say('It is merged, CI applies it, and a second run finds nothing to do.');
  await kg('apply shop --ontology shop --source repo --prune --yes');
  await kg('apply shop --ontology shop --source repo --prune --yes');
  say('A rename: the plan names the column that readers lose, and the example that stops planning.');
  const renamed = CUSTOMER.replace("'Who buys'", "'Who buys, one row for each contract'")
    .replace('city string', 'town string')
    .replace('no, name, city FROM', 'no, name, city AS town FROM');
  await file('shop/customer.kg', renamed);
  await kg('plan shop --ontology shop --source repo --prune');
  say('The example is changed in the same pull request, and it is merged.');
  await file('shop/customer.kg', renamed.replace('DISTINCT city', 'DISTINCT town'));
  await kg('apply shop --ontology shop --source repo --prune --yes');
  say('A concept is added, and later removed with its file. Without --yes nothing is dropped.');
  await file('shop/gone.kg', 'CREATE CONCEPT lead INHERITS (customer);\n');
  await kg('apply shop --ontology shop --source repo --prune --yes');
  await rm(join(folder, 'shop/gone.kg'));
  await kg('apply shop --ontology shop --source repo --prune');
  await kg('apply shop --ontology shop --source repo --prune --yes');
  say('The rename was wrong: back to the version before it. The next plan shows what the files would change again, so revert them too.');
  const [first] = [...versions].find(([, name]) => name === 'VERSION-3') ?? [];
  await file('rollback.kg', `ROLLBACK ONTOLOGY shop TO VERSION '${first}';\n`);
  await kg('run rollback.kg --ontology shop');
  await kg('plan shop --ontology shop --source repo --prune');
  const page = await readFile('docs/model-as-code.md', 'utf8');
  const shown = page.split('## A session\n')[1]?.match(/```text\n([\s\S]*?)```/)?.[1] ?? '';
  expect(session.trim()).toBe(shown.trim());
});
