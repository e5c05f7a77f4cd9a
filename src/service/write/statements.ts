/** The statements of the service. */
import type { ServiceStatement } from '../../language/statements.ts';
import { AGENTS } from './agent-statements.ts';
import { CACHES } from './cached-mappings.ts';
import { VIEW_CACHES } from './cached-views.ts';
import type { Changing, Done } from './changing.ts';
import { DATASOURCES } from './datasources.ts';
import { EXAMPLES } from './example-statements.ts';
import { GRANTS } from './grants.ts';
import { JOBS } from './job-statements.ts';
import type { Kind, Kinds } from './kinds.ts';
import { ONTOLOGIES } from './ontologies.ts';
import { POLICIES } from './policy-statements.ts';
import { ROLES } from './roles.ts';
import { TOKENS } from './tokens.ts';
import { USERS } from './users.ts';

/** The type requires an entry for each kind. */
const SERVICE: Kinds = {
  ...ONTOLOGIES,
  ...DATASOURCES,
  ...CACHES,
  ...VIEW_CACHES,
  ...JOBS,
  ...AGENTS,
  ...EXAMPLES,
  ...USERS,
  ...TOKENS,
  ...GRANTS,
  ...ROLES,
  ...POLICIES,
};

/** Applies a statement of the service in memory. @throws SvcError 400 if it is invalid, 403 without the required right */
export function applyService<S extends ServiceStatement>(context: Changing, statement: S): Promise<Done> {
  // TypeScript cannot infer that the entry and the statement have the same kind
  const kind = SERVICE[statement.kind] as unknown as Kind<S>;
  return kind.apply(context, statement);
}
