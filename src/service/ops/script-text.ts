/** Parses scripts, and keeps the trees of scripts that only read. */
import type { Caller } from '../../auth/authenticate.ts';
import { cacheOf } from '../../cache.ts';
import { parseStatement } from '../../language/classify.ts';
import type { CreateConcept, Source, Statement } from '../../language/statements.ts';
import type { Counted, Spending } from '../spending.ts';
import { isRead, isService } from '../write/classes.ts';

/** Parsed scripts of statements that read. They do not depend on the caller. */
export const texts = cacheOf<readonly Statement[]>('text');
/** Longer scripts are not cached. */
export const MAX_CACHED_CHARACTERS = 8 * 1024;

/** Parses the statements of a script. @throws SvcError 400 as `parseStatement`; `too_many_statements` at the first statement beyond the limit */
export const parseAll = (sources: readonly Source[], spending: Spending): readonly Statement[] =>
  sources.map((source) => {
    const statement = parseStatement(source);
    count(statement, spending);
    return statement;
  });

/** Counts parsed statements. @throws SvcError 400 `too_many_statements` at the first statement beyond the limit */
export function counted(statements: readonly Statement[], spending: Spending): readonly Statement[] {
  for (const statement of statements) count(statement, spending);
  return statements;
}

function count(statement: Statement, spending: Spending): void {
  const { offset } = statement.source;
  if (isRead(statement)) spending.count('reads', offset);
  else if (isService(statement)) spending.count(STORED[statement.kind] ?? 'changes', offset);
  if (setsPassword(statement)) spending.count('passwords', offset);
}

const STORED: Readonly<Partial<Record<Statement['kind'], Counted>>> = {
  create_policy: 'policies',
  drop_policy: 'policies',
  create_example: 'examples',
  drop_example: 'examples',
};

const setsPassword = (statement: Statement): boolean =>
  (statement.kind === 'create_user' && statement.password !== null) || (statement.kind === 'alter_user' && statement.setting === 'password');

/** Copies the caller, so that later statements of the script see what the script creates, and no other request does. */
export const copyOf = (caller: Caller): Caller => ({
  ...caller,
  principal: { ...caller.principal, grants: [...caller.principal.grants] },
  snapshot: {
    ...caller.snapshot,
    ontologies: caller.snapshot.ontologies.map((o) => ({ ...o })),
    datasources: [...caller.snapshot.datasources],
    agents: caller.snapshot.agents.map((a) => ({ ...a })),
  },
});

/** A statement that takes everything from a concept. */
export const EMPTY_CONCEPT: Omit<CreateConcept, 'source' | 'name'> = {
  kind: 'create_concept',
  replace: true,
  elements: [],
  parents: [],
  description: null,
  tags: [],
  logic: null,
};
