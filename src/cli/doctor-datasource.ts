/** The checks of `kg doctor` for a datasource: its server, its role, and the transport of its answers. */
import { send } from '../engine/client.ts';
import type { Datasource } from '../engine/datasource.ts';
import { operatorText } from '../engine/operator.ts';
import { DEFAULT_SETTINGS, fits, fromProbe, PROBE, type RoleSettings } from '../engine/settings.ts';
import type { SqlText } from '../engine/statement.ts';
import { SvcError } from '../errors.ts';
import { identifier } from '../planner/print/lexical.ts';
import { layoutLines } from './doctor-layout.ts';
import { nodeLines, releaseLines } from './doctor-nodes.ts';
import { type Diagnosis, type Line, RIGHTS, type Rights, roleLines } from './doctor-role.ts';

const TIMEOUT_MS = 15_000;
/** The supported major versions of PostgreSQL. */
const VERSIONS = { least: 15, most: 18 } as const;

/** The output of `to_json` must arrive unchanged: numbers with all digits, members in order. */
const EXACT = '{"b":1.10,"a":12345678901234567890}';

/**
 * Checks a datasource.
 * @param about its name in the output
 * @param keep gets where a datasource on Citus has its tables, as the catalog stores it; null: it is not on Citus
 */
export async function examine(
  datasource: Datasource,
  about: string,
  statementTimeoutMs: number,
  keep: (placements: string | null) => Promise<void> = async () => undefined,
): Promise<Diagnosis[]> {
  const line = (state: Diagnosis['state'], text: string): Diagnosis => ({ state, about, text });
  try {
    const probed = await rowsOf(datasource, PROBE.text);
    const settings = new Map(probed.map(([name, value]) => [String(name), String(value)]));
    const [[rights] = []] = await rowsOf(datasource, operatorText(RIGHTS));
    const role = JSON.parse(String(rights)) as Rights;
    return [
      versionLine(settings, line),
      ...settingLines(role.role, fromProbe(probed), statementTimeoutMs, line),
      ...nodeLines(role, DEFAULT_SETTINGS, line),
      ...releaseLines(settings.get('citus.version'), line),
      ...roleLines(role, settings, line),
      ...(await layoutLines(datasource, role.isDistributed, line, keep)),
      await exactLine(datasource, line),
      costLine(settings, line),
    ];
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    const cause = e.cause instanceof Error ? `: ${e.cause.message}` : '';
    return [line('fail', `it does not answer${cause} (${e.code}); check the connection string, and the endpoint if it is not Neon's`)];
  }
}

function versionLine(settings: ReadonlyMap<string, string>, line: Line): Diagnosis {
  const version = settings.get('server_version') ?? 'of an unknown version';
  const major = Math.floor(Number(settings.get('server_version_num')) / 10_000);
  if (major >= VERSIONS.least && major <= VERSIONS.most) return line('ok', `PostgreSQL ${version}`);
  return line(major < VERSIONS.least ? 'fail' : 'warn', `PostgreSQL ${version}: versions ${VERSIONS.least} to ${VERSIONS.most} are supported`);
}

/** Checks the settings that the role should have. If it lacks one, the service sends it with each query. */
function settingLines(name: string, role: RoleSettings | undefined, timeoutMs: number, line: Line): Diagnosis[] {
  if (!role) return [line('fail', `the settings of the role ${name} cannot be read`)];
  const alter = (setting: string): string => `ALTER ROLE ${identifier(name)} SET ${setting}`;
  const lines: Diagnosis[] = [];
  if (!role.readOnly) lines.push(line('fail', `the role ${name} is not read-only: ${alter('default_transaction_read_only = on')}`));
  if (role.timeoutMs !== timeoutMs) {
    const seen = role.timeoutMs === 0 ? 'no statement_timeout' : `a statement_timeout of ${role.timeoutMs} ms`;
    lines.push(
      line('warn', `the role ${name} has ${seen}, the service's is ${timeoutMs} ms (STATEMENT_TIMEOUT_MS): ${alter(`statement_timeout = '${timeoutMs}ms'`)}`),
    );
  }
  for (const [setting, value] of [
    ['search_path', ''],
    ['TimeZone', 'UTC'],
    ['DateStyle', 'ISO, MDY'],
    ['jit', 'off'],
  ] as const) {
    if (fits({ ...role, readOnly: true, timeoutMs }, { [setting]: value }, timeoutMs)) continue;
    const text = `the role ${name} has the ${setting} '${role.settings[setting]}', so the service sends it with each query: ${alter(`${identifier(setting)} = '${value}'`)}`;
    lines.push(line('warn', text));
  }
  return lines.length > 0 ? lines : [line('ok', `the role ${name} is read-only, with statement_timeout, search_path, TimeZone, DateStyle and jit set`)];
}

/** Checks that the SQL-over-HTTP server returns JSON as PostgreSQL wrote it. */
async function exactLine(datasource: Datasource, line: Line): Promise<Diagnosis> {
  const exchange = await send(
    datasource,
    { text: operatorText(`SELECT '${EXACT}'::json AS j`) },
    { timeoutMs: TIMEOUT_MS, rawText: false, retry: true, ownText: true },
  );
  try {
    const body = await exchange.watch(() => exchange.response.text());
    if (body.includes(EXACT)) return line('ok', 'JSON arrives as PostgreSQL wrote it');
    return line('fail', 'the SQL-over-HTTP server rewrites JSON, so that long numbers and 1.10 lose digits: use npm run gateway or Neon as the endpoint');
  } finally {
    exchange.release();
  }
}

function costLine(settings: ReadonlyMap<string, string>, line: Line): Diagnosis {
  const cost = Number(settings.get('random_page_cost'));
  return cost < 2
    ? line('ok', `random_page_cost is ${cost}`)
    : line(
        'warn',
        `random_page_cost is ${cost}, the default for spinning disks: on SSDs, 1.1 makes PostgreSQL use indexes for paths (ALTER DATABASE ... SET random_page_cost = 1.1)`,
      );
}

/** The rows of one statement, sent unchanged, under the role's own settings. */
async function rowsOf(datasource: Datasource, text: SqlText): Promise<readonly (readonly unknown[])[]> {
  const exchange = await send(datasource, { text }, { timeoutMs: TIMEOUT_MS, rawText: true, retry: true, ownText: true });
  try {
    const answer = (await exchange.watch(() => exchange.response.json())) as { readonly rows?: readonly (readonly unknown[])[] } | null;
    return answer?.rows ?? [];
  } catch (error) {
    throw exchange.failure(error);
  } finally {
    exchange.release();
  }
}
