/** Checks of an ontology's data: calculated properties and measures that fail, and equal rows of link tables. */
import { SvcError } from '../errors.ts';
import { quoteDouble } from '../language/quote.ts';
import type { Concept, Relationship } from '../ontology/graph.ts';
import type { MappingDef } from '../ontology/model.ts';
import { sameName } from '../ontology/names.ts';
import { type Check, groupsOf, guarded } from './checks.ts';
import { type DataReader, type Finding, ROWS } from './reader.ts';

/** Runs a SELECT of one number; returns PostgreSQL's message if the statement fails on the data. @throws SvcError for other faults */
async function failure(reader: DataReader, sql: string): Promise<string | undefined> {
  try {
    await reader.count(sql);
    return undefined;
  } catch (e) {
    if (e instanceof SvcError && e.status === 400) return e.message;
    throw e;
  }
}

const hintFor = (message: string): string => (/division by zero/i.test(message) ? '; write x / NULLIF(y, 0), which is NULL where y is 0' : '');

/** The most properties, or measures, that one check computes. */
const [PROPERTIES, MEASURES] = [10, 5];

/** Checks that compute the calculated properties that a concept declares, for all its rows. */
export function checksOfCalculated(reader: DataReader, concept: Concept): readonly Check[] {
  const names = concept.properties.filter((p) => p.owner === concept && p.def.expression !== null).map((p) => p.def.name);
  return groupsOf(names, PROPERTIES).map((group) => () => checkCalculated(reader, concept, group));
}

/** Computes properties first all together, then one by one to find those that fail. */
async function checkCalculated(reader: DataReader, concept: Concept, names: readonly string[]): Promise<readonly Finding[]> {
  const computed = (of: readonly string[]): string =>
    `SELECT ${of.map((name) => `count(${quoteDouble(name)})`).join(' + ')} AS n FROM svc.${quoteDouble(concept.name)}`;
  return guarded(`concept ${concept.name}`, async () => {
    if ((await failure(reader, computed(names))) === undefined) return [];
    const found: Finding[] = [];
    for (const name of names) {
      const message = await failure(reader, computed([name]));
      if (message === undefined) continue;
      const text = `it cannot be computed for every row of \`${concept.name}\`: ${message}${hintFor(message)}`;
      found.push({ severity: 'error', code: 'property_fails', object: `property ${name}`, message: text });
    }
    return found;
  });
}

/** Checks that compute the measures that a concept declares, over all its rows and over groups of one row each. */
export function checksOfMeasures(reader: DataReader, concept: Concept): readonly Check[] {
  const names = concept.measures.filter((m) => m.owner === concept).map((m) => m.def.name);
  return groupsOf(names, MEASURES).map((group) => () => checkMeasures(reader, concept, group));
}

async function checkMeasures(reader: DataReader, concept: Concept, names: readonly string[]): Promise<readonly Finding[]> {
  const from = `FROM dsvc.${quoteDouble(concept.name)}`;
  const value = (name: string, i: number): string => `SUM(${quoteDouble(`measure.${name}`)}) AS v${i}`;
  const counted = (of: readonly string[]): string => of.map((_, i) => `count(v${i})`).join(' + ');
  const overAll = (of: readonly string[]): string => `SELECT ${counted(of)} AS n FROM (SELECT ${of.map(value).join(', ')} ${from}) AS q`;
  const overEach = (of: readonly string[]): string =>
    `SELECT ${counted(of)} AS n FROM (SELECT entity_id, ${of.map(value).join(', ')} ${from} GROUP BY entity_id) AS q`;
  return guarded(`concept ${concept.name}`, async () => {
    const found: Finding[] = [];
    for (const [severity, where, sql] of [
      ['error', `over all rows of \`${concept.name}\``, overAll],
      ['warning', `for each group of rows of \`${concept.name}\``, overEach],
    ] as const) {
      if ((await failure(reader, sql(names))) === undefined) continue;
      for (const name of names) {
        if (found.some((f) => f.object === `measure ${name}`)) continue;
        const message = await failure(reader, sql([name]));
        if (message === undefined) continue;
        found.push({ severity, code: 'measure_fails', object: `measure ${name}`, message: `it cannot be computed ${where}: ${message}${hintFor(message)}` });
      }
    }
    return found;
  });
}

const EACH = 'an aggregate over the relationship counts each of them';

/** Checks of the link mappings of a relationship for links that occur several times: in equal rows of one mapping, or in two mappings. One for each statement. */
export const checksOfLinks = (reader: DataReader, r: Relationship): readonly Check[] => [
  ...r.links.map((link) => () => equalLinks(reader, link)),
  ...r.links.flatMap((one, i) => r.links.slice(i + 1).map((other) => () => sharedLinks(reader, r, one, other))),
];

function equalLinks(reader: DataReader, { mapping, near, far }: Link): Promise<readonly Finding[]> {
  const ends = [...near.columns, ...far.columns];
  const others = mapping.columns.map((c) => c.name).filter((name) => !ends.some((end) => sameName(end, name)));
  // a column of a type without an order or equality is compared as text
  const columns = [...ends.map(quoteDouble), ...others.map((name) => `${quoteDouble(name)}::text`)].join(', ');
  const sql = `SELECT count(*) AS n FROM (SELECT 1 AS one FROM vsvc.${quoteDouble(ROWS)} WHERE ${present(ends)} GROUP BY ${columns} HAVING count(*) > 1) AS q`;
  return guarded(`mapping ${mapping.name}`, async () => {
    const n = await reader.count(sql, reader.over(mapping));
    const message = `${n} link${n === 1 ? ' occurs' : 's occur'} more than once, in equal rows: ${EACH}`;
    return n === 0 ? [] : [{ severity: 'warning', code: 'duplicate_link', object: `mapping ${mapping.name}`, message }];
  });
}

type Link = Relationship['links'][number];

/** Links that two mappings of one datasource have. */
async function sharedLinks(reader: DataReader, r: Relationship, one: Link, other: Link): Promise<readonly Finding[]> {
  if (!sameName(one.mapping.datasource, other.mapping.datasource)) return [];
  const pairs = [...endColumns(one.near, other.near), ...endColumns(one.far, other.far)];
  if (pairs.some(([, column]) => column === undefined)) return [];
  const views: readonly MappingDef[] = [one.mapping, other.mapping];
  const [a, b] = views.map((_, i) => `vsvc.${quoteDouble(`${ROWS}_${i}`)}`);
  const equal = pairs.map(([x, y]) => `a.${quoteDouble(x)} = b.${quoteDouble(y ?? '')}`).join(' AND ');
  const sql = `SELECT count(*) AS n FROM ${a} AS a WHERE EXISTS (SELECT 1 FROM ${b} AS b WHERE ${equal})`;
  return guarded(`relationship ${r.from.name}.${r.name}`, async () => {
    const n = await reader.count(sql, reader.overAll(views));
    const message = `the mappings \`${one.mapping.name}\` and \`${other.mapping.name}\` share ${n} link${n === 1 ? '' : 's'}: ${EACH}`;
    return n === 0 ? [] : [{ severity: 'warning', code: 'duplicate_link', object: `relationship ${r.from.name}.${r.name}`, message }];
  });
}

/** The columns of an end of a link, each with the column of the other mapping that refers to the same property. */
const endColumns = (one: Link['near'], other: Link['near']): (readonly [string, string | undefined])[] =>
  one.columns.map((column, i) => [column, other.columns[other.references.findIndex((r) => sameName(r, one.references[i] ?? ''))]]);

const present = (names: readonly string[]): string => names.map((n) => `${quoteDouble(n)} IS NOT NULL`).join(' AND ');
