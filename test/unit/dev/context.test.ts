/** `npm run context` on a small set in both forms of files. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { namesIn, readTables, type SourceTable, withJoins } from '../../../dev/context/schemas.ts';
import { main } from '../../../dev/context.ts';

const folder = mkdtempSync(join(tmpdir(), 'context-'));
const file = (name: string, json: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(json));
  return path;
};
const SPIDER = [
  {
    db_id: 'zoo',
    table_names_original: ['animal', 'keeper'],
    column_names_original: [
      [-1, '*'],
      [0, 'no'],
      [0, 'called'],
      [0, 'kept_by'],
      [1, 'id'],
      [1, 'full name'],
    ],
    column_names: [
      [-1, '*'],
      [0, 'number'],
      [0, 'called'],
      [0, 'kept by'],
      [1, 'id'],
      [1, 'full name'],
    ],
    column_types: ['text', 'number', 'text', 'number', 'number', 'text'],
    primary_keys: [1, 4],
    foreign_keys: [[3, 4]],
  },
];
const BEAVER = {
  'zoo#sep#animal': { db_id: 'zoo', table_name_original: 'animal', column_names_original: ['no'], column_types: ['int NOT NULL'], primary_key: ['no'] },
};

async function run(...args: string[]): Promise<{ code: number; out: string }> {
  const lines: string[] = [];
  const code = await main(args, { out: (l) => lines.push(l), err: (l) => lines.push(l) });
  return { code, out: lines.join('\n') };
}

describe('npm run context', () => {
  it('counts questions whose names are in the prompt', async () => {
    const tables = file('tables.json', SPIDER);
    const gold = file('dev.json', [
      { db_id: 'zoo', question: 'How many animals are there?', query: 'SELECT count(*) FROM animal' },
      {
        db_id: 'zoo',
        question: 'Who keeps Ada?',
        SQL: "SELECT T2.`full name` FROM animal AS T1 JOIN keeper AS T2 ON T1.kept_by = T2.id WHERE T1.called = 'keeper'",
      },
    ]);
    const { code, out } = await run('--tables', tables, '--gold', gold);
    expect([code, out]).toEqual([
      0,
      [
        'questions: 2, databases: 1, tables: 2 to 2',
        'all names in the first prompt: 2 of 2 (100.0 %)',
        'in at most 2 prompts, if a model reports the tables that are missing: 2 of 2 (100.0 %)',
        'in at most 3 prompts, if a model reports the tables that are missing: 2 of 2 (100.0 %)',
        'in at most 4 prompts, if a model reports the tables that are missing: 2 of 2 (100.0 %)',
        'of 0 questions whose graph is not written whole: -',
      ].join('\n'),
    ]);
  });

  it('finds the tables and columns of a statement, and no values', async () => {
    const zoo = (await readTables(file('t.json', SPIDER))).get('zoo') as readonly SourceTable[];
    const names = (sql: string) => [...namesIn(sql, zoo)].map(([t, columns]) => [t.name, ...columns]);
    expect(names("SELECT called FROM animal WHERE called = 'keeper id'")).toEqual([['animal', 'called']]);
    expect(names('SELECT T1.NO FROM animal AS T1 JOIN keeper ON T1.kept_by = keeper.id WHERE called = "full name"')).toEqual([
      ['animal', 'no', 'called', 'kept_by'],
      ['keeper', 'id'],
    ]);
    expect((await readTables(file('b.json', BEAVER))).get('zoo')).toEqual([
      { name: 'animal', columns: [{ name: 'no', type: 'int', description: null, isKey: true }], references: [] },
    ]);
  });

  it('makes one reference of a pair of columns, to the key, however often the file has it', async () => {
    const zoo = await readTables(file('t.json', [{ ...SPIDER[0], foreign_keys: [] }]));
    const joins = file('joins.json', [
      ['keeper.id', 'animal.kept_by'],
      ['animal.kept_by', 'keeper.id'],
      ['KEEPER.ID', 'ANIMAL.KEPT_BY'],
      ['animal.no', 'nobody.id'],
    ]);
    const tables = (await withJoins(zoo, joins)).get('zoo');
    expect(tables?.map((t) => t.references)).toEqual([[{ column: 'kept_by', table: 'keeper' }], []]);
  });

  it('says what is wrong', async () => {
    expect((await run()).code).toBe(2);
    expect((await run('--tables', join(folder, 'none.json'), '--gold', 'x')).code).toBe(1);
    expect((await run('--nope')).code).toBe(2);
    expect((await run('--help')).out).toContain('--gold');
  });
});
