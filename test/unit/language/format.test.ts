/** Formatting scripts: the meaning stays, and a formatted script does not change. */
import { describe, expect, it } from 'vitest';
import { parseStatement } from '../../../src/language/classify.ts';
import { formatScript } from '../../../src/language/format.ts';
import { splitScript } from '../../../src/language/split.ts';

const withoutPlaces = (text: string): string =>
  JSON.stringify(
    splitScript(text).map((s) => parseStatement(s)),
    (key, value: unknown) => {
      if (key === 'offset' || key === 'source') return undefined;
      return key === 'text' && typeof value === 'string' ? value.replace(/\s+/g, ' ').toLowerCase() : value;
    },
  );

const SCRIPT = `-- what; it is
create   concept item(k bigint,name string /* its name */ ,n integer,primary key(k),label(name),
  label string, key bigint, "constraint" string,
  constraint up foreign key(n)references item(k)inverseof down transitive(3) description 'it''s -- no comment') inherits(thing) with tags(a='b', c='d');create mapping map_item into item as select k,label as name,n
  from m.t_item   where a=1; -- behind


-- before the view
CREATE OR REPLACE ontology view v description='d' as select "a"  from dsvc.item; grant query on all ontology.x to user y;
create property if not exists p decimal(10,2) as select n/2;
create concept special from svc.item where n>10`;

describe('formatScript', () => {
  it('puts elements and clauses on lines, and keeps comments, names and SQL', () => {
    expect(formatScript(SCRIPT)).toBe(`-- what; it is
CREATE CONCEPT item (
  k bigint,
  name string /* its name */,
  n integer,
  PRIMARY KEY (k),
  LABEL (name),
  label string,
  key bigint,
  "constraint" string,
  CONSTRAINT up FOREIGN KEY (n) REFERENCES item (k) INVERSEOF down TRANSITIVE(3) DESCRIPTION 'it''s -- no comment'
)
  INHERITS (thing)
  WITH TAGS (a = 'b', c = 'd');
CREATE MAPPING map_item
  INTO item
  AS select k,label as name,n
  from m.t_item   where a=1; -- behind

-- before the view
CREATE OR REPLACE ONTOLOGY VIEW v
  DESCRIPTION = 'd'
  AS select "a"  from dsvc.item;
grant query on all ontology.x to user y;
CREATE PROPERTY IF NOT EXISTS p decimal(10, 2)
  AS select n/2;
CREATE CONCEPT special
  FROM svc.item where n>10
`);
  });

  it('changes nothing the second time, and not the meaning', () => {
    const once = formatScript(SCRIPT);
    expect(formatScript(once)).toBe(once);
    expect(withoutPlaces(once)).toBe(withoutPlaces(SCRIPT));
  });

  it.each([
    '',
    '-- only a comment',
    'CREATE CONCEPT c -- no list\n(a bigint -- one\n, b string)',
    'CREATE CONCEPT constraint (constraint string, primary bigint)',
    'SELECT 1 ;;',
  ])('%j', (text) => {
    const once = formatScript(text);
    expect(formatScript(once)).toBe(once);
    expect(withoutPlaces(once)).toBe(withoutPlaces(text));
  });
});
