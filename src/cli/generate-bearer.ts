/** `npm run generate-bearer -- USER`: prints the bearer that POST get_token accepts (docs/design/credentials.md#the-bearer-of-get_token). */
import { pathToFileURL } from 'node:url';
import { makeBearer } from '../auth/bearer.ts';
import { Failure } from './failure.ts';
import type { Output } from './kg.ts';

const HELP = `Usage: npm run --silent generate-bearer -- USER

Prints the bearer of USER for POST get_token. It is valid for 24 hours. The password is read from
BEARER_PASSWORD, or else from the first line of the standard input; the salt from API_AUTH_SALT, which
must have the service's value.`;

/** Reads the password if BEARER_PASSWORD is not set. */
export type ReadPassword = () => Promise<string>;

/** Runs the command. @returns the exit code: 0 success, 1 failure, 2 wrong arguments */
export async function main(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { out, err }: Output,
  readPassword: ReadPassword,
): Promise<number> {
  try {
    out(args.includes('--help') || args.includes('-h') ? HELP : await bearer(args, env, readPassword));
    return 0;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    err(error.exitCode === 2 ? `${error.message}\n${HELP}` : error.message);
    return error.exitCode;
  }
}

async function bearer([user, ...more]: readonly string[], env: Readonly<Record<string, string | undefined>>, readPassword: ReadPassword): Promise<string> {
  if (user === undefined || user === '' || more.length > 0) throw new Failure('generate-bearer needs one USER', 2);
  if (user.includes(':')) throw new Failure('a user whose name contains a colon cannot have a bearer: the name ends at the first colon');
  const salt = env.API_AUTH_SALT;
  if (salt === undefined || salt.trim() === '') throw new Failure('API_AUTH_SALT is not set');
  const password = env.BEARER_PASSWORD || (await readPassword());
  if (password === '') throw new Failure('no password: set BEARER_PASSWORD, or send it on the standard input');
  return makeBearer({ user, password }, salt, Date.now());
}

/** Reads the first line of the standard input. At a terminal it prompts for it and disables echo. */
async function readLine(): Promise<string> {
  const { stdin, stderr } = process;
  const atTerminal = stdin.isTTY === true;
  if (atTerminal) {
    stderr.write('Password: ');
    stdin.setRawMode(true);
  }
  let line = '';
  try {
    for await (const chunk of stdin.setEncoding('utf8')) {
      for (const sign of chunk as string) {
        if (sign === '\n' || (atTerminal && (sign === '\r' || sign === '\u0004'))) return line.replace(/\r$/, '');
        if (atTerminal && sign === '\u0003') throw new Failure('interrupted', 130);
        line = atTerminal && (sign === '\u007f' || sign === '\b') ? [...line].slice(0, -1).join('') : line + sign;
      }
    }
    return line.replace(/\r$/, '');
  } finally {
    if (atTerminal) {
      stdin.setRawMode(false);
      stderr.write('\n');
    }
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main(process.argv.slice(2), process.env, { out: console.log, err: console.error }, readLine);
}
