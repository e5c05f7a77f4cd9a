import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from './failure.ts';
import { PROJECT } from './places.ts';

/** The interface of the service for `npm start`. */
export interface Service {
  base: string;
  product: string;
  adminToken: string;
}

const DEMO_USER = 'demo';
const SAMPLE_ONTOLOGY = 'world';

interface Reply {
  status: number;
  data: unknown;
}

async function call({ base, product }: Service, token: string, method: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${base}/${product}/api/${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-api-key': token },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  try {
    return { status: response.status, data: (JSON.parse(text) as { data?: unknown }).data };
  } catch {
    return { status: response.status, data: text.slice(0, 200) };
  }
}

const statement = (service: Service, query: string, ontology = '') => call(service, service.adminToken, 'POST', 'query/', { ontology_name: ontology, query });

/** The names of the ontologies that a token sees; undefined if the token is refused. */
async function ontologies(service: Service, token: string): Promise<string[] | undefined> {
  const { status, data } = await call(service, token, 'GET', 'get_ontologies/');
  return status === 200 && Array.isArray(data) ? (data as string[]) : undefined;
}

/** Loads the sample's model into the catalog if it is missing. Throws StartFailure. */
export async function ensureSampleModel(service: Service): Promise<void> {
  const known = await ontologies(service, service.adminToken);
  if (!known) throw new StartFailure('the service refuses its own administrator token');
  if (known.includes(SAMPLE_ONTOLOGY)) return;
  const script = readFileSync(join(PROJECT, 'examples', 'world', 'model.kg'), 'utf8');
  const { status, data } = await statement(service, script, SAMPLE_ONTOLOGY);
  if (status !== 200) throw new StartFailure(`the sample graph cannot be loaded: ${String(data)} (SAMPLE=none starts without it)`);
}

/** The demo user's token: the stored one if it still works, else a new one. Throws StartFailure. */
export async function ensureDemoToken(service: Service, kept: string | undefined, sample: boolean): Promise<string> {
  const seen = kept === undefined ? undefined : await ontologies(service, kept);
  if (kept !== undefined && seen && (!sample || seen.includes(SAMPLE_ONTOLOGY))) return kept;
  // The user may exist from an earlier start: then this is refused, and creating the token below decides.
  await statement(service, `CREATE USER ${DEMO_USER}`);
  if (sample) {
    const grant = await statement(service, `GRANT QUERY ON ALL ontology.${SAMPLE_ONTOLOGY} TO USER ${DEMO_USER}`);
    if (grant.status !== 200) throw new StartFailure(`the demo user cannot be granted the sample graph: ${String(grant.data)}`);
  }
  if (kept !== undefined && seen) return kept;
  const { status, data } = await statement(service, `CREATE TOKEN FOR ${DEMO_USER}`);
  const token = Array.isArray(data) ? (data[0] as { token?: unknown } | undefined)?.token : undefined;
  if (status !== 200 || typeof token !== 'string') throw new StartFailure(`the demo token cannot be created: ${String(data)}`);
  return token;
}

/** A link that logs the demo user in once. @returns undefined if the service has no login */
export async function consoleLink({ base, product }: Pick<Service, 'base' | 'product'>, demoToken: string): Promise<string | undefined> {
  const response = await fetch(`${base}/${product}/console/link`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-api-key': demoToken } });
  const { link } = (await response.json().catch(() => ({}))) as { link?: string };
  return link === undefined ? undefined : base + link;
}
