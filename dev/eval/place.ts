/** The service to evaluate, and the tokens of its callers. */
import { Failure } from '../../src/cli/failure.ts';
import { findService, readSession, type ServiceClient, sessionFile } from '../../src/cli/service-client.ts';
import { quoteBack } from '../../src/language/quote.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** SQL on the tables themselves: the rows of a hand-written statement. */
export type Tables = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

export interface Place {
  readonly base: string;
  readonly product: string;
  /** The token of a caller; undefined: the token with which the service was found. */
  tokenOf(caller: string | undefined): Promise<string>;
  /** The service over REST, as a caller. */
  restOf(caller: string | undefined): Promise<ServiceClient>;
  /** The service's database, if the session file of `npm start` names it; undefined: it is not known. */
  readonly tables: Tables | undefined;
  /** Revokes the tokens that were created. */
  close(): Promise<void>;
}

/** The maximum lifetime of a token that is created for a caller. */
const TOKEN_HOURS = 12;

/**
 * Finds the service like the command line: by `url` and `token` (KG_URL and KG_TOKEN), or by the session file. `tokens`: those of callers, by
 * name; for other callers a token is created, which needs an administrator's token.
 *
 * @throws Failure that names what is missing
 */
export async function findPlace({
  url,
  token,
  tokens = {},
  env,
}: {
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly tokens?: Readonly<Record<string, string>>;
  readonly env: Env;
}): Promise<Place> {
  const file = sessionFile(env);
  const session = await readSession(file);
  const text = (name: string): string | undefined => (typeof session[name] === 'string' ? session[name] : undefined);
  const base = (url ?? env.KG_URL?.trim() ?? text('base_url') ?? '').replace(/\/+$/, '');
  if (base === '')
    throw new Failure(`no service found: give --url and --token, set KG_URL and KG_TOKEN, or start one here with npm start (there is no session file ${file})`);
  const own = text('base_url')?.replace(/\/+$/, '') === base;
  const first = token ?? env.KG_TOKEN?.trim() ?? (own ? text('admin_token') : undefined);
  if (!first) throw new Failure(`no token for ${base}: give --token, or set KG_TOKEN`);
  const product = env.PRODUCT_NAME?.trim() || 'svc';
  const rest = (with_: string): Promise<ServiceClient> => findService({ KG_URL: base, KG_TOKEN: with_, PRODUCT_NAME: product });
  const made = new Map<string, Promise<{ readonly token: string; readonly id: string }>>();

  const make = async (caller: string): Promise<{ readonly token: string; readonly id: string }> => {
    const until = new Date(Date.now() + TOKEN_HOURS * 3_600_000).toISOString();
    const { fault, rows } = await (await rest(first)).query(`CREATE TOKEN FOR ${quoteBack(caller)} EXPIRES '${until}'`, '');
    const [row] = rows;
    if (fault || typeof row?.token !== 'string' || typeof row.token_id !== 'string')
      throw new Failure(`no token for ${caller}: ${fault?.message ?? 'the service created none'} (give one by --as ${caller}=TOKEN)`);
    return { token: row.token, id: row.token_id };
  };
  const tokenOf = async (caller: string | undefined): Promise<string> => {
    if (caller === undefined) return first;
    const given = tokens[caller];
    if (given !== undefined) return given;
    const known = made.get(caller) ?? make(caller);
    made.set(caller, known);
    return (await known).token;
  };
  const [endpoint, database] = [text('sql_endpoint'), text('database_url')];
  return {
    base,
    product,
    tokenOf,
    restOf: async (caller) => rest(await tokenOf(caller)),
    tables: own && endpoint !== undefined && database !== undefined ? overHttp(endpoint, database) : undefined,
    close: async () => {
      const service = await rest(first);
      for (const token of made.values()) {
        const { id } = await token.catch(() => ({ id: undefined }));
        if (id !== undefined) await service.query(`REVOKE TOKEN '${id}'`, '').catch(() => undefined);
      }
    },
  };
}

/** The SQL endpoint of `npm start`. */
function overHttp(endpoint: string, database: string): Tables {
  return async (sql) => {
    const headers = { 'content-type': 'application/json', 'neon-connection-string': database };
    const body = JSON.stringify({ query: `SELECT to_json(q)::text AS r FROM (${sql}) q`, params: [] });
    const response = await fetch(endpoint, { method: 'POST', headers, body });
    const answer = (await response.json()) as { readonly rows?: readonly { readonly r: string }[]; readonly message?: string };
    if (!response.ok || answer.rows === undefined) throw new Failure(`the SQL by hand fails: ${answer.message}`);
    return answer.rows.map((row) => JSON.parse(row.r));
  };
}
