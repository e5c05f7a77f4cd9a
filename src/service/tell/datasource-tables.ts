/** SHOW DATASOURCE: the tables of a datasource, from which programs make a starting model. */
import { can, canSee } from '../../auth/grants.ts';
import { readTables } from '../../engine/tables.ts';
import { badRequest } from '../../errors.ts';
import type { Name } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { datasourceOf } from '../caller/datasource.ts';
import { lacks, unknownInStatement } from '../caller/lookup.ts';
import type { Session } from '../session.ts';

/** The most tables of an answer. */
const MOST = 2000;

/** A table or view: `definition` is a JSON text with its columns, keys and foreign keys. */
interface TableRow {
  readonly schema: string;
  readonly table: string;
  readonly is_view: boolean;
  readonly comment: string | null;
  readonly definition: string;
}

/**
 * Prepares the list of the tables that the role of a datasource may read. It needs QUERY on the datasource.
 * @throws SvcError 400 `unknown_datasource`; 403. When executed: 400 `too_large`; 502; 504
 */
export function datasourceTables({ caller, request: { runtime } }: Session, name: Name): () => Promise<readonly TableRow[]> {
  const { principal, snapshot } = caller;
  const visible = snapshot.datasources.filter((d) => canSee(principal, ['datasource', d.key]));
  const row = visible.find((d) => d.key === fold(name.text));
  if (row === undefined)
    throw unknownInStatement(
      'datasource',
      name,
      visible.map((d) => d.name),
    );
  if (!can(principal, 'query', ['datasource', row.key])) throw lacks('QUERY', `datasource.${row.name}`, name.offset);
  return async () => {
    const tables = await readTables(datasourceOf(runtime, caller, row.name), runtime.config.statementTimeoutMs, MOST + 1);
    if (tables.length > MOST)
      throw badRequest('too_large', `the datasource has more than ${MOST} tables`, { offset: name.offset, hint: 'npm run kg -- introspect reads all of them' });
    return tables.map((t) => ({ schema: t.schema, table: t.name, is_view: t.isView, comment: t.comment, definition: JSON.stringify(t) }));
  };
}
