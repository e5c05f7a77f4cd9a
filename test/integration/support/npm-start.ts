/** The service as `npm start` starts it, over an embedded database and without the sample, on its own port. test/integration/dev-start.test.ts lets it create its database. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../dev/scratch-postgres.ts';
import { copyEmptyDatabase } from '../../../dev/testing.ts';
import { patience } from '../../support/generated.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const READY_MS = patience(100_000);

export interface Started {
  readonly base: string;
  /** The administrator's token. */
  readonly token: string;
  /** A folder for the test's files; it is deleted with the service. */
  readonly folder: string;
  /** Its output so far. */
  output(): string;
  /** POST query/ as the administrator. @returns the rows @throws Error if it is refused */
  query(sql: string, ontology?: string): Promise<Record<string, unknown>[]>;
  /** SQL on the database, as the developer's role. */
  sql(statement: string): Promise<void>;
  stop(): Promise<void>;
}

/** `env`: further settings. @throws Error if it does not get ready */
export async function startAsDeveloper(env: Readonly<Record<string, string>> = {}): Promise<Started> {
  const folder = mkdtempSync(join(tmpdir(), 'npm-start-'));
  const { PATH = '', HOME = '' } = process.env;
  const places = { PORT: String(await freePort()), DATA_DIR: join(folder, 'pgdata'), SESSION_FILE: join(folder, 'session.json'), SAMPLE: 'none' };
  await copyEmptyDatabase(places.DATA_DIR);
  // in its own process group, as in a terminal
  const child = spawn(process.execPath, [join(PROJECT, 'dev', 'start.ts')], { cwd: PROJECT, detached: true, env: { PATH, HOME, ...places, ...env } });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part));
  const signal = (name: NodeJS.Signals): void => {
    try {
      process.kill(-(child.pid as number), name);
    } catch {
      // the group has ended
    }
  };
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) signal('SIGINT');
    await exited;
    signal('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  for (const end = Date.now() + READY_MS; !/^READY /m.test(output); ) {
    if (child.exitCode === null && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 100));
    else {
      await stop();
      throw new Error(`not ready:\n${output.slice(-3000)}`);
    }
  }
  const session = JSON.parse(readFileSync(places.SESSION_FILE, 'utf8')) as Record<'base_url' | 'admin_token' | 'sql_endpoint' | 'database_url', string>;
  const post = async (url: string, headers: Record<string, string>, body: object): Promise<unknown> => {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return JSON.parse(text);
  };
  return {
    base: session.base_url,
    token: session.admin_token,
    folder,
    output: () => output,
    query: async (sql, ontology = '') => {
      const headers = { 'x-api-key': session.admin_token, 'content-type': 'application/json' };
      const { data } = (await post(`${session.base_url}/svc/api/query`, headers, { ontology_name: ontology, query: sql })) as {
        data: Record<string, unknown>[];
      };
      return data;
    },
    sql: async (statement) => void (await post(session.sql_endpoint, { 'neon-connection-string': session.database_url }, { query: statement })),
    stop,
  };
}
