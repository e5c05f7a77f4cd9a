/** Examples of an ontology: questions or titles with their SQL, shared by all who may run it. They are also the saved queries of the console. */
import type { Failure } from './failure.ts';
import { change, data, eyes, failureOf, identifier, literal, product, query } from './http.ts';
import { onOtherUser } from './session.ts';

export interface Example {
  readonly question: string;
  readonly query: string;
  readonly description: string | null;
}

/** The valid examples that the user may run. @throws as `query` */
export const examples = (ontology: string, most = 1000): Promise<readonly Example[]> =>
  query<Example>(ontology, `SELECT question, query, description FROM ${identifier(product)}.SYS_EXAMPLES WHERE valid ORDER BY question LIMIT ${most}`);

/** The statement that stores a question, or a title, with its SQL. */
export const exampleStatement = (question: string, sql: string): string => `CREATE OR REPLACE EXAMPLE ${literal(question)} AS\n${sql.replace(/;\s*$/, '')}`;

/**
 * Stores a question, or a title, with its SQL. The SQL may come from a link, and a second statement in it would run too: the service first checks that it has
 * nothing that changes something. @throws Failure `read_only`, before anything is stored; as `change`. Its position is one in `exampleStatement`
 */
export async function storeExample(ontology: string, question: string, sql: string): Promise<void> {
  const statement = exampleStatement(question, sql);
  try {
    await query(ontology, CHECK + sql, { limit: 1 });
  } catch (thrown) {
    throw movedBy([...exampleStatement(question, '')].length - CHECK.length, failureOf(thrown)) ?? thrown;
  }
  await change(ontology, statement);
}

const CHECK = 'EXPLAIN (LOGICAL) ';

const movedBy = (characters: number, failure: Failure | null): Failure | null =>
  failure?.position == null ? failure : Object.assign(failure, { position: failure.position + characters });

export const dropExampleStatement = (question: string): string => `DROP EXAMPLE ${literal(question)}`;

const rights = new Map<string, Promise<boolean>>();
onOtherUser(() => rights.clear());

/** Whether the user may store examples, which needs EDIT on the ontology. */
export function mayStore(ontology: string): Promise<boolean> {
  const key = `${eyes.value} ${ontology}`;
  const known = rights.get(key);
  if (known !== undefined) return known;
  const found = data(`/model/${encodeURIComponent(ontology)}/plan`, { method: 'POST', body: { files: [] } }).then(
    () => true,
    () => false,
  );
  rights.set(key, found);
  return found;
}
