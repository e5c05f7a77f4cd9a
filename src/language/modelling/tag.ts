/** ALTER CONCEPT|PROPERTY|VIEW (docs/design/statements-and-versions.md#modelling-statements), after that keyword. */
import type { AlterTag } from '../statements.ts';
import { name, text } from './clauses.ts';
import type { Cursor } from './cursor.ts';

/** `x UPDATE TAG k = 'v'`, `x REMOVE TAG k` */
export function alterTag(c: Cursor, object: AlterTag['object']): AlterTag {
  const tagged = name(c, `the name of the ${object}`);
  const action = c.accept('UPDATE') ? 'update' : c.accept('REMOVE') ? 'remove' : undefined;
  if (action === undefined) throw c.unexpected();
  c.expect('TAG');
  const key = c.identifier('the name of a tag');
  const value = action === 'update' ? text(c, 'the value in single quotes').text : null;
  c.end();
  return { kind: 'alter_tag', source: c.source, object, name: tagged, action, key, value };
}
