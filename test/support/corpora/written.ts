/** Hand-written corpora: the documentation, the samples, the attacks, TPC-H. */
import { readFileSync } from 'node:fs';
import { QUERIES, texts } from '../../../bench/tpch/queries/index.ts';
import { TABLES as TPCH_TABLES } from '../../../bench/tpch/schema.ts';
import { splitSql } from '../../../dev/sql-script.ts';
import { QUESTIONS } from '../../../examples/world/questions.ts';
import { TABLES as WORLD_TABLES } from '../../../examples/world/tables.ts';
import { SvcError } from '../../../src/errors.ts';
import { parseStatement } from '../../../src/language/classify.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import { splitScript } from '../../../src/language/split.ts';
import type { CallerFacts } from '../../../src/planner/secure/access.ts';
import { REFUSED, SHAPES, TELLING } from '../../attacks/leaks-shapes.ts';
import { PLACES, TRAPS } from '../../attacks/leaks-traps.ts';
import { MODEL as LAB, TABLES as LAB_TABLES, POLICIES } from '../../attacks/leaks-world.ts';
import { CASES } from '../../integration/plans/cases.ts';
import { MODEL as PLANS, TABLES as PLANS_TABLES } from '../../integration/plans/world.ts';
import { ACCEPTED } from '../../unit/planner/corpus/accepted.ts';
import { MODEL as SHOP, TABLES as SHOP_TABLES } from '../../unit/planner/corpus/model.ts';
import { oneIn } from '../sizes.ts';
import { type Corpus, contextOf, each, plansOf, type Question } from './index.ts';
import { accessOf, Modelled } from './model.ts';

