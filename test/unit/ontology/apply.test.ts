import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteBack, quoteLiteral } from '../../../src/language/quote.ts';
import { EMPTY_MODEL, type Model } from '../../../src/ontology/model.ts';
import { generated } from '../../support/generated.ts';
import { faultOf, run } from './script.ts';

const ITEM = `CREATE CONCEPT item (k bigint, name string, n integer, PRIMARY KEY (k), LABEL (name));
CREATE MAPPING map_item INTO (item) AS SELECT k, label AS name, n FROM t.item;`;
const item = run(ITEM).model;
const names = (values: readonly { readonly name: string }[]): string[] => values.map((v) => v.name);

describe('properties and measures', () => {
  it('keep type, flags, description, tags and expression', () => {
    const { model } = run(`CREATE PROPERTY many MULTIVALUE INT DESCRIPTION 'it''s' WITH TAGS (a = 'b', c = 'd');
      CREATE PROPERTY up string AS SELECT upper(name) ; CREATE PROPERTY name string;
      CREATE MEASURE total decimal(10, 2) DESCRIPTION = 't' AS SELECT sum(n) WHERE n > 1; CREATE PROPERTY n int`);
    expect(model.properties).toEqual([
      { name: 'many', type: 'integer', multi: true, description: "it's", tags: { a: 'b', c: 'd' }, expression: null },
      { name: 'up', type: 'string', multi: false, description: null, tags: {}, expression: 'upper(name)' },
      { name: 'name', type: 'string', multi: false, description: null, tags: {}, expression: null },
      { name: 'n', type: 'integer', multi: false, description: null, tags: {}, expression: null },
    ]);
    expect(model.measures).toEqual([{ name: 'total', type: 'decimal(10,2)', description: 't', tags: {}, expression: 'sum(n)', filter: 'n > 1' }]);
  });

  it('a concept that lists an unknown property creates it; a known one is unchanged', () => {
    const { model } = run("CREATE PROPERTY Name string DESCRIPTION 'kept'; CREATE CONCEPT c (k bigint, NAME string)");
    expect(model.properties).toMatchObject([{ name: 'Name', description: 'kept' }, { name: 'k' }]);
    expect(model.concepts[0]?.properties).toEqual(['k', 'Name']);
  });

  it('OR REPLACE keeps the position and the spelling', () => {
    const { model } = run('CREATE PROPERTY a string; CREATE PROPERTY b string; CREATE OR REPLACE PROPERTY A bigint');
    expect(model.properties).toMatchObject([{ name: 'a', type: 'bigint' }, { name: 'b' }]);
  });
});

describe('concepts', () => {
  it('keep all their elements, in the declared spelling', () => {
    const { model } = run(`
      CREATE OR REPLACE CONCEPT child (x integer, CONSTRAINT tag MULTIVALUE string, total MEASURE bigint,
        CONSTRAINT of FOREIGN KEY (X) REFERENCES BASE (K) INVERSEOF has TRANSITIVE(3) DESCRIPTION 'd',
        CONSTRAINT met MULTIREFERENCE Child TRANSITIVE) INHERITS (Thing, BASE, base) DESCRIPTION 'a child' WITH TAGS (t = 'v');
      CREATE CONCEPT base (k integer, PRIMARY KEY (K), LABEL (K)); CREATE MEASURE Total bigint AS SELECT sum(x);
      CREATE CONCEPT some INHERITS (CHILD) FROM SVC.Child WHERE x > 1 -- more than one
      ;`);
    expect(names(model.concepts)).toEqual(['child', 'base', 'some']);
    expect(model.concepts[0]).toEqual({
      name: 'child',
      parents: ['base'],
      properties: ['x'],
      multi: ['tag'],
      measures: ['Total'],
      primaryKey: [],
      label: [],
      relationships: [
        { name: 'of', kind: 'fk', target: 'base', source: ['x'], references: ['k'], inverse: 'has', transitive: 3, description: 'd' },
        { name: 'met', kind: 'mtm', target: 'child', source: [], references: [], inverse: null, transitive: 'default', description: null },
      ],
      description: 'a child',
      tags: { t: 'v' },
      logic: null,
    });
    expect(model.concepts[2]).toMatchObject({ parents: ['child'], logic: { schema: 'svc', concept: 'child', condition: expect.stringMatching(/^x > 1/) } });
  });

  it('OR REPLACE keeps position, spelling and mapping', () => {
    const { model } = run('CREATE OR REPLACE CONCEPT Item (k bigint, name string, PRIMARY KEY (k)); CREATE CONCEPT z', item);
    expect(names(model.concepts)).toEqual(['item', 'z']);
    expect(model.mappings).toEqual(item.mappings);
  });

  it('the product’s schema is stored by its neutral name', () => {
    const product = run(
      `${ITEM} CREATE CONCEPT big INHERITS (item) FROM acme.item WHERE acme_has_role('acme.item') AND n > 1; CREATE VIEW v AS SELECT "vACME".w.n FROM "vACME".w; CREATE VIEW w AS SELECT n /* acme.item */ FROM dacme.item`,
      EMPTY_MODEL,
      'acme',
    );
    expect(product.model.concepts[1]?.logic).toEqual({ schema: 'svc', concept: 'item', condition: "svc_has_role('acme.item') AND n > 1" });
    expect(product.model.views.map((v) => v.sql)).toEqual(['SELECT vsvc.w.n FROM vsvc.w', 'SELECT n /* acme.item */ FROM dsvc.item']);
  });
});

