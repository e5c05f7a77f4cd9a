/** CREATE PROPERTY, MEASURE and VIEW (docs/design/statements-and-versions.md#modelling-statements), each after its keyword. */
import { translated } from '../dialects.ts';
import type { CreateMeasure, CreateProperty, CreateView, Name, SqlText, TagList } from '../statements.ts';
import { clauses, name, pairs, query, text, type } from './clauses.ts';
import type { Cursor } from './cursor.ts';

interface Described {
  description: string | null;
  tags: TagList;
}

const describing = (c: Cursor, into: Described): Record<string, () => void> => ({
  DESCRIPTION: () => {
    into.description = text(c, 'the description in single quotes').text;
  },
  'WITH TAGS': () => {
    into.tags = pairs(c, 'the name of a tag');
  },
});

/** `p [MULTIVALUE] type [DESCRIPTION [=] 't'] [WITH TAGS (...)] [AS SELECT expr]` */
export function createProperty(c: Cursor, replace: boolean): CreateProperty {
  const property = name(c, 'the name of the property');
  const multi = c.accept('MULTIVALUE');
  const propertyType = type(c);
  const described: Described = { description: null, tags: [] };
  clauses(c, describing(c, described));
  let expression: SqlText | null = null;
  if (c.accept('AS')) {
    c.expect('SELECT');
    expression = translated(c.rest('an expression'));
  }
  c.end();
  return { kind: 'create_property', source: c.source, replace, name: property, multi, type: propertyType, ...described, expression };
}

/** `m type [DESCRIPTION [=] 't'] [WITH TAGS (...)] AS SELECT aggregate [WHERE cond]` */
export function createMeasure(c: Cursor, replace: boolean): CreateMeasure {
  const measure = name(c, 'the name of the measure');
  const measureType = type(c);
  const described: Described = { description: null, tags: [] };
  clauses(c, describing(c, described));
  c.expect('AS', 'SELECT');
  const expression = translated(c.until('an aggregate expression', (token) => token.kind === 'word' && token.value.toUpperCase() === 'WHERE'));
  const filter = c.accept('WHERE') ? translated(c.rest('a condition')) : null;
  c.end();
  return { kind: 'create_measure', source: c.source, replace, name: measure, type: measureType, ...described, expression, filter };
}

/** `v [USING d] [DESCRIPTION [=] 't'] [WITH TAGS (...)] AS select` */
export function createView(c: Cursor, replace: boolean, cube: boolean): CreateView {
  const view = name(c, `the name of the ${cube ? 'cube' : 'view'}`);
  const described: Described = { description: null, tags: [] };
  let datasource: Name | null = null;
  clauses(c, {
    USING: () => {
      datasource = name(c, 'the name of a datasource');
    },
    ...describing(c, described),
  });
  return { kind: 'create_view', source: c.source, replace, name: view, cube, datasource, ...described, sql: query(c) };
}
