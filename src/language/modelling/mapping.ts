/** CREATE MAPPING, all three kinds (docs/design/statements-and-versions.md#mappings-and-tables), after its keyword. */
import { translated } from '../dialects.ts';
import type { CreateMapping, LinkConstraint, Name } from '../statements.ts';
import { clauses, direction, name, names, query } from './clauses.ts';
import type { Cursor } from './cursor.ts';

/**
 * `m INTO [(] c [)] [MULTIVALUE p] [USING d] [WITHOUT PARSING] AS select`, or
 * `m (CONSTRAINT r ..., CONSTRAINT r2 ...) [USING d] [WITHOUT PARSING] AS select`.
 */
export function createMapping(c: Cursor, replace: boolean): CreateMapping {
  const mapping = name(c, 'the name of the mapping');
  let datasource: Name | null = null;
  let property: Name | null = null;
  const options = {
    USING: () => {
      datasource = name(c, 'the name of a datasource');
    },
    'WITHOUT PARSING': () => undefined,
  };
  const target = into(c);
  if (target.kind === 'link') {
    clauses(c, options);
    return { kind: 'create_mapping', source: c.source, replace, name: mapping, target, datasource, sql: translated(query(c)) };
  }
  clauses(c, {
    MULTIVALUE: () => {
      property = name(c, 'the name of a multi-value property');
    },
    ...options,
  });
  const { concept } = target;
  return {
    kind: 'create_mapping',
    source: c.source,
    replace,
    name: mapping,
    target: property === null ? { kind: 'concept', concept } : { kind: 'multi', concept, property },
    datasource,
    sql: translated(query(c)),
  };
}

function into(c: Cursor): { kind: 'into'; concept: Name } | { kind: 'link'; constraints: readonly [LinkConstraint, LinkConstraint] } {
  if (c.acceptMark('(')) {
    const first = link(c);
    c.expectMark(',');
    const second = link(c);
    c.acceptMark(',');
    c.expectMark(')');
    return { kind: 'link', constraints: [first, second] };
  }
  c.expect('INTO');
  const bracket = c.acceptMark('(');
  const concept = name(c, 'the name of a concept');
  if (bracket) {
    c.acceptMark(',');
    c.expectMark(')');
  }
  return { kind: 'into', concept };
}

/** `CONSTRAINT r FOREIGN KEY (col, ...) REFERENCES c (p, ...)` */
function link(c: Cursor): LinkConstraint {
  c.expect('CONSTRAINT');
  const relationship = direction(c);
  c.expect('FOREIGN', 'KEY');
  const columns = c.list(() => c.identifier('a column of the select'));
  c.expect('REFERENCES');
  const concept = name(c, 'the name of a concept');
  return { relationship, columns, concept, references: names(c, 'the name of a property of that concept') };
}