describe('mappings and views', () => {
  it('keep kind, datasource, text and columns', () => {
    const { model } = run(
      `CREATE OR REPLACE CONCEPT item (k bigint, name string, n integer, PRIMARY KEY (k), CONSTRAINT tag MULTIVALUE string, CONSTRAINT near MULTIREFERENCE item);
      CREATE MAPPING mt INTO ITEM MULTIVALUE TAG USING Archive AS SELECT k, tag FROM t.tag;
      CREATE MAPPING ml (CONSTRAINT \`~near\` FOREIGN KEY (a) REFERENCES item (k), CONSTRAINT near FOREIGN KEY (b) REFERENCES item (K)) AS SELECT a, b, w FROM t.link;`,
      item,
    );
    expect(model.mappings[1]).toEqual({
      name: 'mt',
      kind: 'multi',
      concept: 'item',
      property: 'tag',
      link: null,
      datasource: 'archive',
      sql: 'SELECT k, tag FROM t.tag',
      columns: [{ name: 'k' }, { name: 'tag' }],
    });
    expect(model.mappings[2]).toMatchObject({
      kind: 'link',
      concept: null,
      datasource: 'main',
      link: {
        forward: { relationship: 'near', columns: ['b'], concept: 'item', references: ['k'] },
        back: { relationship: '~near', columns: ['a'], concept: 'item', references: ['k'] },
      },
    });
  });

  it('views may read views that come later', () => {
    const { model } = run("CREATE VIEW a AS SELECT n FROM vsvc.b; CREATE ONTOLOGY VIEW b DESCRIPTION 'd' WITH TAGS (x = 'y') AS SELECT n FROM svc.item", item);
    expect(model.views).toMatchObject([
      { name: 'a', cube: false, datasource: null },
      { name: 'b', description: 'd', tags: { x: 'y' }, columns: [{ name: 'n' }] },
    ]);
  });

  it('a SELECT whose columns are not in its text is accepted', () => {
    expect(run('CREATE CONCEPT c (k bigint); CREATE MAPPING m INTO c AS SELECT * FROM t.x').model.mappings[0]?.columns).toEqual([]);
  });
});

describe('tags and settings', () => {
  it('tags are added, changed and removed', () => {
    const { model } = run(
      "ALTER CONCEPT Item UPDATE TAG a = '1'; ALTER CONCEPT item UPDATE TAG b = '2'; ALTER CONCEPT item UPDATE TAG A = '3'; ALTER PROPERTY n UPDATE TAG f = 'x'; ALTER CONCEPT item REMOVE TAG B",
      item,
    );
    expect(model.concepts[0]?.tags).toEqual({ a: '3' });
    expect(model.properties.find((p) => p.name === 'n')?.tags).toEqual({ f: 'x' });
  });

  it('description and config', () => {
    const { model } = run("ALTER ONTOLOGY zoo SET DESCRIPTION = 'd'; ALTER ONTOLOGY zoo SET default_transitivity = '07'; ALTER ONTOLOGY zoo SET QUOTE = '\"'");
    expect(model).toMatchObject({ description: 'd', config: { default_transitivity: '7', quote: '"' } });
    expect(run("ALTER ONTOLOGY zoo SET allowed_functions = 'a.b'").model).toEqual(EMPTY_MODEL);
  });
});

describe('a label over a path', () => {
  const concept = (label: string): string =>
    `CREATE OR REPLACE CONCEPT c (k bigint, u bigint, p string, PRIMARY KEY (k), LABEL (${label}), CONSTRAINT r FOREIGN KEY (u) REFERENCES c (k))`;
  const { model } = run(`CREATE PROPERTY p string AS SELECT "r[c].entity_label"; ${concept('u')}`);

  it('is refused if its property reads the label', () =>
    expect(faultOf(concept('p').replace(/^(.*CONCEPT )c/, '$1«c»'), model)).toBe('circular_expression: circular definition: `p` reads `p`'));

  it('is accepted if its property reads only the key', () =>
    expect(faultOf(concept('p'), run(`CREATE PROPERTY p string AS SELECT "r[c].entity_id"; ${concept('u')}`).model)).toBe('no error'));

  it('is accepted if the path leads to another concept', () => {
    const other = 'CREATE CONCEPT d (dk bigint, x bigint, q string, PRIMARY KEY (dk), LABEL (q), CONSTRAINT of FOREIGN KEY (x) REFERENCES c (k))';
    expect(faultOf(`CREATE PROPERTY q string AS SELECT "of[c].entity_label" || "of[c].p"; ${other}`, model)).toBe('no error');
  });
});

