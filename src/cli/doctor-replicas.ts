/** The checks of `kg doctor` for the replicas of datasources: whether each one is a standby of its datasource, whose position the role may read. */
import type { StoredReplicas } from '../catalog/operator.ts';
import type { Datasource } from '../engine/datasource.ts';
import { maxLag, replicaNames } from '../engine/replicas/options.ts';
import { mismatch } from '../engine/replicas/position.ts';
import { SvcError } from '../errors.ts';
import type { Diagnosis } from './doctor-role.ts';
import { Failure } from './failure.ts';

const TIMEOUT_MS = 15_000;

/** Finds the connection of a variable; undefined if it is not set. @throws Failure if its value is not a connection */
export type Connect = (name: string, variable: string) => Promise<Datasource | undefined>;

/** Checks all replicas of a datasource. Reads do without a replica that fails, so nothing is worse than a warning. */
export async function replicaLines({ name, secret, replicas, maxLag: lag }: StoredReplicas, connect: Connect): Promise<Diagnosis[]> {
  const lines: Diagnosis[] = [];
  if (maxLag(lag) === undefined)
    lines.push({ state: 'warn', about: `datasource ${name}`, text: `max_lag is ${lag}, which is no time from 1 s to 1 h; 10 s is used` });
  for (const [i, variable] of replicaNames(replicas).entries()) {
    const line = (state: Diagnosis['state'], text: string): Diagnosis => ({ state, about: `datasource ${name} replica ${i + 1}`, text });
    try {
      const [primary, replica] = [await connect(name, secret), await connect(name, variable)];
      if (replica === undefined) lines.push(line('warn', `${variable} is not set here; a service without it does not use the replica`));
      else if (primary === undefined) lines.push(line('warn', `not checked: set ${secret} to the value that the service has`));
      else lines.push(line(...(await compared(replica, primary))));
    } catch (e) {
      if (!(e instanceof Failure)) throw e;
      lines.push(line('warn', e.message));
    }
  }
  return lines;
}

async function compared(replica: Datasource, primary: Datasource): Promise<[Diagnosis['state'], string]> {
  try {
    const wrong = await mismatch(replica, primary, TIMEOUT_MS);
    return wrong === undefined ? ['ok', 'it is a standby of the datasource'] : ['warn', wrong];
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    const cause = e.cause instanceof Error ? `: ${e.cause.message}` : '';
    return ['warn', `its position, or that of the datasource, cannot be read${cause} (docs/scale-out.md#what-the-role-needs)`];
  }
}
