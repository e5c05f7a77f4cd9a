/** Checks of an ontology's data: keys, to-one sides, foreign keys. */
import { type OwnText, type SqlText, written } from '../engine/statement.ts';
import { SvcError } from '../errors.ts';
import { quoteDouble } from '../language/quote.ts';
import type { Concept, Relationship } from '../ontology/graph.ts';
import type { LinkDef, MappingDef, PropertyDef } from '../ontology/model.ts';
import { sameName } from '../ontology/names.ts';
import { type DataReader, type Finding, type Part, ROWS } from './reader.ts';

/** A check of one or a few statements. */
export type Check = () => Promise<readonly Finding[]>;

/** Groups of at most `size`: a check of one group plans a limited number of statements. */
export const groupsOf = <T>(items: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));

const list = (names: readonly string[]): string => names.map((n) => `\`${n}\``).join(', ');
const rows = (n: number): string => `${n} row${n === 1 ? '' : 's'}`;
const keys = (n: number): string => `${n} key${n === 1 ? '' : 's'}`;
const error = (code: string, object: string, message: string): Finding => ({ severity: 'error', code, object, message });
const warning = (code: string, object: string, message: string): Finding => ({ severity: 'warning', code, object, message });

/** The findings of a check. If the database rejects the check, that is a warning itself. */
export async function guarded(object: string, check: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await check();
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    if (e.status >= 500 && e.code !== 'statement_timeout') throw e;
    const cause = e.cause instanceof Error ? `: ${e.cause.message}` : '';
    return [warning('not_checked', object, `could not be checked: ${e.message}${e.status >= 500 ? cause : ''} (${e.code})`)];
  }
}

const isNull = (names: readonly string[]): string => names.map((n) => `${quoteDouble(n)} IS NULL`).join(' OR ');

/** The mappings of a concept that declares a key, and of its descendants. */
const mappingsUnder = (holder: Concept): readonly { readonly mapping: MappingDef; readonly target: Concept }[] =>
  holder.rows.kind === 'mappings' && !holder.rows.fromAncestors ? holder.rows.sources : [];

/** Checks of the keys of one hierarchy: NULL, duplicates within a mapping, duplicates across mappings. */
export function checksOfKeys(reader: DataReader, holder: Concept): readonly Check[] {
  const key = (holder.key?.properties ?? []).map((p) => p.name);
  const sources = mappingsUnder(holder).filter(({ target }) => target.key?.holder === holder);
  return [
    ...sources.map(
      ({ mapping, target }): Check =>
        () =>
          guarded(`mapping ${mapping.name}`, async () => {
            const n = await reader.count(`SELECT count(*) AS n FROM svc.${quoteDouble(target.name)} WHERE ${isNull(key)}`, reader.only(mapping));
            return n === 0
              ? []
              : [error('null_key', `mapping ${mapping.name}`, `${rows(n)} without a primary key: ${list(key)} of \`${target.name}\` must not be NULL`)];
          }),
    ),
    ...[...Map.groupBy(sources, (s) => s.mapping.datasource)].map(
      ([datasource, group]): Check =>
        () =>
          guarded(`concept ${holder.name}`, () => checkGroup(reader, holder, datasource, group)),
    ),
  ];
}

interface Duplicates {
  readonly within: readonly { readonly m: number; readonly n: number; readonly id: string }[] | null;
  readonly across: readonly { readonly ms: readonly number[]; readonly n: number; readonly id: string }[] | null;
}

/** The statement that counts entity ids, by the SELECT of each mapping. */
function duplicatesIn(ids: readonly SqlText[]): OwnText {
  // the number of a mapping is how many branches surround its own
  const branches = ids.reduceRight<OwnText | undefined>((inner, sql) => {
    const own = written`SELECT 0 AS m, x.j->>'id' AS id FROM (${sql}) AS x(j)`;
    return inner === undefined ? own : written`${own} UNION ALL SELECT q.m + 1, q.id FROM (${inner}) AS q`;
  }, undefined);
  return written`WITH g AS (SELECT id, m, count(*) AS n FROM (${branches as OwnText}) AS k WHERE id IS NOT NULL GROUP BY id, m),
      h AS (SELECT id, json_agg(m ORDER BY m)::text AS ms FROM g GROUP BY id HAVING count(*) > 1)
    SELECT json_build_object(
      'within', (SELECT json_agg(w) FROM (SELECT m, count(*) AS n, min(id) AS id FROM g WHERE n > 1 GROUP BY m ORDER BY m) w),
      'across', (SELECT json_agg(json_build_object('ms', a.ms::json, 'n', a.n, 'id', a.id)) FROM (SELECT ms, count(*) AS n, min(id) AS id FROM h GROUP BY ms ORDER BY ms) a))`;
}