describe('refused, with the position', () => {
  it.each([
    // names
    ['CREATE CONCEPT «ITEM» (x bigint)', 'exists: the concept `item` already exists'],
    ['CREATE MAPPING «Map_Item» INTO item AS SELECT k FROM t', 'exists: the mapping `map_item` already exists'],
    ['CREATE PROPERTY «Name» string', 'exists: the property `name` already exists'],
    ['CREATE MEASURE «n» bigint AS SELECT sum(k)', 'exists: the property `n` already exists'],
    ['CREATE MEASURE s bigint AS SELECT sum(k); CREATE PROPERTY «S» string', 'exists: the measure `S` already exists'],
    ['CREATE VIEW v AS SELECT k FROM svc.item; CREATE ONTOLOGY CUBE «V» AS SELECT k FROM svc.item', 'exists: the view `v` already exists'],
    ['CREATE PROPERTY «entity_ID» string', 'reserved_name: `entity_ID` cannot be the name of a property: every concept has a column of that name'],
    ['CREATE CONCEPT c («entity_type» string)', 'reserved_name: `entity_type` cannot be the name of a property: every concept has a column of that name'],
    ['CREATE OR REPLACE CONCEPT «Thing» (x bigint)', 'reserved_name: `thing` is the built-in root of all concepts and cannot be replaced'],
    ['CREATE MAPPING m INTO «THING» AS SELECT k FROM t', 'reserved_name: `thing` is the built-in root of all concepts and cannot be mapped'],
    ['DROP CONCEPT «thing»', 'reserved_name: `thing` is the built-in root of all concepts and cannot be dropped'],
    ["ALTER CONCEPT «thing» UPDATE TAG a = 'b'", 'reserved_name: `thing` is the built-in root of all concepts and cannot be tagged'],
    // types
    ['CREATE CONCEPT c (x bigint, y «strng»)', 'unknown_type: unknown type `strng`; did you mean `string`?'],
    ['CREATE CONCEPT c (name «date»)', 'type_mismatch: the property `name` is of type string in this ontology, not date'],
    ['CREATE CONCEPT c (CONSTRAINT «name» MULTIVALUE string)', 'type_mismatch: the property `name` is single-valued in this ontology'],
    [
      'CREATE MEASURE s bigint AS SELECT sum(k); CREATE CONCEPT c (s MEASURE «integer»)',
      'type_mismatch: the measure `s` is of type bigint in this ontology, not integer',
    ],
    ['CREATE OR REPLACE PROPERTY «name» MULTIVALUE string', 'in_use: the concept `item` uses `name` as a single-valued property'],
    ['CREATE CONCEPT c (x string, «X» string)', 'exists: the concept `c` lists `X` twice'],
    // inheritance and keys
    ['CREATE CONCEPT c INHERITS (item, «itme»)', 'unknown_concept: unknown concept `itme`, named as a parent of `c`; did you mean `item`?'],
    ['CREATE CONCEPT «c» INHERITS (c)', 'circular_inheritance: circular inheritance: `c` inherits `c`'],
    [
      'CREATE CONCEPT a INHERITS (item); CREATE OR REPLACE CONCEPT «item» (k bigint, name string, n integer) INHERITS (a)',
      'circular_inheritance: circular inheritance: `item` inherits `a` inherits `item`',
    ],
    ['CREATE CONCEPT c (x bigint, PRIMARY KEY (x, «y»))', 'unknown_property: unknown property `y` of concept `c` in its PRIMARY KEY; did you mean `x`?'],
    ['CREATE CONCEPT c (x bigint, LABEL («nothing»))', 'unknown_property: unknown property `nothing` of concept `c` in its LABEL'],
    ['CREATE CONCEPT c (x bigint, PRIMARY KEY (x, «X»))', 'bad_key: PRIMARY KEY names `X` twice'],
    [
      'CREATE CONCEPT c (x bigint, «PRIMARY KEY (x)») INHERITS (item)',
      'key_redeclared: the concept `c` inherits the key of `item` and cannot declare another one',
    ],
    [
      'CREATE CONCEPT a (x bigint, PRIMARY KEY (x)); CREATE CONCEPT «c» INHERITS (a, item)',
      'key_redeclared: the concept `c` inherits the keys of `a` and `item`; a concept can have only one key',
    ],
    [
      'CREATE CONCEPT a (k bigint, PRIMARY KEY (k)); CREATE CONCEPT «c» INHERITS (a, item)',
      'key_redeclared: the concept `c` inherits the keys of `a` and `item`; a concept can have only one key',
    ],
    [
      'CREATE PROPERTY calc string AS SELECT name; CREATE CONCEPT c (name string, calc string, PRIMARY KEY («calc»))',
      'bad_key: the key of `c` contains the calculated property `calc`',
    ],
    // relationships
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT r FOREIGN KEY (x) REFERENCES «itm» (k))',
      'unknown_concept: unknown concept `itm`, target of the relationship `r` of `c`; did you mean `item`?',
    ],
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT r FOREIGN KEY («k») REFERENCES item (k))',
      'unknown_property: unknown property `k` of concept `c`, used by its relationship `r`; did you mean `x`?',
    ],
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT r FOREIGN KEY (x) REFERENCES item («x»))',
      'unknown_property: unknown property `x` of concept `item`, referenced by the relationship `r` of `c`; did you mean `k`?',
    ],
    ['CREATE CONCEPT c (x bigint, CONSTRAINT r MULTIREFERENCE «thing»)', 'bad_relationship: `thing` has no properties that a link could reference'],
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT r FOREIGN KEY (x) REFERENCES thing («y»))',
      'unknown_property: unknown property `y` of concept `thing`, referenced by the relationship `r` of `c`',
    ],
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT «r» FOREIGN KEY (x) REFERENCES thing (k) TRANSITIVE)',
      'bad_transitivity: the relationship `r` of `c` cannot be transitive: rows of `thing` have no `r`, so a walk would end after one step',
    ],
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT «r» FOREIGN KEY (x) REFERENCES item (k, name))',
      'bad_relationship: the relationship `r` has 1 properties for 2 of `item`',
    ],
    ['CREATE CONCEPT c (x bigint, CONSTRAINT r MULTIREFERENCE item, CONSTRAINT «R» MULTIREFERENCE item)', 'exists: the concept `c` has two relationships `R`'],
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT «r» MULTIREFERENCE item TRANSITIVE)',
      'bad_transitivity: the relationship `r` of `c` cannot be transitive: rows of `item` have no `r`, so a walk would end after one step',
    ],
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT «r» MULTIREFERENCE d TRANSITIVE); CREATE CONCEPT d (x bigint) INHERITS (c)',
      'no_key: the relationship `r` of `c` cannot be transitive: a walk down to `d` needs a PRIMARY KEY of `c`',
    ],
    [
      'CREATE CONCEPT c (x bigint, PRIMARY KEY (x), CONSTRAINT «r» MULTIREFERENCE item SYMMETRIC)',
      'bad_symmetry: the relationship `r` of `c` cannot be SYMMETRIC, because it leads to `item`',
    ],
    [
      'CREATE CONCEPT c (x bigint, PRIMARY KEY (x), CONSTRAINT «r» MULTIREFERENCE c SYMMETRIC INVERSEOF s)',
      'bad_symmetry: the relationship `r` of `c` is SYMMETRIC and cannot have the inverse `s`',
    ],
    [
      'CREATE CONCEPT c (x bigint, PRIMARY KEY (x), CONSTRAINT «r» MULTIREFERENCE c SYMMETRIC, CONSTRAINT s MULTIREFERENCE c INVERSEOF r)',
      'bad_symmetry: the relationship `r` of `c` is SYMMETRIC and cannot have the inverse `s`',
    ],
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT «r» MULTIREFERENCE c SYMMETRIC)',
      'no_key: the relationship `r` of `c` needs a PRIMARY KEY of `c`, since SYMMETRIC and INCLUDES count each pair of rows once',
    ],
    [
      'CREATE CONCEPT c (x bigint, PRIMARY KEY (x), CONSTRAINT r MULTIREFERENCE item INCLUDES («rs»), CONSTRAINT s MULTIREFERENCE item)',
      'unknown_relationship: unknown relationship `rs` of `c` or a concept below it, included by `r`; did you mean `r`?',
    ],
    [
      'CREATE CONCEPT c (x bigint, PRIMARY KEY (x), CONSTRAINT r MULTIREFERENCE item INCLUDES («s»), CONSTRAINT s MULTIREFERENCE c)',
      'bad_includes: the relationship `r` of `c` cannot include `s`, which leads to `c`, not to `item`',
    ],
    [
      'CREATE CONCEPT c (x bigint, PRIMARY KEY (x), CONSTRAINT r MULTIREFERENCE c INCLUDES (s, «S»), CONSTRAINT s MULTIREFERENCE c)',
      'bad_includes: the relationship `r` includes `S` twice',
    ],
    [
      'CREATE CONCEPT c (x bigint, PRIMARY KEY (x), CONSTRAINT «r» MULTIREFERENCE c INCLUDES (s), CONSTRAINT s MULTIREFERENCE c INCLUDES (r))',
      'circular_includes: circular relationships: `r` includes `s` includes `r`',
    ],
    [
      'CREATE CONCEPT c (x bigint, PRIMARY KEY (x), CONSTRAINT «r» MULTIREFERENCE c INCLUDES (`~r`))',
      'circular_includes: circular relationships: `r` includes `r`',
    ],
    ['CREATE CONCEPT c (CONSTRAINT r MULTIREFERENCE c INVERSEOF «R»)', 'exists: the relationship `r` and its inverse need two names'],
    [
      'CREATE CONCEPT c (CONSTRAINT a MULTIREFERENCE item INVERSEOF z, CONSTRAINT b MULTIREFERENCE item INVERSEOF «z»)',
      'exists: `z`, the inverse of `b` of `c`, is also the inverse of `a`',
    ],
    [
      'CREATE CONCEPT a (x bigint, CONSTRAINT r MULTIREFERENCE b INVERSEOF «s»); CREATE CONCEPT b (y bigint, CONSTRAINT s MULTIREFERENCE item)',
      'exists: `s`, the inverse of `r` of `a`, is another relationship of `b`',
    ],
    // logic
    ['CREATE CONCEPT c INHERITS (item) FROM svc.«itm» WHERE n > 1', 'unknown_concept: unknown concept `itm`, the source of `c`; did you mean `item`?'],
    ['CREATE CONCEPT c INHERITS (item) FROM svc.item WHERE n > 1 AND «nn» = 2', 'unknown_property: unknown property `nn` of concept `item`; did you mean `n`?'],
    ['CREATE CONCEPT a (x bigint); CREATE CONCEPT c INHERITS (item) FROM svc.«a» WHERE x > 1', 'logic_source: the concept `c` cannot be based on `a`'],
    [
      'CREATE CONCEPT c INHERITS (item) FROM «vsvc».item WHERE n > 1',
      'unknown_schema: the source of a logic concept must be in svc, esvc or dsvc, not in `vsvc`',
    ],
    [
      'CREATE CONCEPT a INHERITS (item) FROM svc.«b» WHERE n > 1; CREATE CONCEPT b INHERITS (item) FROM svc.a WHERE n > 1',
      'circular_logic: circular definition: `a` is defined on `b` is defined on `a`',
    ],
    // an unmapped concept has rows of the logic concepts above it
    [
      'CREATE CONCEPT a INHERITS (item) FROM svc.«b» WHERE n > 1; CREATE CONCEPT b INHERITS (item) FROM svc.c WHERE n > 1; CREATE CONCEPT c INHERITS (a)',
      'circular_logic: circular definition: `a` is defined on `b` is defined on `c` is defined on `a`',
    ],
    [
      'CREATE CONCEPT a INHERITS (item) FROM svc.«e» WHERE n > 1; CREATE CONCEPT b INHERITS (item) FROM svc.c WHERE n > 1; CREATE CONCEPT c INHERITS (a); CREATE CONCEPT d INHERITS (b); CREATE CONCEPT e INHERITS (d)',
      'circular_logic: circular definition: `a` is defined on `e` is defined on `b` is defined on `c` is defined on `a`',
    ],
    // expressions
    ['CREATE PROPERTY p string AS SELECT name || «nmae»', 'unknown_property: unknown property `nmae`, used by the property `p`; did you mean `name`?'],
    ['CREATE MEASURE p bigint AS SELECT sum(«m»)', 'unknown_property: unknown property `m`, used by the measure `p`; did you mean `k`?'],
    ['CREATE PROPERTY «p» string AS SELECT p || 1', 'circular_expression: circular definition: `p` reads `p`'],
    ['CREATE MEASURE «m» bigint AS SELECT m + 1', 'circular_expression: circular definition: `m` reads `m`'],
    // a label is read along a path too
    [
      'CREATE PROPERTY «p» string AS SELECT max("s[c*2].entity_label"); CREATE CONCEPT c (k bigint, u bigint, p string, PRIMARY KEY (k), LABEL (p), CONSTRAINT r FOREIGN KEY (u) REFERENCES c (k) INVERSEOF s)',
      'circular_expression: circular definition: `p` reads `p`',
    ],
    [
      'CREATE PROPERTY p string AS SELECT n + 1; CREATE CONCEPT c (x bigint, «p» string)',
      'unknown_property: unknown property `n` of concept `c`, used by its calculated property `p`; did you mean `x`?',
    ],
    ['CREATE PROPERTY p string AS SELECT «n, k»', 'syntax_error: expected a single expression'],
    ['CREATE PROPERTY p string AS SELECT «n FROM svc.item»', 'syntax_error: expected a single expression'],
    ['CREATE PROPERTY p string AS SELECT «upper(name) AS x»', 'syntax_error: an alias (x) is not allowed after the expression'],
    ['CREATE PROPERTY p string AS SELECT upper(name«)»)', 'syntax_error: syntax error at or near ")" (elsewhere: 46)'],
    // mappings
    ['CREATE MAPPING m INTO «itm» AS SELECT k FROM t', 'unknown_concept: unknown concept `itm`; did you mean `item`?'],
    [
      'CREATE MAPPING «m» INTO item AS SELECT a AS b FROM t',
      'bad_mapping: the mapping `m` provides none of the properties of concept `item`; its columns are `b`',
    ],
    ['CREATE MAPPING m INTO item AS «SELECT k, a AS K FROM t»', 'bad_mapping'],
    ['CREATE MAPPING m INTO item USING «mian» AS SELECT k FROM t', 'unknown_datasource: unknown datasource `mian`; did you mean `main`?'],
    [
      'CREATE CONCEPT c INHERITS (item) FROM svc.item WHERE n > 1; CREATE MAPPING m INTO «c» AS SELECT k FROM t',
      'bad_mapping: the concept `c` is defined by a condition and cannot be mapped',
    ],
    [
      'CREATE MAPPING m INTO item MULTIVALUE «tag» AS SELECT k, tag FROM t',
      'unknown_property: unknown property `tag` among the multi-value properties of concept `item`',
    ],
    [
      'CREATE CONCEPT c (k bigint, PRIMARY KEY (k), CONSTRAINT tag MULTIVALUE string); CREATE MAPPING m INTO c MULTIVALUE «tag» AS SELECT tag FROM t',
      'bad_mapping: the mapping `m` does not provide `k`',
    ],
    [
      'CREATE CONCEPT c (CONSTRAINT tag MULTIVALUE string); CREATE MAPPING m INTO c MULTIVALUE «tag» AS SELECT tag FROM t',
      'bad_mapping: the concept `c` has no PRIMARY KEY to assign values of `tag` to its rows',
    ],
    [
      'CREATE MAPPING m (CONSTRAINT «r» FOREIGN KEY (b) REFERENCES item (k), CONSTRAINT s FOREIGN KEY (a) REFERENCES item (k)) AS SELECT a, b FROM t',
      'unknown_relationship: unknown relationship `r`',
    ],
    [
      'CREATE CONCEPT c (k bigint, CONSTRAINT r MULTIREFERENCE item); CREATE MAPPING m (CONSTRAINT r FOREIGN KEY (b) REFERENCES item (k), CONSTRAINT «s» FOREIGN KEY (a) REFERENCES c (k)) AS SELECT a, b FROM t',
      'unknown_relationship: unknown relationship `s`; did you mean `r`?',
    ],
    [
      'CREATE CONCEPT c (k bigint, CONSTRAINT r MULTIREFERENCE item); CREATE MAPPING m (CONSTRAINT «r» FOREIGN KEY (b) REFERENCES c (k), CONSTRAINT `~r` FOREIGN KEY (a) REFERENCES item (k)) AS SELECT a, b FROM t',
      'bad_mapping: `r` to `c` and `~r` back to `item` are not the two directions of one relationship',
    ],
    [
      'CREATE CONCEPT c (k bigint, CONSTRAINT r MULTIREFERENCE item); CREATE MAPPING m (CONSTRAINT r FOREIGN KEY (b) REFERENCES item (k), CONSTRAINT `~r` FOREIGN KEY («c») REFERENCES c (k)) AS SELECT a, b FROM t',
      'bad_mapping: the mapping `m` does not provide the column `c`; its columns are `a`, `b`',
    ],
    [
      'CREATE CONCEPT c (k bigint, CONSTRAINT r MULTIREFERENCE item); CREATE MAPPING m (CONSTRAINT r FOREIGN KEY (b) REFERENCES item («z»), CONSTRAINT `~r` FOREIGN KEY (a) REFERENCES c (k)) AS SELECT a, b FROM t',
      'unknown_property: unknown property `z` of concept `item`; did you mean `k`?',
    ],
    [
      'CREATE CONCEPT c (x bigint, CONSTRAINT r FOREIGN KEY (x) REFERENCES item (k)); CREATE MAPPING m (CONSTRAINT «r» FOREIGN KEY (b) REFERENCES item (k), CONSTRAINT `~r` FOREIGN KEY (a) REFERENCES c (x)) AS SELECT a, b FROM t',
      'bad_mapping: the relationship `r` is defined by its foreign key and cannot have a mapping',
    ],
    ['CREATE MAPPING m INTO item AS «WITH d AS (DELETE FROM t RETURNING k) SELECT k FROM d»', 'not_select: data-modifying statements are not allowed here'],
    ['CREATE MAPPING m INTO item AS «SELECT k FROM t FOR UPDATE»', 'not_select: INTO and locking clauses are not allowed here'],
    ['CREATE MAPPING m INTO item AS «SELECT k INTO x FROM t»', 'not_select: INTO and locking clauses are not allowed here'],
    // views
    ['CREATE VIEW v AS SELECT k FROM «svc.itm»', 'unknown_concept: unknown concept `itm`; did you mean `item`?'],
    ['CREATE VIEW v AS SELECT k FROM svc.item; CREATE VIEW w AS SELECT k FROM «vsvc.vv»', 'unknown_view: unknown view `vv`; did you mean `v`?'],
    ['CREATE VIEW v AS SELECT k FROM «v»', 'circular_view: circular views: `v` reads `v` (elsewhere: 12)'],
    [
      'CREATE VIEW «v» AS SELECT k FROM (SELECT * FROM vsvc.w) x; CREATE VIEW w AS SELECT k FROM vsvc.V',
      'circular_view: circular views: `v` reads `w` reads `v`',
    ],
    ['CREATE ONTOLOGY CUBE v AS SELECT name, «"measure.nothing"» AS x FROM dsvc.item', 'unknown_measure: unknown measure `nothing`'],
    ['CREATE VIEW v AS SELECT SUM(«"measure.near[item].nothing"») AS x FROM dsvc.item', 'unknown_measure: unknown measure `nothing`'],
    ['CREATE VIEW v USING main AS SELECT rolname FROM «pg_catalog.pg_roles»', 'forbidden_relation: schema `pg_catalog` cannot be read'],
    [
      'CREATE MAPPING m INTO item AS SELECT k FROM t JOIN (SELECT 1 FROM «"kg_catalog".users») x ON true',
      'forbidden_relation: schema `kg_catalog` cannot be read',
    ],
    // tags and settings
    ['ALTER CONCEPT item REMOVE TAG «a»', 'unknown_tag: unknown tag `a` of concept `item`'],
    ["ALTER VIEW «v» UPDATE TAG a = 'b'", 'unknown_view: unknown view `v`'],
    ["ALTER ONTOLOGY zoo SET «colour» = 'x'", 'unknown_config: unknown setting `colour`'],
    ["ALTER ONTOLOGY zoo SET «default_transitivity» = '33'", 'bad_config: default_transitivity must be a whole number from 1 to 32'],
    ["ALTER ONTOLOGY zoo SET «quote» = 'x'", 'bad_config: quote must be either a back-quote or a double quote'],
  ])('%s', (script, fault) => {
    const found = faultOf(script, item);
    if (fault.includes(':')) expect(found).toBe(fault);
    else expect(found).not.toBe('no error');
  });

  it('an error of an older object has the position of the statement that caused it', () => {
    const { model } = run(
      'CREATE CONCEPT c (x bigint, CONSTRAINT r FOREIGN KEY (x) REFERENCES item (n)); CREATE CONCEPT sub (LABEL (n)) INHERITS (item)',
      item,
    );
    expect(faultOf('CREATE OR REPLACE CONCEPT «item» (k bigint, name string, PRIMARY KEY (k))', model)).toMatch(
      /^unknown_property: unknown property `n` of concept `(item|sub)`[^(]*$/,
    );
  });
});

