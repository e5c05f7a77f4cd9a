/** The search for entities by their labels and values. */
import { failureOf, identifier, literal, product, query } from '../api/http.ts';
import type { Row } from '../api/rows.ts';
import type { Model } from '../model/model.ts';
import { type Condition, conditionsOf, pattern } from './conditions.ts';
import type { Found } from './graph.ts';
import { asFound, FOUND, PAGE } from './requests.ts';

/** The concepts of one request of a search over all concepts, the requests, and the entities that each concept adds. */
const [AT_ONCE, MOST_REQUESTS, OF_EACH] = [20, 10, 5];

/** An entity that a search found. */
export interface Hit extends Found {
  /** The property whose value contains the text; null for the label. */
  readonly property: string | null;
}

export interface Findings {
  readonly hits: readonly Hit[];
  /** Whether there may be more. */
  readonly isCut: boolean;
  /** Of how many concepts the values were read, and how many have values that can contain the text. */
  readonly read: number;
  readonly all: number;
  /** Whether calculated values were left out, because some of them cannot be calculated. */
  readonly isUncalculated: boolean;
}

/** The hits of rows, each entity once. */
const hitsOf = (rows: readonly Row[], before: readonly Hit[] = []): readonly Hit[] => {
  const hits = new Map(before.map((hit) => [hit.id, hit]));
  for (const row of rows)
    if (row.id != null && !hits.has(String(row.id)))
      hits.set(String(row.id), { ...asFound(row), property: row.property == null ? null : String(row.property) });
  return [...hits.values()];
};

const when = (all: readonly Condition[]): string => all.map((c) => `WHEN ${c.sql} THEN ${literal(c.name)}`).join(' ');

/** SELECTs of the entities that some properties find. A property with several values has one of its own, so that their values do not multiply each other. */
function selects(concept: string, all: readonly Condition[], limit: number): readonly string[] {
  const parts = [all.filter((c) => !c.isMulti), ...all.filter((c) => c.isMulti).map((c) => [c])].filter((part) => part.length > 0);
  return parts.map((part) => {
    const from = `${part[0]?.isMulti ? 'd' : ''}${product}.${identifier(concept)}`;
    return `(SELECT ${FOUND}, CASE ${when(part)} END AS property FROM ${from} WHERE ${part.map((c) => c.sql).join(' OR ')} LIMIT ${limit})`;
  });
}

type Use = (all: readonly Condition[]) => readonly Condition[];

/** Runs a search, and again without calculated values if it fails: one row whose values cannot be calculated fails all. */
async function rowsOf(
  all: readonly Condition[],
  run: (use: Use) => Promise<readonly Row[]>,
): Promise<{ readonly rows: readonly Row[]; readonly isUncalculated: boolean }> {
  try {
    return { rows: await run((some) => some), isUncalculated: false };
  } catch (error) {
    if (failureOf(error) === null || !all.some((c) => c.isCalculated)) throw error;
    return { rows: await run((some) => some.filter((c) => !c.isCalculated)), isUncalculated: true };
  }
}

/** Entities of a concept whose label or values contain a text, best matches first: one request. */
export async function search(model: Model, concept: string, text: string, signal: AbortSignal): Promise<Findings> {
  const wanted = text.trim();
  const all = conditionsOf(model, concept, wanted, false);
  const inLabel = `entity_label ILIKE ${pattern(wanted)}`;
  const { rows, isUncalculated } = await rowsOf(all, (use) => {
    const single = use(all.filter((c) => !c.isMulti));
    const where = wanted === '' ? '' : ` WHERE ${[inLabel, ...single.map((c) => c.sql)].join(' OR ')}`;
    const order = wanted === '' ? '' : `lower(entity_label) = lower(${literal(wanted)}) DESC, property NULLS FIRST, length(entity_label), `;
    const property = `CASE WHEN ${inLabel} THEN CAST(NULL AS text) ${when(single)} END AS property`;
    const first = `(SELECT ${FOUND}, ${property} FROM ${product}.${identifier(concept)}${where} ORDER BY ${order}entity_label LIMIT ${PAGE})`;
    return query<Row>(model.name, [first, ...selects(concept, use(all.filter((c) => c.isMulti)), PAGE)].join(' UNION ALL '), { signal });
  });
  return { hits: hitsOf(rows), isCut: rows.length >= PAGE, read: 1, all: 1, isUncalculated };
}

/**
 * Entities of all concepts: first those whose label contains a text, then those with a value that does. Each concept searches its own properties, which its
 * children inherit. @param report called with what has been found so far
 */
export async function searchAll(model: Model, text: string, signal: AbortSignal, report: (findings: Findings) => void): Promise<Findings> {
  const wanted = text.trim();
  const labels = await search(model, 'thing', wanted, signal);
  const concepts = [...model.concepts.keys()]
    .filter((concept) => concept !== 'thing')
    .map((concept) => ({ concept, conditions: conditionsOf(model, concept, wanted, true) }))
    .filter(({ conditions }) => conditions.length > 0);
  let findings: Findings = { ...labels, read: 0, all: concepts.length };
  while (findings.read < Math.min(concepts.length, AT_ONCE * MOST_REQUESTS) && findings.hits.length < 2 * PAGE) {
    if (!signal.aborted) report(findings);
    const some = concepts.slice(findings.read, findings.read + AT_ONCE);
    const { rows, isUncalculated } = await rowsOf(
      some.flatMap(({ conditions }) => conditions),
      (use) => {
        const sql = some.flatMap(({ concept, conditions }) => selects(concept, use(conditions), OF_EACH));
        return sql.length === 0 ? Promise.resolve([]) : query<Row>(model.name, sql.join(' UNION ALL '), { signal });
      },
    );
    findings = {
      hits: hitsOf(rows, findings.hits),
      isCut: findings.isCut || rows.length >= OF_EACH,
      read: findings.read + some.length,
      all: concepts.length,
      isUncalculated: findings.isUncalculated || isUncalculated,
    };
  }
  return findings;
}
