/** Statements that are changed on purpose: each way creates what its name says, of the SQL of every question. */
import { describe, expect, it } from 'vitest';
import { analyse } from '../../../dev/eval/mutate/analysis.ts';
import { OPERATORS } from '../../../dev/eval/mutate/operators.ts';
import { type Executor, mutantsOf, mutate, tableOf } from '../../../dev/eval/mutate/run.ts';
import { type Question, readSet } from '../../../dev/eval/set.ts';
import { bikehireModel } from '../../../examples/bikehire/load.ts';
import { graphOf } from '../../../examples/world/graph.ts';
import { loadNodeParser } from '../../../src/cli/node-parser.ts';

const parser = await loadNodeParser();
const graph = graphOf(await bikehireModel(), 'bikehire', parser);
const questions = (await readSet(new URL('../../../examples/bikehire/questions.json', import.meta.url).pathname)).filter((q) => q.gold !== null);
const broken = (operator: string, sql: string): readonly string[] => {
  const found = OPERATORS.find((o) => o.name === operator);
  if (found === undefined) throw new Error(`no ${operator}`);
  return found.of(analyse(sql, graph, parser), graph);
};

const SQL =
  "SELECT `in_town[area].lies_in[area].name` AS p, COUNT(DISTINCT branch_no) FILTER (WHERE stands > 5) AS n FROM dsvc.branch WHERE closed_on IS NULL AND `in_town[area].name` = 'Utrecht' AND stands BETWEEN 1 AND 99 GROUP BY 1 ORDER BY n DESC LIMIT 3";
const end = (from: string): string => SQL.slice(SQL.indexOf(from));

describe('a statement', () => {
  it.each([
    ['a misspelled property', 'SELECT stands FROM svc.branch', ['SELECT `stnads` FROM svc.branch']],
    ['a misspelled property', 'SELECT b.`in_town[area].name` FROM dsvc.branch b', ['SELECT b.`in_town[area].nmae` FROM dsvc.branch b']],
    [
      'a hop left out',
      'SELECT `in_town[area].lies_in[area].name` FROM dsvc.branch',
      ['SELECT `lies_in[area].name` FROM dsvc.branch', 'SELECT `in_town[area].name` FROM dsvc.branch'],
    ],
    [
      'the relationship in the other direction',
      'SELECT COUNT(`manages[employee*2].entity_id`) FROM dsvc.employee',
      ['SELECT COUNT(`reports_to[employee*2].entity_id`) FROM dsvc.employee'],
    ],
    ['another relationship, to the same concept', 'SELECT `returned_to[branch].name` FROM dsvc.hire', ['SELECT `picked_up_from[branch].name` FROM dsvc.hire']],
    ['another relationship, to the same concept', 'SELECT `lies_in[area*2].name` FROM dsvc.area', ['SELECT `contains[area*2].name` FROM dsvc.area']],
    [
      'one step instead of a walk',
      'SELECT `lies_in[area*].name`, `lies_in[area*]_transitivity_level` FROM dsvc.area',
      ['SELECT `lies_in[area*1].name`, `lies_in[area*1]_transitivity_level` FROM dsvc.area'],
    ],
    ['an aggregate left out', 'SELECT COUNT(DISTINCT job) FILTER (WHERE salary > 1), COUNT(*) FROM svc.employee', ['SELECT  job, COUNT(*) FROM svc.employee']],
    ['another aggregate', 'SELECT SUM(`measure.revenue`) FROM dsvc.hire_line', ['SELECT AVG(`measure.revenue`) FROM dsvc.hire_line']],
    ['COUNT(*) instead of COUNT(x)', 'SELECT COUNT(job), COUNT(*) FROM svc.employee', ['SELECT COUNT(*), COUNT(*) FROM svc.employee']],
    [
      'GROUP BY left out',
      'SELECT job, COUNT(*) FROM svc.employee GROUP BY job HAVING COUNT(*) > 1',
      ['SELECT job, COUNT(*) FROM svc.employee  HAVING COUNT(*) > 1'],
    ],
    ['a text in another case', "SELECT 1 FROM svc.hire WHERE channel = 'web'", ["SELECT 1 FROM svc.hire WHERE channel = 'WEB'"]],
    [
      'another value',
      "SELECT name FROM svc.hire WHERE due_on < '2024-05-01' AND days_late > 3 GROUP BY 1",
      [
        "SELECT name FROM svc.hire WHERE due_on < '2023-05-01' AND days_late > 3 GROUP BY 1",
        "SELECT name FROM svc.hire WHERE due_on < '2024-05-01' AND days_late > 30 GROUP BY 1",
      ],
    ],
    ['a literal of another type', "SELECT name FROM svc.branch WHERE name = 'x'", ['SELECT name FROM svc.branch WHERE name = 42']],
    ['a comparison reversed', 'SELECT name FROM svc.branch WHERE stands >= 5', ['SELECT name FROM svc.branch WHERE stands <= 5']],
    ['the limit of a comparison left out or in', 'SELECT name FROM svc.branch WHERE stands >= 5', ['SELECT name FROM svc.branch WHERE stands > 5']],
    ['a related concept', 'SELECT name FROM svc.company', ['SELECT name FROM svc.`customer`', 'SELECT name FROM svc.`private_customer`']],
    ['svc instead of dsvc', 'SELECT name FROM dsvc.company', ['SELECT name FROM svc.`company`']],
    ['a table instead of a concept', 'SELECT name FROM dsvc.company c', ['SELECT name FROM public.`company` c']],
    ['another measure, or column of the view', 'SELECT SUM(`measure.revenue`) FROM dsvc.hire_line', ['SELECT SUM(`measure.bike_days`) FROM dsvc.hire_line']],
    ['sorted the other way', SQL, [SQL.replace('DESC', 'ASC')]],
    ['LIMIT left out', 'SELECT name FROM (SELECT name FROM svc.company LIMIT 3) x', ['SELECT name FROM (SELECT name FROM svc.company ) x']],
    // the AND of BETWEEN joins no conditions
    ['OR instead of AND', SQL, [SQL.replace('AND `in_town[area].name`', 'OR `in_town[area].name`'), SQL.replace('AND stands', 'OR stands')]],
  ])('%s: %s', (operator, sql, expected) => expect(broken(operator, sql)).toEqual(expected));

  it('loses one condition at a time', () => {
    const [head, tail] = [SQL.slice(0, SQL.lastIndexOf('closed_on')), end(' GROUP BY')];
    const where = broken('a condition left out', SQL).filter((s) => s.includes('FILTER (WHERE stands > 5)'));
    expect(where.map((s) => s.slice(head.length, s.length - tail.length))).toEqual([
      "`in_town[area].name` = 'Utrecht' AND stands BETWEEN 1 AND 99",
      'closed_on IS NULL AND stands BETWEEN 1 AND 99',
      "closed_on IS NULL AND `in_town[area].name` = 'Utrecht'",
    ]);
    expect(broken('a condition left out', 'SELECT COUNT(job) FILTER (WHERE salary > 1) AS n FROM svc.employee')).toEqual([
      'SELECT COUNT(job)  AS n FROM svc.employee',
    ]);
    expect(broken('a condition left out', 'SELECT 1 FROM svc.hire WHERE due_on IS NULL OR days_late > 1')).toEqual(['SELECT 1 FROM svc.hire ']);
  });

  it('gets properties of the concept at the end of the path', () => {
    const same = broken('another property, of the same type', 'SELECT `stationed_at[branch].opened_on` FROM dsvc.bike');
    expect(same).toEqual(['SELECT `stationed_at[branch].closed_on` FROM dsvc.bike']);
    const other = broken('another property, of another type', 'SELECT `stationed_at[branch].opened_on` FROM dsvc.bike');
    expect(other).toEqual(['branch_no', 'name', 'town_id', 'stands'].map((p) => `SELECT \`stationed_at[branch].${p}\` FROM dsvc.bike`));
  });
});

