/** `kg validate --ontology NAME --data`: checks the data of an ontology and counts its rows. */

import { keepCounts, type RowCount } from '../catalog/counts.ts';
import { type CatalogDb, DbError, neonDb } from '../catalog/db.ts';
import { findOntology, ontologyNames } from '../catalog/operator.ts';
import { keepStatistics } from '../catalog/statistics.ts';
import { readModel } from '../catalog/versions.ts';
import type { Datasource } from '../engine/datasource.ts';
import { didYouMean, nearest, SvcError } from '../errors.ts';
import type { SqlParser } from '../language/parser.ts';
import { quoteDouble } from '../language/quote.ts';
import { compile } from '../ontology/compile.ts';
import { fold } from '../ontology/names.ts';
import { allowedFunctionsOf } from '../planner/read/own-functions.ts';
import { Failure, printable } from './failure.ts';
import { checkDangling, checkKeys, checkToOne, guarded } from './validate-data-checks.ts';
import { checkIndexes } from './validate-data-indexes.ts';
import { catalogConnection, secretConnection } from './validate-data-places.ts';
import { DataReader, type Finding, ROWS } from './validate-data-reader.ts';
import { measure } from './validate-data-statistics.ts';
import { checkCalculated, checkLinks, checkMeasures } from './validate-data-values.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Lines to print, and the exit code: 1 if there are errors. */
export interface Report {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/**
 * Reads the model from the catalog, checks the data of its mappings with the roles that queries use, and stores the
 * numbers of rows and the statistics of values with the version.
 *
 * @throws Failure if a database is unknown or does not answer, or if the ontology does not exist
 */
export async function validateData(name: string, env: Env, parser: SqlParser): Promise<Report> {
  const connection = await catalogConnection(env);
  if (!connection) throw new Failure('no catalog found: set CATALOG_URL to the value that the service has, or start a service here with npm start');
  const db = neonDb(connection);
  try {
    return await validated(name, env, parser, db);
  } catch (e) {
    if (e instanceof DbError) throw new Failure(`the catalog: ${e.message} (${e.sqlstate}); npm run migrate brings it up to date`);
    if (!(e instanceof SvcError)) throw e;
    const cause = e.cause instanceof Error ? `: ${e.cause.message}` : '';
    throw new Failure(`${e.message}${cause} (${e.code})`);
  }
}

async function validated(name: string, env: Env, parser: SqlParser, db: CatalogDb): Promise<Report> {
  const stored = await findOntology(db, name);
  const model = stored && (await readModel({ db }, stored.id, stored.version));
  if (!stored || !model) {
    const near = nearest(name, await ontologyNames(db));
    throw new Failure(`unknown ontology ${name}${didYouMean(near, String)}`);
  }
  const graph = compile(model, stored.name);
  const used = new Set([...model.mappings.map((m) => fold(m.datasource)), ...model.views.flatMap((v) => (v.datasource === null ? [] : [fold(v.datasource)]))]);
  const datasources = new Map<string, Datasource>();
  for (const { name: datasource, key, secret, active } of stored.datasources) {
    if (!active && !used.has(key)) continue;
    const found = await secretConnection(datasource, secret, env);
    if (!found && used.has(key)) throw new Failure(`no connection to the datasource ${datasource}: set ${secret} to the value that the service has`);
    if (found) datasources.set(key, found);
  }
  for (const key of used)
    if (!stored.datasources.some((d) => d.key === key)) throw new Failure(`the datasource ${key} of a mapping is not attached to ${stored.name}`);
  const reader = new DataReader({
    graph,
    parser,
    product: 'svc',
    activeDatasource: stored.datasources.find((d) => d.active)?.name ?? 'main',
    allowedFunctions: allowedFunctionsOf(stored),
    datasources,
  });
  const { counts, findings } = await counted(reader);
  findings.push(...(await checked(reader)));
  const measured = await measure(reader, findings);
  findings.push(...measured.findings);
  await db.batch([...keepCounts(stored.version, counts), ...keepStatistics(stored.version, measured.statistics)]);
  return report(stored.name, stored.version, counts, measured.statistics.length, findings);
}

/** Counts the rows of mappings, of concepts with rows, and of views. */
async function counted(reader: DataReader): Promise<{ counts: RowCount[]; findings: Finding[] }> {
  const { graph } = reader.context;
  const counts: RowCount[] = [];
  const findings: Finding[] = [];
  const count = async (kind: RowCount['kind'], name: string, sql: string, over?: () => typeof graph): Promise<void> => {
    const failed = await guarded(`${kind} ${name}`, async () => {
      counts.push({ kind, name, rows: await reader.count(sql, over?.()) });
      return [];
    });
    findings.push(...failed);
  };
  for (const m of graph.model.mappings) await count('mapping', m.name, `SELECT count(*) AS n FROM vsvc.${quoteDouble(ROWS)}`, () => reader.over(m));
  for (const c of graph.concepts) {
    if (c.rows.kind === 'mappings' && c.rows.sources.length === 0) continue;
    await count('concept', c.name, `SELECT count(*) AS n FROM svc.${quoteDouble(c.name)}`);
  }
  for (const v of graph.model.views) await count('view', v.name, `SELECT count(*) AS n FROM vsvc.${quoteDouble(v.name)}`);
  return { counts, findings };
}

async function checked(reader: DataReader): Promise<Finding[]> {
  const { graph } = reader.context;
  const findings: Finding[] = [];
  for (const concept of graph.concepts) if (concept.key?.holder === concept && !concept.def?.logic) findings.push(...(await checkKeys(reader, concept)));
  const known = new Map<string, Promise<number>>();
  const relationships = graph.concepts.flatMap((c) => c.relationships.filter((r) => r.from === c));
  for (const r of relationships) findings.push(...(await checkToOne(reader, r, known)));
  for (const r of relationships) if (!r.isInverse) findings.push(...(await checkDangling(reader, r)));
  for (const r of relationships) if (!r.isInverse) findings.push(...(await checkLinks(reader, r)));
  for (const concept of graph.concepts) {
    if (concept.rows.kind === 'mappings' && concept.rows.sources.length === 0) continue;
    findings.push(...(await checkCalculated(reader, concept)), ...(await checkMeasures(reader, concept)));
  }
  findings.push(...(await checkIndexes(reader)));
  return findings;
}

function report(ontology: string, version: string, counts: readonly RowCount[], columns: number, findings: readonly Finding[]): Report {
  const of = (severity: Finding['severity']): readonly Finding[] => findings.filter((f) => f.severity === severity);
  const [errors, warnings] = [of('error'), of('warning')];
  const many = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
  const kinds = (['mapping', 'concept', 'view'] as const).map((kind) => many(counts.filter((c) => c.kind === kind).length, kind)).join(', ');
  return {
    lines: [
      ...counts.map(({ kind, name, rows }) => `${ontology}: ${kind} ${name}: ${many(rows, 'row')}`),
      ...[...errors, ...warnings].map((f) => `${ontology}: ${f.object}: ${f.severity}: ${f.message} (${f.code})`),
      `${ontology}: values of ${many(columns, 'column')} counted`,
      `${ontology}: rows of ${kinds} counted for version ${version}, ${many(errors.length, 'error')}, ${many(warnings.length, 'warning')}`,
    ].map(printable),
    exitCode: errors.length > 0 ? 1 : 0,
  };
}
