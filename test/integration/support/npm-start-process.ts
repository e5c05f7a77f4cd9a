/** `npm start` as a process of a test: its output, its processes, and requests to what it has started. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { patience } from '../../support/generated.ts';

export const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const READY_MS = patience(100_000);

/** One `node dev/start.ts`, in its own process group as in a terminal. */
export class Start {
  readonly #dir: string;
  readonly child: ChildProcess;
  output = '';
  readonly exited: Promise<number | string | null>;

  /** `dir`: the folder of its files. */
  constructor(dir: string, port: number, env: Record<string, string> = {}) {
    this.#dir = dir;
    const places = { PORT: String(port), DATA_DIR: join(dir, 'pgdata'), SESSION_FILE: join(dir, 'session.json'), SAMPLE: 'none' };
    const { PATH = '', HOME = '' } = process.env;
    this.child = spawn(process.execPath, [join(PROJECT, 'dev', 'start.ts')], { cwd: PROJECT, detached: true, env: { PATH, HOME, ...places, ...env } });
    for (const stream of [this.child.stdout!, this.child.stderr!]) stream.on('data', (d: Buffer) => (this.output += d.toString()));
    this.exited = new Promise((resolve) => this.child.once('exit', (code, signal) => resolve(code ?? signal)));
  }

  async ready(): Promise<Record<string, string>> {
    const end = Date.now() + READY_MS;
    while (!/^READY /m.test(this.output)) {
      if (this.child.exitCode !== null || Date.now() > end) throw new Error(`not ready:\n${this.output.slice(-3000)}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return JSON.parse(readFileSync(join(this.#dir, 'session.json'), 'utf8')) as Record<string, string>;
  }

  /** Ctrl-C: the whole group gets the signal. */
  signal(name: NodeJS.Signals): void {
    try {
      process.kill(-this.child.pid!, name);
    } catch {
      // The group has ended.
    }
  }

  /** Live processes that belong to this start. */
  processes(): string[] {
    const found: string[] = [];
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        if (state !== 'Z' && (Number(group) === this.child.pid || command.includes(this.#dir))) found.push(`${pid} ${command}`);
      } catch {
        // It has ended in the meantime.
      }
    }
    return found;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.signal('SIGINT');
    await this.exited;
    this.signal('SIGKILL');
  }
}

/** Runs SQL by the endpoint, as the developer's role or with another connection string. @returns the rows, or the SQLSTATE */
export const sql = async (session: Record<string, string>, query: string, url = session.database_url!) => {
  const headers = { 'neon-connection-string': url };
  const response = await fetch(session.sql_endpoint!, { method: 'POST', headers, body: JSON.stringify({ query }) });
  const body = (await response.json()) as { rows?: unknown[]; code?: string };
  return body.rows ?? body.code;
};
