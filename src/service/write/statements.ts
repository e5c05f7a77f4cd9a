/**
 * All kinds of statements by class (docs/design/statements-and-versions.md#classes-of-statements): those that read, those that change an ontology and create a
 * version, and those that change the service.
 */
import type { ModelStatement, ReadStatement, ServiceStatement, Statement } from '../../language/statements.ts';
import { AGENTS } from './agent-statements.ts';
import type { Changing, Done } from './changing.ts';
import { DATASOURCES } from './datasources.ts';
import { EXAMPLES } from './example-statements.ts';
import { GRANTS } from './grants.ts';
import type { Kind, Kinds, Reach } from './kinds.ts';
import { ONTOLOGIES } from './ontologies.ts';
import { POLICIES } from './policy-statements.ts';
import { ROLES } from './roles.ts';
import { TOKENS } from './tokens.ts';
import { USERS } from './users.ts';

/** The statements of the service. The type requires an entry for each kind. */
const SERVICE: Kinds = { ...ONTOLOGIES, ...DATASOURCES, ...AGENTS, ...EXAMPLES, ...USERS, ...TOKENS, ...GRANTS, ...ROLES, ...POLICIES };

const READS: Readonly<Record<ReadStatement['kind'], true>> = { select: true, show: true, describe: true, explain: true };

export const isRead = (statement: Statement): statement is ReadStatement => Object.hasOwn(READS, statement.kind);

/** True for statements of the service; statements that neither read nor belong to the service change an ontology. */
export const isService = (statement: Statement): statement is ServiceStatement => Object.hasOwn(SERVICE, statement.kind);

/** Returns what a statement can change. */
export const reachOf = (statement: ModelStatement | ServiceStatement): Reach => (isService(statement) ? SERVICE[statement.kind].reach : 'ontology');

/** Applies a statement of the service in memory. @throws SvcError 400 if it is invalid, 403 without the required right */
export function applyService<S extends ServiceStatement>(context: Changing, statement: S): Promise<Done> {
  // TypeScript cannot infer that the entry and the statement have the same kind
  const kind = SERVICE[statement.kind] as unknown as Kind<S>;
  return kind.apply(context, statement);
}
