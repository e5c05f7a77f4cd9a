/** Parses scripts, and keeps the trees of scripts that only read. */
import type { Caller } from '../../auth/authenticate.ts';
import { cacheOf } from '../../cache.ts';
import { parseStatement } from '../../language/classify.ts';
import type { Source, Statement } from '../../language/statements.ts';
import type { Spending } from '../spending.ts';
import { isRead, isService } from '../write/statements.ts';

/** Parsed scripts of statements that read. They do not depend on the caller. */
export const texts = cacheOf<readonly Statement[]>('text');
/** Longer scripts are not cached. */
export const MAX_CACHED_CHARACTERS = 8 * 1024;

/** Parses the statements of a script. @throws SvcError 400 as `parseStatement`; `too_many_statements` at the first statement beyond the limit */
export function parseAll(sources: readonly Source[], spending: Spending): readonly Statement[] {
  return sources.map((source) => {
    const statement = parseStatement(source);
    if (isRead(statement)) spending.countRead(source.offset);
    else if (isService(statement)) {
      const stored = STORED[statement.kind];
      if (stored === undefined) spending.countChange(source.offset);
      else spending.countStored(stored, source.offset);
    }
    if (setsPassword(statement)) spending.countPassword(source.offset);
    return statement;
  });
}

const STORED: Readonly<Partial<Record<Statement['kind'], 'policies' | 'examples'>>> = {
  create_policy: 'policies',
  drop_policy: 'policies',
  create_example: 'examples',
  drop_example: 'examples',
};

const setsPassword = (statement: Statement): boolean =>
  (statement.kind === 'create_user' && statement.password !== null) || (statement.kind === 'alter_user' && statement.setting === 'password');

/** Counts the statements that read in a cached script. @throws SvcError 400 `too_many_statements` */
export function counted(statements: readonly Statement[], spending: Spending): readonly Statement[] {
  for (const statement of statements) if (isRead(statement)) spending.countRead(statement.source.offset);
  return statements;
}

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
