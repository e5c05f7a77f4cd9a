/** The requests of the edit view. */
import { apiPath, data, identifier, query } from '../api/http.ts';
import { shellWord } from '../connect/snippets.ts';

export interface Change {
  readonly action: 'create' | 'change' | 'drop';
  readonly kind: string;
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface Plan {
  readonly version: string | null;
  readonly changes: readonly Change[];
  readonly unlisted: readonly { readonly kind: string; readonly name: string }[];
  readonly warnings: readonly { readonly message: string; readonly hint?: string | null }[];
}

export interface Version {
  readonly id: string;
  readonly created: string;
  readonly created_by: string | null;
  readonly statement: string | null;
}

const body = (text: string, expect: string | null) => ({ files: text === '' ? [] : [{ name: 'console', text }], ...(expect === null ? {} : { expect }) });

/** What a script would change. Writes nothing. */
export const plan = (ontology: string, text: string): Promise<Plan> =>
  data<Plan>(`/model/${encodeURIComponent(ontology)}/plan`, { method: 'POST', body: body(text, null) });

/** What a rollback to a version would change. */
export const rollbackPlan = (ontology: string, version: string): Promise<Plan> =>
  data<Plan>(`/model/${encodeURIComponent(ontology)}/plan`, { method: 'POST', body: { files: [], version } });

/** Makes the change. @param expect the version that was planned for; another one is refused with 409 */
export const apply = (ontology: string, text: string, expect: string): Promise<Plan> =>
  data<Plan>(`/model/${encodeURIComponent(ontology)}/apply`, { method: 'POST', body: body(text, expect) });

/** The request of `apply` as a command. */
export const applyAsCurl = (ontology: string): string =>
  `curl -s ${shellWord(`${location.origin}${apiPath}/model/${encodeURIComponent(ontology)}/apply`)} -H "x-api-key: $TOKEN" -H 'content-type: application/json' -d @body.json`;

/** The script that creates an object, or the whole ontology. */
export async function scriptOf(ontology: string, kind: string, name: string): Promise<string> {
  const [row] = await query<{ script: string }>(ontology, `SHOW CREATE ${kind.toUpperCase()} ${identifier(name)}`);
  return row?.script ?? '';
}

export const versions = (ontology: string): Promise<readonly Version[]> => query<Version>(ontology, 'SHOW VERSIONS');

export const rollbackStatement = (ontology: string, id: string): string => `ROLLBACK ONTOLOGY ${identifier(ontology)} TO VERSION '${id}'`;

/** The statements that `apply` runs for the changes of a plan. */
export const statementsOf = ({ changes }: Plan): string => changes.map((c) => `${c.after ?? dropStatement(c.kind, c.name)};`).join('\n\n');

/** The statement that drops an object. */
export const dropStatement = (kind: string, name: string): string => `DROP ${kind.toUpperCase()} ${identifier(name)}`;
