/** docs/language.md: its examples run against the service, and the answers on the page are those of the service. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOG_OWNER, READER } from '../../dev/roles.ts';
import type { LocalPostgres } from '../../dev/testing.ts';
import { createToken } from '../../src/auth/tokens.ts';
import { neonDb } from '../../src/catalog/db.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { readConfig } from '../../src/config.ts';
import { createApp } from '../../src/http/app.ts';
import { borrowPostgres } from '../support/databases/index.ts';

const PAGE = new URL('../../docs/language.md', import.meta.url);
type Row = Record<string, unknown>;

/** A fenced block, the hand-written SQL that must return the same, and the number of rows on the page. */
interface Example {
  readonly kind: string;
  readonly sql: string;
  readonly byHand: string | undefined;
  readonly first: number | undefined;
}

/** ```` ```sql ```` and what follows it: a table or a block of text, then a comment with hand-written SQL, or with the number of rows on the page. */
const EXAMPLE =
  /^```(sql(?: tables)?)\n([\s\S]*?)\n```\n(?:\n((?:\|.*\n)+|```text\n[\s\S]*?\n```\n))?(?:\n(<!-- (?:by hand: ([\s\S]*?)|the first (\d+)) -->\n))?/gm;

const text = await readFile(PAGE, 'utf8');
const examples: Example[] = [...text.matchAll(EXAMPLE)].map(([, kind = '', sql = '', , , byHand, first]) => ({
  kind,
  sql,
  byHand,
  first: first === undefined ? undefined : Number(first),
}));

let db: LocalPostgres;
let answers: { readonly rows?: readonly Row[]; readonly shown: string }[];

beforeAll(async () => {
  db = await borrowPostgres();
  const token = createToken();
  const config = readConfig({
    ADMIN_TOKEN: token,
    CATALOG_URL: db.secret(CATALOG_OWNER),
    DATASOURCE_MAIN: db.secret(READER),
    DATASOURCE_ARCHIVE: db.secret(READER),
  });
  const app = createApp('svc', '0.0.0');
  const runtime = { config, db: neonDb(config.catalog!), parser: await loadNodeParser(), now: Date.now, waitUntil: () => undefined, log: () => undefined };
  const send = async (sql: string) => {
    const body = JSON.stringify({ ontology_name: /^CREATE ONTOLOGY (?!VIEW|CUBE)/.test(sql) ? '' : 'shop', query: sql });
    const headers = { 'x-api-key': token, 'content-type': 'application/json' };
    const response = await app.fetch(new Request('http://127.0.0.1/svc/api/query/', { method: 'POST', headers, body }), { runtime } as never);
    return parse(await response.text()) as { status: string; data: unknown; code?: string; position?: Digits; hint?: string };
  };
  answers = [];
  for (const { kind, sql, first } of examples) {
    if (kind === 'sql tables') {
      for (const statement of sql.split(/;$/m)) if (statement.trim() !== '') await db.exec(statement);
      answers.push({ shown: '' });
      continue;
    }
    const { status, data, code, position, hint } = await send(sql);
    if (status !== 'success') {
      const where = position === undefined ? '' : ` at ${position}`;
      answers.push({ shown: `\`\`\`text\n${code}${where}: ${String(data)}${hint === undefined ? '' : `\nhint: ${hint}`}\n\`\`\`\n` });
    } else if (reads(sql)) answers.push({ rows: data as Row[], shown: answerOf((data as Row[]).slice(0, first)) });
    else answers.push({ shown: warnings(data as Row[]) });
  }
});
afterAll(() => db.close());

/** Whether the last statement of a script returns rows. */
const reads = (sql: string): boolean => /^(SELECT|WITH|SHOW|DESC|DESCRIBE|EXPLAIN)\b/i.test(sql.split(/;\s*$/m).at(-1)?.trim() ?? '');

function warnings([made]: readonly Row[]): string {
  const list = (made?.warnings ?? []) as readonly { code: string; message: string }[];
  return list.length === 0 ? '' : `\`\`\`text\n${list.map((w) => `warning ${w.code}: ${w.message}`).join('\n')}\n\`\`\`\n`;
}

/** A number with the digits of the answer: 2.50 is not 2.5. */
class Digits {
  readonly digits: string;
  constructor(digits: string) {
    this.digits = digits;
  }
  toString(): string {
    return this.digits;
  }
}
const parse = (json: string): unknown =>
  JSON.parse(json, (_key, value, ...[context]: [{ source?: string }?]) => (typeof value === 'number' ? new Digits(context?.source ?? '?') : value));

/** The parts of an answer that differ in each run, replaced: ids by their first occurrence, times, and plan costs. */
function lasting(value: unknown): string {
  return String(value)
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `00000000-0000-4000-8000-${String(ids.indexOf(id) + 1).padStart(12, '0')}`;
    })
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|[+-]\d\d:\d\d)/g, '2026-01-31T12:00:00.000$1')
    .replaceAll(/\(cost=[\d.]+ rows=\d+ width=\d+\)/g, '(cost=… rows=… width=…)');
}
const ids: string[] = [];

/** A script or a plan as a block of text, other rows as a table of the page. */
function answerOf(rows: readonly Row[]): string {
  const [row] = rows;
  const columns = Object.keys(row ?? {});
  if (row && rows.length === 1 && columns.join() === 'script') return `\`\`\`text\n${lasting(row.script)}\n\`\`\`\n`;
  if (row && columns.join() === 'PLAN,SQL')
    return `\`\`\`text\nPLAN\n${lasting(typeof row.PLAN === 'string' ? row.PLAN : JSON.stringify(row.PLAN))}\n\nSQL\n${lasting(row.SQL)}\n\`\`\`\n`;
  const cell = (value: unknown) => (value === null ? 'NULL' : lasting(value).replaceAll('|', '\\|').replaceAll('\n', ' '));
  const lines = [columns, columns.map(() => '---'), ...rows.map((row) => columns.map((c) => cell(row[c])))];
  return rows.length === 0 ? '```text\n(no rows)\n```\n' : lines.map((line) => `| ${line.join(' | ')} |\n`).join('');
}

describe('docs/language.md', () => {
  it('has examples, and enough of them are checked by hand', () => {
    expect(examples.length).toBeGreaterThan(50);
    expect(examples.filter((e) => e.byHand !== undefined).length).toBeGreaterThan(10);
  });

  it('has the rows of the hand-written SQL', async () => {
    for (const [i, { sql, byHand }] of examples.entries()) {
      if (byHand === undefined) continue;
      const rows = (await db.exec(`SELECT to_json(q)::text AS r FROM (${byHand}) q`)).map((row) => parse(String(row.r)));
      expect(answers[i]?.rows, sql).toEqual(rows);
    }
  });

  it('has the answers of the service', async () => {
    let i = 0;
    const page = text.replace(EXAMPLE, (_whole, kind: string, sql: string, _answer, comment: string | undefined) => {
      const shown = answers[i++]?.shown ?? '';
      return `\`\`\`${kind}\n${sql}\n\`\`\`\n${shown === '' ? '' : `\n${shown}`}${comment === undefined ? '' : `\n${comment}`}`;
    });
    await expect(page).toMatchFileSnapshot('../../docs/language.md');
  });
});
