/** A service in Node and helpers for its callers, for the attacks on rights. */
import { CATALOG_OWNER } from '../../dev/roles.ts';
import { makeBearer } from '../../src/auth/bearer.ts';
import { neonDb } from '../../src/catalog/db.ts';
import { parseConnection } from '../../src/config.ts';
import { type Answer, startService, type TestService } from '../support/service.ts';
import { inVariable, jws, rsa, spki } from '../unit/auth/by-hand.ts';

export const PASSWORD = 'Correct-horse-9!';
export const SALT = 'a salt of this test';
export const SECRET = 'a secret that signs the sessions of this test';
const realm = rsa();

/** The service and its catalog, set by `startCallers`. */
export let s: TestService;
export let db: ReturnType<typeof neonDb>;

/** Starts the service with the ontology `shop`: cities 1 Berlin and 2 Lyon. */
export async function startCallers(): Promise<void> {
  s = await startService({ settings: { ENABLE_TOKEN: 'true', JWT_DEFAULT_KEY: inVariable(spki(realm)), API_AUTH_SALT: SALT, SESSION_SECRET: SECRET } });
  db = neonDb(parseConnection(s.database.secret(CATALOG_OWNER), 'CATALOG_URL'));
  await s.database.exec('CREATE SCHEMA shop');
  await s.database.exec('CREATE TABLE shop.t_city (id bigint PRIMARY KEY, name text)');
  await s.database.exec("INSERT INTO shop.t_city VALUES (1, 'Berlin'), (2, 'Lyon')");
  await s.rows(
    'CREATE ONTOLOGY shop; CREATE CONCEPT city (id bigint, name string, PRIMARY KEY (id)); CREATE MAPPING m INTO (city) AS SELECT id, name FROM shop.t_city',
    'shop',
  );
}

export type Headers = Readonly<Record<string, string>>;

/** A statement without an ontology, or on `ontology`, with these headers. */
export async function ask(sql: string, headers: Headers, ontology = ''): Promise<Answer> {
  const body = JSON.stringify({ ontology_name: ontology, query: sql });
  const response = await s.fetch('/svc/api/query', { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
}
/** The headers of a caller with a token. */
export const by = (token: string): Headers => ({ 'x-api-key': token });
/** `status code` of a statement. */
export const outcome = async (sql: string, headers: Headers, ontology = ''): Promise<string> => {
  const { status, json } = await ask(sql, headers, ontology);
  return status === 200 ? '200' : `${status} ${json.code}`;
};
/** Statements of the administrator, as one script. @returns the rows of the last one */
export const admins = (...statements: readonly string[]): Promise<Record<string, unknown>[]> => s.rows(statements.join('; '));

/** A statement on the catalog itself. */
export const catalog = (sql: string) => s.database.exec(sql, [], CATALOG_OWNER);

let number = 0;
const made: string[] = [];
/** A user with a unique name, its token, and its grants. */
export async function user(name: string, ...grants: readonly string[]): Promise<{ name: string; token: string }> {
  number++;
  const own = `${name}${number}`;
  made.push(own);
  const [row] = await admins(`CREATE USER ${own} PASSWORD '${PASSWORD}'`, ...grants.map((g) => `GRANT ${g} TO USER ${own}`), `CREATE TOKEN FOR ${own}`);
  return { name: own, token: String(row?.token) };
}
/** Whether a caller has the rights of an administrator. */
export const isAdmin = async (headers: Headers): Promise<boolean> => {
  const { status, json } = await ask('SELECT role_name FROM svc.SYS_ROLES', headers);
  return status === 200 && json.data.some((r: { role_name: string }) => r.role_name === 'admin');
};
/** A token by get_token, or the status of the refusal. */
export async function logIn(name: string, password = PASSWORD): Promise<string> {
  const bearer = await makeBearer({ user: name, password }, SALT, Date.now());
  const response = await s.fetch('/svc/api/get_token', { method: 'POST', headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' } });
  const json = (await response.json()) as { data: string[] };
  return response.status === 200 ? String(json.data[0]) : String(response.status);
}
/** The headers of a caller with a JWT of these claims. */
export const jwt = (claims: Readonly<Record<string, unknown>>): Headers => ({
  'x-jwt-token': jws({ alg: 'RS256' }, { exp: Math.floor(Date.now() / 1000) + 300, ...claims }, realm),
});
/** Adds a user to the role `admin`. @returns the row of the statement */
export const promoted = async (name: string) => (await admins(`GRANT ROLE admin TO USER ${name}`))[0];

/** Removes the users that were created since the last call from the role of administrators. */
export async function demoteAll(): Promise<void> {
  for (const name of made.splice(0)) await s.query(`REVOKE ROLE admin FROM USER ${name}`);
}
