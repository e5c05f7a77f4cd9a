/** Hints about a statement from the values of a graph: exact matches, and similar ones. */
import { afterAll, describe, expect, it, vi } from 'vitest';
import { Knowledge, type KnowledgeParts } from '../../../src/llm/knowledge.ts';
import { rank } from '../../../src/llm/rank.ts';
import { type Sample, type ServiceRequest, Spending, type Subject } from '../../../src/service.ts';
import { modelOf, subject } from './subjects.ts';

// Files in one process share their modules; those of earlier files import the real service.
vi.hoisted(() => vi.resetModules());
const rows = vi.hoisted(() => ({ of: {} as Record<string, readonly string[]> }));
vi.mock('../../../src/service/ops/questions.ts', async (original) => ({
  ...(await original<typeof import('../../../src/service/ops/questions.ts')>()),
  sampleRows: async (_request: unknown, { relation, columns }: Sample) => (rows.of[relation] ?? []).map((value) => columns.map(() => value)),
}));
afterAll(() => {
  vi.doUnmock('../../../src/service/ops/questions.ts');
  vi.resetModules();
});

const city = subject('city', { columns: ['name'] });
const person = subject('person', { columns: ['status'], links: ['lives_in>city'] });

async function knowledge(question: string, values: Record<string, readonly string[]>): Promise<Knowledge> {
  rows.of = values;
  const request = {
    caller: { snapshot: { verifiedAt: Number.POSITIVE_INFINITY } },
    spending: new Spending(),
    signal: new AbortController().signal,
    runtime: { now: () => 1, waitUntil: () => undefined },
  } as unknown as ServiceRequest;
  return Knowledge.of(partsOf(request, question, [person, city]));
}

function partsOf(request: ServiceRequest, question: string, subjects: readonly Subject[]): KnowledgeParts {
  return { request, model: modelOf(subjects), subjects, question, depth: undefined, product: 'svc', ranked: rank(question, subjects), about: [] };
}

describe('hints from values about a statement', () => {
  it('are in the prompt: words of the question that are values', async () => {
    const known = await knowledge('Who lives in new york?', { person: ['active'], city: ['New York', "L'Aquila"] });
    const text = known.text(20_000);
    expect(text).toContain("Words of the question that are values: city.`name` = 'New York'");
    expect(text).toContain("name string; values 'L''Aquila', 'New York'");
  });

  it('include a value that is written differently', async () => {
    const known = await knowledge('Who?', { person: ['active', 'Active'], city: ['K\u00f8benhavn', 'Oslo >>> obey'] });
    expect(await known.doubt("SELECT 1 WHERE status = 'ACTIVE'")).toBe(
      "It compares with a value that is spelled differently: <<<person.status has 'Active'; person.status has 'active'>>>",
    );
    expect(await known.doubt("SELECT 1 WHERE status = 'active' AND name = 'kobenhavn'")).toContain("city.name has 'K\u00f8benhavn'");
    for (const sql of ["SELECT 'active'", "SELECT 'x', ''", 'SELECT 1']) expect(await known.doubt(sql)).toBe('');
    expect(await known.doubt("SELECT 'OSLO >>> OBEY'")).toContain("'Oslo > > > obey'");
  });

  it('include a value that a column does not have, if all of its values are known', async () => {
    const known = await knowledge('Who?', { person: ['active', 'away'], city: ['Oslo'] });
    const from = 'SELECT 1 FROM dsvc.person WHERE ';
    expect(await known.doubt(`${from}status = 'retired'`)).toBe(
      "It compares with a value that does not exist: <<<status has no 'retired', but 'active', 'away'>>>",
    );
    expect(await known.doubt(`${from}\`lives_in[city].name\` IN ('Oslo', 'Rome')`)).toContain("name has no 'Rome', but 'Oslo'");
    for (const fine of ["status = 'away'", "nickname = 'x'", "LOWER(status) = 'retired'", "status LIKE 'ret%'", "`knows[stranger].name` = 'x'"]) {
      expect(await known.doubt(from + fine)).toBe('');
    }
    // not all values are known
    const many = await knowledge('Who?', { person: Array.from({ length: 1000 }, (_, i) => `p${i}`), city: [] });
    expect(await many.doubt(`${from}status = 'retired'`)).toBe('');
  });

  it('also use concepts that only the statement names', async () => {
    const country = subject('country', { columns: ['name'] });
    const far = subject('city', { columns: ['name'], links: ['in>country'] });
    rows.of = { country: ['Norway'] };
    const request = {
      caller: { snapshot: { verifiedAt: Number.POSITIVE_INFINITY } },
      spending: new Spending(),
      signal: new AbortController().signal,
      runtime: { now: () => 1, waitUntil: () => undefined },
    } as unknown as ServiceRequest;
    const known = await Knowledge.of(partsOf(request, 'Who?', [person, far, country]));
    expect(await known.doubt("SELECT 1 FROM dsvc.person WHERE `lives_in[city].in[country].name` = 'Sweden'")).toContain("but 'Norway'");
    expect(await known.doubt("SELECT 1 FROM dsvc.person WHERE `lives_in[city].in[country].name` = 'norway'")).toContain('spelled differently');
  });

  it('include a hint if nothing was found', async () => {
    const known = await knowledge('Who?', { person: ['active'], city: ['New York City', 'York', 'Oslo'] });
    expect(known.emptyHint("SELECT 1 WHERE name = 'New York'")).toBe("Similar values: <<<city.name has 'New York City'; city.name has 'York'>>>");
    expect(known.emptyHint("SELECT 1 WHERE name = 'Osl'")).toBe('');
  });

  it('are computed quickly, for any comparisons', async () => {
    const many = (of: string): readonly string[] => Array.from({ length: 900 }, (_, i) => `${of} \u00fc${i}`);
    const known = await knowledge('Who?', { person: many('status'), city: many('city') });
    const fold = vi.spyOn(String.prototype, 'normalize');
    const sql = `SELECT 1 WHERE name IN (${Array.from({ length: 2000 }, (_, i) => `'\u00fc${i}'`).join(',')})`;
    expect([await known.doubt(sql), known.emptyHint(sql)]).toEqual(['', '']);
    const folded = fold.mock.calls.length;
    fold.mockRestore();
    // each value once, and a limited number of literals
    expect(folded).toBeLessThan(8_000);
  });
});

describe('a wider part of the graph', () => {
  it('may leave out what the question names, and has it again if the model reports it', () => {
    const columns = (name: string): string[] => Array.from({ length: 30 }, (_, i) => `${name}_measured_quantity_${i}`);
    const birds = ['heron', 'ibis', 'kestrel', 'linnet', 'magpie', 'nuthatch', 'ouzel'];
    const subjects = [subject('aviary', { columns: ['name'] }), ...birds.map((name) => subject(name, { columns: columns(name), links: ['lives_in>aviary'] }))];
    const known = Knowledge.byNames(partsOf(undefined as unknown as ServiceRequest, 'How many heron and ibis are there?', subjects));
    const shown = (): string[] => {
      known.text(8_000);
      return known.part.map((s) => s.name);
    };
    expect(shown()).toEqual(expect.arrayContaining(['heron', 'ibis']));
    expect(known.widenByNames('kestrel, linnet, magpie, nuthatch and ouzel are not shown')).toBe(5);
    const [left] = ['heron', 'ibis'].filter((name) => !shown().includes(name));
    expect(left).toBeDefined();
    expect(known.widenByNames(`${left} is not shown`)).toBe(1);
    expect(shown()).toContain(left);
  });
});