/** Checks the mappings of one datasource: counts their entity ids, by mapping and over all mappings. */
async function checkGroup(
  reader: DataReader,
  holder: Concept,
  datasource: string,
  sources: readonly { readonly mapping: MappingDef; readonly target: Concept }[],
): Promise<Finding[]> {
  const ids = sources.map(({ mapping, target }): Part => [`SELECT entity_id AS id FROM svc.${quoteDouble(target.name)}`, reader.only(mapping)]);
  const [answer] = (await reader.composed(datasource, ids, duplicatesIn)) as unknown as [Duplicates];
  const found: Finding[] = [];
  const at = (i: number) => sources[i] as (typeof sources)[number];
  for (const { m, n, id } of answer.within ?? []) {
    const { mapping, target } = at(m);
    found.push(error('key_not_unique', `mapping ${mapping.name}`, `it has more than one row for ${keys(n)} of \`${target.name}\`, e.g. ${id}`));
  }
  for (const { ms, n, id } of answer.across ?? []) {
    const shared = ms.map(at);
    const kin = shared.flatMap((a) => shared.filter((b) => a !== b && a.target !== b.target && b.target.isA(a.target)).map((b) => ({ upper: a, lower: b })))[0];
    const names = list(shared.map((s) => s.mapping.name));
    found.push(
      kin
        ? error(
            'duplicate_rows',
            `concept ${kin.upper.target.name}`,
            `the mappings ${names} share ${keys(n)}, e.g. ${id}: ${kin.lower.target.name} is a ${kin.upper.target.name}, so those rows are duplicated in \`${kin.upper.target.name}\``,
          )
        : error('key_shared', `concept ${holder.name}`, `the mappings ${names} share ${keys(n)}, e.g. ${id}: those rows are duplicated in \`${holder.name}\``),
    );
  }
  return found;
}

/** Whether a hop finds at most one row: it has the pairs of one foreign key, which refers to the target's whole key. */
const isToOne = ({ kind, references, target, parts }: Relationship): boolean =>
  kind === 'fk' && parts.length === 1 && target.key?.properties.every((k) => references.some((p) => sameName(p.name, k.name))) === true;

/** Checks targets of to-one hops whose key occurs in several rows: a path to them would duplicate the rows that it starts from. */
export async function checkToOne(reader: DataReader, r: Relationship, known: Map<string, Promise<number>>): Promise<readonly Finding[]> {
  if (!isToOne(r)) return [];
  const names = r.references.map((p) => p.name);
  const columns = names.map(quoteDouble).join(', ');
  const sql = `SELECT count(*) AS n FROM (SELECT ${columns} FROM svc.${quoteDouble(r.target.name)} WHERE NOT (${isNull(names)}) GROUP BY ${columns} HAVING count(*) > 1) AS q`;
  return guarded(`relationship ${r.from.name}.${r.name}`, async () => {
    let counting = known.get(sql);
    if (counting === undefined) {
      counting = reader.count(sql);
      known.set(sql, counting);
    }
    const n = await counting;
    const message = `leads to one \`${r.target.name}\`, but ${list(names)} of it ${names.length === 1 ? 'has' : 'have'} ${n} value${n === 1 ? '' : 's'} in more than one row: paths over it duplicate rows`;
    return n === 0 ? [] : [error('to_one_not_unique', `relationship ${r.from.name}.${r.name}`, message)];
  });
}

const missing = (source: string, columns: readonly string[], target: string, references: readonly string[]): string => {
  const set = columns.map((c) => `s.${quoteDouble(c)} IS NOT NULL`).join(' AND ');
  const equal = columns.map((c, i) => `t.${quoteDouble(references[i] ?? '')} = s.${quoteDouble(c)}`).join(' AND ');
  return `SELECT count(*) AS n FROM ${source} AS s WHERE ${set} AND NOT EXISTS (SELECT 1 FROM svc.${quoteDouble(target)} AS t WHERE ${equal})`;
};

/** Checks of values of foreign keys that no target row has, one for each statement. A relationship that starts at its own key is checked from the other end. */
export const checksOfDangling = (reader: DataReader, r: Relationship): readonly Check[] =>
  r.kind === 'mtm'
    ? r.links.flatMap(({ mapping, near, far }) => [near, far].map((end) => () => danglingLink(reader, mapping, end)))
    : [() => danglingKey(reader, r)];

async function danglingKey(reader: DataReader, r: Relationship): Promise<readonly Finding[]> {
  const covers = (properties: readonly PropertyDef[], of: Concept): boolean =>
    of.key?.properties.every((k) => properties.some((p) => sameName(p.name, k.name))) ?? false;
  const reversed = !covers(r.references, r.target) && covers(r.source, r.from);
  const [from, source, target, references] = reversed ? [r.target, r.references, r.from, r.source] : [r.from, r.source, r.target, r.references];
  const columns = source.map((p) => p.name);
  const object = `relationship ${r.from.name}.${r.name}`;
  return guarded(object, async () => {
    const n = await reader.count(
      missing(
        `svc.${quoteDouble(from.name)}`,
        columns,
        target.name,
        references.map((p) => p.name),
      ),
    );
    return n === 0 ? [] : [warning('dangling_key', object, `${rows(n)} of \`${from.name}\` with ${list(columns)} that no \`${target.name}\` has`)];
  });
}

const danglingLink = (reader: DataReader, mapping: MappingDef, end: LinkDef['forward']): Promise<readonly Finding[]> =>
  guarded(`mapping ${mapping.name}`, async () => {
    const n = await reader.count(missing(`vsvc.${quoteDouble(ROWS)}`, end.columns, end.concept, end.references), reader.over(mapping));
    return n === 0 ? [] : [warning('dangling_key', `mapping ${mapping.name}`, `${rows(n)} with ${list(end.columns)} that no \`${end.concept}\` has`)];
  });
