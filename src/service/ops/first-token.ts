/** SHOW TOKEN FOR u as programs written for another product name read it: the row has a token. */
import type { Caller } from '../../auth/authenticate.ts';
import { can } from '../../auth/grants.ts';
import type { Statement } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import type { ServiceRequest } from '../runtime.ts';

/**
 * Reads each SHOW TOKEN FOR u as a statement that makes a token, if u has only tokens that this statement made. Not under the name `svc`, not in requests that may only read or come
 * over MCP, and not for callers who may not make a token of u.
 */
export function withFirstTokens(statements: readonly Statement[], { permitted, runtime }: ServiceRequest, { principal }: Caller): readonly Statement[] {
  if (runtime.config.product === 'svc' || permitted !== null) return statements;
  return statements.map((statement): Statement => {
    if (statement.kind !== 'show') return statement;
    const { words, source } = statement;
    const [token, word, user] = words;
    if (words.length !== 3 || user === undefined || fold(token?.text ?? '') !== 'token' || fold(word?.text ?? '') !== 'for') return statement;
    if (!can(principal, 'edit', ['user', user.text])) return statement;
    return { kind: 'create_token', source, user, label: null, expires: null, ifNone: true };
  });
}
