/** All checks of the data of an ontology, as a list of steps: a run may end after any of them, and go on later. */
import type { RowCount } from '../catalog/counts.ts';
import type { PropertyStatistics } from '../catalog/statistics.ts';
import { quoteDouble } from '../language/quote.ts';
import type { Graph } from '../ontology/graph.ts';
import { checksOfDangling, checksOfKeys, checkToOne, guarded } from './checks.ts';
import { checksOfIndexes } from './indexes.ts';
import { type DataReader, type Finding, ROWS } from './reader.ts';
import { type Measure, measuresOfMapping, measuresOfView } from './statistics.ts';
import { checksOfCalculated, checksOfLinks, checksOfMeasures } from './values.ts';

/** What the steps so far have found. */
export interface Found {
  readonly counts: RowCount[];
  readonly findings: Finding[];
  readonly statistics: PropertyStatistics[];
}

/** One or a few statements. Adds to what is found. @throws SvcError if a database does not answer */
export type CheckStep = (found: Found) => Promise<void>;

/** The checks of an ontology in order. The list depends only on the model. */
export function checkSteps(reader: DataReader): readonly CheckStep[] {
  const { graph } = reader.context;
  const { model } = graph;
  const concepts = graph.concepts.filter((c) => c.rows.kind !== 'mappings' || c.rows.sources.length > 0);
  const relationships = graph.concepts.flatMap((c) => c.relationships.filter((r) => r.from === c));
  const forward = relationships.filter((r) => !r.isInverse);
  const known = new Map<string, Promise<number>>();
  const finding =
    (check: () => Promise<readonly Finding[]>): CheckStep =>
    async ({ findings }) => {
      findings.push(...(await check()));
    };
  const measuring =
    (measure: Measure): CheckStep =>
    async ({ findings, statistics }) => {
      const measured = await measure(findings);
      statistics.push(...measured.statistics);
      findings.push(...measured.findings);
    };
  return [
    ...model.mappings.map((m) => counting(reader, 'mapping', m.name, `SELECT count(*) AS n FROM vsvc.${quoteDouble(ROWS)}`, () => reader.over(m))),
    ...concepts.map((c) => counting(reader, 'concept', c.name, `SELECT count(*) AS n FROM svc.${quoteDouble(c.name)}`)),
    ...model.views.map((v) => counting(reader, 'view', v.name, `SELECT count(*) AS n FROM vsvc.${quoteDouble(v.name)}`)),
    ...graph.concepts.filter((c) => c.key?.holder === c && !c.def?.logic).flatMap((c) => checksOfKeys(reader, c).map(finding)),
    ...relationships.map((r) => finding(() => checkToOne(reader, r, known))),
    ...forward.flatMap((r) => checksOfDangling(reader, r).map(finding)),
    ...forward.flatMap((r) => checksOfLinks(reader, r).map(finding)),
    ...concepts.flatMap((c) => [...checksOfCalculated(reader, c), ...checksOfMeasures(reader, c)].map(finding)),
    ...checksOfIndexes(reader).map(finding),
    ...model.mappings.flatMap((m) => measuresOfMapping(reader, m).map(measuring)),
    ...model.views.flatMap((v) => measuresOfView(reader, v).map(measuring)),
  ];
}

function counting(reader: DataReader, kind: RowCount['kind'], name: string, sql: string, over?: () => Graph): CheckStep {
  return async ({ counts, findings }) => {
    const failed = await guarded(`${kind} ${name}`, async () => {
      counts.push({ kind, name, rows: await reader.count(sql, over?.()) });
      return [];
    });
    findings.push(...failed);
  };
}

const many = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** `2 errors, 1 warning` */
export const summaryOf = (findings: readonly Finding[]): string =>
  (['error', 'warning'] as const).map((severity) => many(findings.filter((f) => f.severity === severity).length, severity)).join(', ');

/** The errors, then the warnings, one text each. */
export const findingLines = (findings: readonly Finding[]): readonly string[] =>
  (['error', 'warning'] as const).flatMap((severity) =>
    findings.filter((f) => f.severity === severity).map((f) => `${f.object}: ${f.severity}: ${f.message} (${f.code})`),
  );