const top = new URL('../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, top), 'utf8');
const NOBODY: CallerFacts = { username: 'nobody', roles: ['staff'], claims: { dept: 'R&D' } };

/** A model from a script, with its policies for a caller. */
function modelled(parser: SqlParser, name: string, script: string, caller: CallerFacts = NOBODY) {
  const model = new Modelled(parser, name);
  model.apply(script);
  const open = contextOf(model.graph, parser, { caller });
  return { open, bound: { ...open, access: accessOf(model.policies, caller) } };
}

/** The statements of analytic SQL and of attacks. `everyTrap`: one of that many traps in each place. */
export function written(parser: SqlParser, everyTrap = 1): Corpus[] {
  return [shop(parser), lab(parser, everyTrap), page(parser), world(parser), bikehire(parser), tpch(parser), plans(parser)];
}

function shop(parser: SqlParser): Corpus {
  const { open, bound } = modelled(
    parser,
    'shop',
    `${SHOP}; CREATE POLICY p ON CONCEPT customer TO PUBLIC USING (city_id / 1 > 0 AND svc_has_role(segment));
     CREATE POLICY q ON PROPERTY email MASK HASH; CREATE POLICY r ON PROPERTY last_name MASK PARTIAL(1, '*', 1)`,
  );
  return {
    name: 'analytic statements',
    tables: SHOP_TABLES,
    planned: (every) => plansOf('analytic statements', each([open, bound], Object.values(ACCEPTED)), every),
  };
}

function lab(parser: SqlParser, everyTrap: number): Corpus {
  const { open, bound } = modelled(parser, 'lab', `${LAB}; ${POLICIES}`, { ...NOBODY, username: 'rex' });
  const traps = TRAPS.flatMap(([, condition], turn) =>
    oneIn(everyTrap, PLACES, turn).map(([, mine]) => {
      const where = condition.replaceAll('@person', 'svc.person').replaceAll('@label', 'p.entity_label').replaceAll('@entity', 'p.entity_id');
      return mine.replace('@', () => where);
    }),
  );
  const all = [...SHAPES.map(([, sql]) => sql), ...REFUSED.map(([, sql]) => sql), ...TELLING, ...traps];
  return { name: 'attacks on policies', tables: LAB_TABLES, planned: (every) => plansOf('attacks on policies', each([open, bound], all), every) };
}

/** docs/language.md: its model grows along the page. */
function page(parser: SqlParser): Corpus {
  const blocks = [...read('docs/language.md').matchAll(/^```(sql(?: tables)?)\n([\s\S]*?)\n```$/gm)].map(([, kind = '', sql = '']) => ({ kind, sql }));
  const questions = function* (): Generator<Question> {
    const model = new Modelled(parser, 'shop');
    for (const { kind, sql } of blocks) {
      if (kind !== 'sql') continue;
      try {
        model.apply(sql);
      } catch (error) {
        // the page shows errors, too
        if (!(error instanceof SvcError)) throw error;
      }
      yield* each([contextOf(model.graph, parser, { caller: NOBODY })], selects(sql));
    }
  };
  const tables = blocks.filter((b) => b.kind === 'sql tables').flatMap((b) => b.sql.split(/;$/m).filter((s) => s.trim() !== ''));
  return { name: 'docs/language.md', tables, planned: (every) => plansOf('docs/language.md', questions(), every) };
}

/** The reading statements of a script. */
const selects = (script: string): string[] => {
  try {
    return splitScript(script)
      .filter((source) => parseStatement(source).kind === 'select')
      .map((s) => s.text);
  } catch {
    return [];
  }
};

interface Asked {
  readonly gold: string | null;
}
const golds = (path: string): string[] => (JSON.parse(read(path)) as Asked[]).flatMap((q) => q.gold ?? []);

function world(parser: SqlParser): Corpus {
  const { open, bound } = modelled(
    parser,
    'world',
    `${read('examples/world/model.kg')}; CREATE POLICY p ON CONCEPT country TO PUBLIC USING (region_name = 'Europe' OR "borders[country].name" = 'France')`,
  );
  const tables = WORLD_TABLES.map((t) => `CREATE TABLE world.${t.name} (${t.columns.map((c) => `${c.name} ${c.type}`).join(', ')})`);
  const all = [...QUESTIONS.map((q) => q.sql), ...golds('examples/world/questions.json')];
  return {
    name: 'the sample graph',
    tables: ['CREATE SCHEMA world', ...tables],
    planned: (every) => plansOf('the sample graph', each([open, bound], all), every),
  };
}

function bikehire(parser: SqlParser): Corpus {
  const script = `${read('examples/bikehire/model.kg')}; ${read('examples/bikehire/rights.kg')}`;
  const { open, bound } = modelled(parser, 'bikehire', script, { ...NOBODY, roles: ['counter'] });
  const tables = splitSql(read('examples/bikehire/tables.sql')).filter((s) => /^\s*(--.*\n\s*)*CREATE (SCHEMA|TABLE|FUNCTION)/.test(s));
  return {
    name: 'the second sample',
    tables,
    planned: (every) => plansOf('the second sample', each([open, bound], golds('examples/bikehire/questions.json')), every),
  };
}

function tpch(parser: SqlParser): Corpus {
  const { open } = modelled(parser, 'tpch', read('bench/tpch/model.kg'));
  const all = QUERIES.map((q) => texts(q, 0.005, true).sql);
  const tables = ['CREATE SCHEMA tpch', ...Object.values(TPCH_TABLES).map((t) => t.create)];
  return { name: 'TPC-H', tables, planned: (every) => plansOf('TPC-H', each([open], all), every) };
}

function plans(parser: SqlParser): Corpus {
  const { open } = modelled(parser, 'plans', PLANS);
  // without their rows
  const tables = PLANS_TABLES.filter((t) => t.startsWith('CREATE SCHEMA') || t.startsWith('CREATE TABLE')).map((t) =>
    t.replace(/generate_series\(1, \d+\)/g, 'generate_series(1, 0)'),
  );
  return { name: 'plans', tables, planned: (every) => plansOf('plans', each([open], [...CASES.map((c) => c.sql)]), every) };
}
