/** `kg validate --ontology NAME --data`: checks the data of an ontology and counts its rows. */

import { keepCounts } from '../catalog/counts.ts';
import { type CatalogDb, DbError, neonDb } from '../catalog/db.ts';
import { findOntology, ontologyNames } from '../catalog/operator.ts';
import { keepStatistics } from '../catalog/statistics.ts';
import { readModel } from '../catalog/versions.ts';
import { DataReader } from '../checks/reader.ts';
import { checkSteps, type Found, findingLines, summaryOf } from '../checks/run.ts';
import type { Datasource } from '../engine/datasource.ts';
import { placementsOf } from '../engine/placements.ts';
import { didYouMean, nearest, SvcError } from '../errors.ts';
import type { SqlParser } from '../language/parser.ts';
import { compile } from '../ontology/compile.ts';
import { fold } from '../ontology/names.ts';
import type { Target } from '../planner/index.ts';
import { ANYWHERE, targetFor } from '../planner/lower/placed.ts';
import { allowedFunctionsOf } from '../planner/read/own-functions.ts';
import { Failure, printable } from './failure.ts';
import { catalogConnection, secretConnection } from './validate-data-places.ts';

/** Less than the 300 s after which Node's fetch gives up. */
const TIMEOUT_MS = 280_000;

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
  const targets = new Map<string, Target>();
  for (const [key, datasource] of datasources) {
    // a datasource that cannot be asked is reported by its first check; of one that does not say where its tables are, each may be distributed
    const target = await placementsOf(datasource, TIMEOUT_MS).then(
      (placements) => placements && targetFor(placements),
      () => ANYWHERE,
    );
    if (target) targets.set(key, target);
  }
  const reader = new DataReader({
    graph,
    parser,
    product: 'svc',
    activeDatasource: stored.datasources.find((d) => d.active)?.name ?? 'main',
    allowedFunctions: allowedFunctionsOf(stored),
    datasources,
    targets,
    timeoutMs: TIMEOUT_MS,
  });
  const found: Found = { counts: [], findings: [], statistics: [] };
  for (const step of checkSteps(reader)) await step(found);
  await db.batch([...keepCounts(stored.version, found.counts), ...keepStatistics(stored.version, found.statistics)]);
  return report(stored.name, stored.version, found);
}

function report(ontology: string, version: string, { counts, findings, statistics }: Found): Report {
  const many = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
  const kinds = (['mapping', 'concept', 'view'] as const).map((kind) => many(counts.filter((c) => c.kind === kind).length, kind)).join(', ');
  return {
    lines: [
      ...counts.map(({ kind, name, rows }) => `${ontology}: ${kind} ${name}: ${many(rows, 'row')}`),
      ...findingLines(findings).map((line) => `${ontology}: ${line}`),
      `${ontology}: values of ${many(statistics.length, 'column')} counted`,
      `${ontology}: rows of ${kinds} counted for version ${version}, ${summaryOf(findings)}`,
    ].map(printable),
    exitCode: findings.some((f) => f.severity === 'error') ? 1 : 0,
  };
}
