/** SHOW DATASOURCE: the tables of a datasource, from which programs make a starting model. */
import { can, canSee } from '../../auth/grants.ts';
import { type DbTable, readDefinitions } from '../../engine/tables.ts';
import { badRequest } from '../../errors.ts';
import type { Name } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { datasourceOf } from '../caller/datasource.ts';
import { lacks, unknownInStatement } from '../caller/lookup.ts';
import type { Session } from '../session.ts';

/** The most tables of an answer. */
const MOST = 2000;
/** The most bytes of their definitions together. An isolate has several copies of them at the same time. */
const MOST_BYTES = 8 * 1024 * 1024;

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
    const limits = { tables: MOST + 1, bytes: MOST_BYTES };
    const definitions = await readDefinitions(datasourceOf(runtime, caller, row.name), runtime.config.statementTimeoutMs, limits);
    const tooLarge = (what: string) =>
      badRequest('too_large', `the datasource has more than ${what}`, { offset: name.offset, hint: 'npm run kg -- introspect reads all of them' });
    if (definitions.length > MOST) throw tooLarge(`${MOST} tables`);
    return definitions.map((json) => {
      if (json === null) throw tooLarge(`${MOST_BYTES / 1024 / 1024} MiB of definitions of tables`);
      const t = JSON.parse(json) as DbTable;
      return { schema: t.schema, table: t.name, is_view: t.isView, comment: t.comment, definition: JSON.stringify(t) };
    });
  };
}