describe('the SQL that the planner must check', () => {
  it('the SQL of the script, with its offset, without what it dropped again', () => {
    const script =
      'CREATE PROPERTY loud string AS SELECT  upper(name) ; CREATE VIEW gone AS SELECT 1 AS a; CREATE VIEW w AS SELECT n FROM svc.item; CREATE MEASURE s bigint AS SELECT sum(n); DROP VIEW gone; CREATE OR REPLACE MAPPING map_item INTO item AS /* all */ SELECT k FROM t;';
    const { pieces, affected } = run(script, item);
    expect(pieces.map((p) => [p.kind, p.name, script.slice(p.offset, p.offset + 9)])).toEqual([
      ['property', 'loud', 'upper(nam'],
      ['view', 'w', 'SELECT n '],
      ['measure', 's', 'sum(n); D'],
      ['mapping', 'map_item', expect.stringMatching(/^(SELECT k |\/\* all)/)],
    ]);
    expect(affected).toEqual([]);
  });

  it('older SQL that reads a label or a relationship which the script changes', () => {
    const self = (more: string, label = ''): string =>
      `CREATE OR REPLACE CONCEPT item (k bigint, name string, n integer, PRIMARY KEY (k)${label}, CONSTRAINT up FOREIGN KEY (n) REFERENCES item (k)${more})`;
    const { model: older } = run(
      `${self(', CONSTRAINT any FOREIGN KEY (n) REFERENCES item (k) INCLUDES (up)')}; CREATE PROPERTY far integer AS SELECT MAX("any[item].n");
       CREATE CONCEPT named INHERITS (item) FROM svc.item WHERE entity_label = 'x'; CREATE VIEW v AS SELECT "any[item].n" AS m FROM dsvc.item`,
      item,
    );
    const affectedBy = (script: string): string[] => run(script, older).affected.map((p) => `${p.kind} ${p.name} ${p.offset}`);
    const any = ', CONSTRAINT any FOREIGN KEY (n) REFERENCES item (k) INCLUDES (up)';
    expect(affectedBy(self(`${any}, CONSTRAINT more FOREIGN KEY (n) REFERENCES item (k)`))).toEqual([]);
    expect(affectedBy(self(any, ', LABEL (n)'))).toEqual(['logic named 0']);
    expect(affectedBy(self(`${any} TRANSITIVE`))).toEqual(['property far 0']);
    expect(affectedBy(self(any).replace('REFERENCES item (k),', 'REFERENCES item (k) TRANSITIVE,'))).toEqual(['property far 0']);
    expect(affectedBy('CREATE CONCEPT more INHERITS (item)')).toEqual([]);
  });
});