describe('the ways to change one', () => {
  const mutants = questions.flatMap((q) => mutantsOf(q, graph, parser));

  it('are all applicable to some question, and change it', () => {
    const used = new Set(mutants.map((m) => m.operator));
    expect(OPERATORS.map((o) => o.name).filter((name) => !used.has(name))).toEqual([]);
    const gold = new Map(questions.map((q) => [q.id, q.gold]));
    expect(mutants.filter((m) => m.sql === gold.get(m.question))).toEqual([]);
  });

  it('are ten or more for a question, and the same each time', () => {
    const least = Math.min(...questions.map((q) => mutants.filter((m) => m.question === q.id).length));
    expect(mutants.length / questions.length).toBeGreaterThan(10);
    expect(least).toBeGreaterThanOrEqual(5);
    expect(questions.flatMap((q) => mutantsOf(q, graph, parser))).toEqual(mutants);
  });
});

describe('the outcome of a mutant', () => {
  const question: Question = { id: 'q', question: 'Which?', concept: 'branch', gold: 'SELECT name FROM svc.branch WHERE stands > 5', tags: [] };
  const executor = (rows: readonly Record<string, unknown>[], fault?: { code: string; message: string }): Executor => ({
    check: async () => fault,
    run: async (sql) => ({ ok: true, value: { rows: sql === question.gold ? [{ name: 'a' }] : rows, truncated: false } }),
  });
  const fates = async (j: Executor): Promise<readonly string[]> => [...new Set((await mutate(question, graph, parser, j)).map((m) => m.fate))];

  it('is classified', async () => {
    expect(await fates(executor([], { code: 'unknown_property', message: '' }))).toEqual(['planner']);
    expect(await fates(executor([], { code: 'undefined_function', message: '' }))).toEqual(['datasource']);
    expect(await fates(executor([{ name: 'a' }]))).toEqual(['same']);
    expect(await fates(executor([]))).toEqual(['again']);
    expect(await fates(executor([{ name: null }]))).toEqual(['again']);
    expect(await fates(executor([{ name: 'b' }]))).toEqual(['other']);
    expect(await fates({ ...executor([{ name: 'b' }]), asksAgain: async () => true })).toEqual(['again']);
    expect(await fates({ ...executor([]), asksAgain: async () => false })).toEqual(['other']);
    const failing: Executor = {
      ...executor([]),
      run: async (sql) => (sql === question.gold ? executor([]).run(sql, undefined) : { ok: false, error: 'division by zero' }),
    };
    expect(await fates(failing)).toEqual(['run']);
  });

  it('is counted in a table', async () => {
    const made = await mutate(question, graph, parser, executor([{ name: 'b' }]));
    const table = tableOf(made, false);
    expect(table[0]).toMatch(/^\| The statement has \| Mutants \| Refused by the planner \|/);
    expect(table).toContain('| a misspelled property | 1 | 0 | 0 | 0 | 0 | 0 | 1 |');
    expect(tableOf(made, true)[0]).toMatch(/\| Asked again \|/);
    expect(table.at(-1)).toBe(`| all | ${made.length} | 0 | 0 | 0 | 0 | 0 | ${made.length} |`);
  });
});