describe('DROP', () => {
  const { model } = run(
    `
    CREATE MEASURE total bigint AS SELECT sum(n); CREATE MEASURE twice bigint AS SELECT total * 2; CREATE PROPERTY spare string; CREATE PROPERTY loud string AS SELECT upper(spare);
    CREATE OR REPLACE CONCEPT item (k bigint, name string, n integer, total MEASURE bigint, PRIMARY KEY (k), CONSTRAINT near MULTIREFERENCE item);
    CREATE CONCEPT sub INHERITS (item); CREATE CONCEPT some INHERITS (item) FROM dsvc.item WHERE "near[sub].n" = 1 OR _type_of_sub;
    CREATE VIEW v AS SELECT k FROM (SELECT * FROM svc.item) x; CREATE VIEW w AS WITH z AS (SELECT * FROM v) SELECT k FROM z; CREATE VIEW p AS SELECT "near[sub*2].n" AS n FROM dsvc.item;
    CREATE ONTOLOGY CUBE c AS SELECT name, \`measure.total\` AS total FROM dsvc.item;
    CREATE MAPPING ml (CONSTRAINT near FOREIGN KEY (b) REFERENCES item (k), CONSTRAINT \`~near\` FOREIGN KEY (a) REFERENCES item (k)) AS SELECT a, b FROM t`,
    item,
  );

  it.each([
    ['DROP CONCEPT «item»', 'the concept `item` is used by concept `sub`, concept `some`, mapping `map_item`, mapping `ml`, view `v` and 2 more'],
    ['DROP CONCEPT «SUB»', 'the concept `SUB` is used by concept `some`, view `p`'],
    ['DROP PROPERTY «n»', 'the property `n` is used by concept `item`, measure `total`'],
    ['DROP PROPERTY «k»', 'the property `k` is used by concept `item`, mapping `ml`'],
    ['DROP PROPERTY «spare»', 'the property `spare` is used by property `loud`'],
    ['DROP MEASURE «total»', 'the measure `total` is used by concept `item`, measure `twice`'],
    ['DROP VIEW «v»', 'the view `v` is used by view `w`'],
    ['DROP VIEW w; DROP VIEW v; DROP CONCEPT «sub»', 'the concept `sub` is used by concept `some`, view `p`'],
  ])('%s: in use', (script, message) => {
    expect(faultOf(script, model)).toBe(`in_use: ${message}`);
  });

  it.each(['concept', 'property', 'measure', 'mapping', 'view', 'cube'])('of an unknown %s', (kind) => {
    expect(faultOf(`DROP ${kind} «no_such_thing»`, model)).toBe(`unknown_${kind}: unknown ${kind} \`no_such_thing\``);
  });

  it('DROP CUBE drops only cubes, DROP VIEW both', () => {
    expect(faultOf('DROP CUBE «w»', model)).toMatch(/^unknown_cube: unknown cube `w`/);
    expect(names(run('DROP VIEW c', model).model.views)).not.toContain('c');
  });

  it('in order: users first', () => {
    const left = run(
      'DROP MAPPING ml; DROP MAPPING map_item; DROP CUBE c; DROP VIEW p; DROP VIEW w; DROP VIEW v; DROP CONCEPT some; DROP CONCEPT sub; DROP CONCEPT item; DROP PROPERTY loud; DROP PROPERTY spare; DROP MEASURE twice; DROP MEASURE total',
      model,
    ).model;
    expect([left.concepts, left.mappings, left.views, left.measures, names(left.properties)]).toEqual([[], [], [], [], ['k', 'name', 'n']]);
  });
});

describe('for all scripts', () => {
  const word = fc.stringMatching(/^[a-z`"' ;-]{1,12}$/).filter((n) => !/^\s|\s$/.test(n));
  const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((t) => !t.includes('\0'));

  it('creating and dropping an object restores the model', () => {
    fc.assert(
      fc.property(fc.uniqueArray(word, { minLength: 4, maxLength: 4, selector: (n) => n.toLowerCase() }), text, fc.boolean(), (given, description, cube) => {
        const [p, c, m, v] = given.map((n) => quoteBack(`new ${n}`)) as [string, string, string, string];
        const create = `CREATE PROPERTY ${p} string DESCRIPTION ${quoteLiteral(description)}; CREATE CONCEPT ${c} (${p} string) INHERITS (item); CREATE MAPPING ${m} INTO ${c} AS SELECT k, 'x' AS ${p} FROM t; CREATE ONTOLOGY ${cube ? 'CUBE' : 'VIEW'} ${v} AS SELECT k FROM svc.${c}`;
        const made = run(create, item).model;
        expect(made.properties.at(-1)?.description).toBe(description);
        expect(made).not.toEqual(item);
        const drop = `DROP VIEW ${v}; DROP MAPPING ${m}; DROP CONCEPT ${c}; DROP PROPERTY ${p}`;
        expect(run(drop, made).model).toEqual(item);
        expect(run(`${create}; ${drop}`, item).model).toEqual(item);
        expect(faultOf(`DROP CONCEPT ${c}`, made)).toMatch(/^in_use: .*mapping .*(view|cube) /);
      }),
      generated(60),
    );
  });

  it('one script or many: the same model; OR REPLACE of the same is the same', () => {
    const parts = [
      ...ITEM.split('\n'),
      'CREATE CONCEPT sub (extra date) INHERITS (item);',
      'CREATE PROPERTY up string AS SELECT upper(name);',
      'CREATE VIEW v AS SELECT k FROM svc.sub;',
      "ALTER CONCEPT sub UPDATE TAG a = 'b';",
    ];
    const whole = run(parts.join('\n')).model;
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: parts.length - 1 }), { maxLength: 4 }), (cuts) => {
        const at = [...new Set([0, ...cuts, parts.length])].sort((a, b) => a - b);
        let model: Model = EMPTY_MODEL;
        for (const [i, from] of at.slice(0, -1).entries()) model = run(parts.slice(from, at[i + 1]).join('\n'), model).model;
        expect(model).toEqual(whole);
      }),
      generated(30),
    );
    const again = parts.slice(0, -1).join('\n').replaceAll('CREATE ', 'CREATE OR REPLACE ');
    expect(run(`${again} ALTER CONCEPT sub UPDATE TAG a = 'b'`, whole).model).toEqual(whole);
  });

  it('a model of 2,000 concepts and 20,000 properties is created in one script', () => {
    const script = Array.from(
      { length: 2000 },
      (_, i) =>
        `CREATE CONCEPT c${i} (${Array.from({ length: 10 }, (_, j) => `p${i}_${j} string`).join(', ')})${i < 10 ? '' : ` INHERITS (c${Math.floor(i / 10)})`};`,
    ).join('\n');
    const { model, graph } = run(script);
    expect([model.concepts.length, model.properties.length, graph.concept('c1999')?.properties.length]).toEqual([2000, 20_000, 40]);
  });
});
