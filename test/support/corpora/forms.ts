/** Forms of mappings, views, calls and requests that the other corpora do not have. */
import { parseFilters } from '../../../src/language/filters.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import type { Concept } from '../../../src/ontology/graph.ts';
import { filterConcept } from '../../../src/planner/filter/index.ts';
import type { SystemTable } from '../../../src/planner/index.ts';
import { type Corpus, contextOf, each, plansOf, type Question } from './index.ts';
import { accessOf, Modelled } from './model.ts';

const TABLES = [
  'CREATE SCHEMA forms',
  'CREATE TABLE forms.t_item (id bigint PRIMARY KEY, label text, tags text[], doc jsonb, at timestamptz, up bigint, price numeric(10,2), lexemes tsvector)',
  'CREATE TABLE forms."T Odd" (id bigint, "Some Name" text, "from" text, label text)',
  'CREATE TABLE public.plain (id bigint, label text)',
  "CREATE FUNCTION forms.twice(n bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT n * 2'",
  "CREATE FUNCTION forms.pairs(n bigint, OUT a bigint, OUT b text) RETURNS SETOF record LANGUAGE sql IMMUTABLE AS 'SELECT n, n::text'",
];

const MODEL = `
CREATE CONCEPT item (id bigint, label string, price decimal(10,2), up bigint, at timestamptz, PRIMARY KEY (id), LABEL (label),
  CONSTRAINT above FOREIGN KEY (up) REFERENCES item (id) INVERSEOF below TRANSITIVE(3),
  CONSTRAINT tag MULTIVALUE string);
CREATE CONCEPT odd (odd_id bigint, odd_label string, PRIMARY KEY (odd_id));
CREATE CONCEPT \`group\` (group_id bigint, n bigint, PRIMARY KEY (group_id));
CREATE CONCEPT row_ (row_id bigint, v string, PRIMARY KEY (row_id));
CREATE CONCEPT all_ (all_id bigint, label string, PRIMARY KEY (all_id));
CREATE CONCEPT rank (rank_id bigint, place bigint, PRIMARY KEY (rank_id));
CREATE CONCEPT chain (chain_id bigint, depth bigint, PRIMARY KEY (chain_id));
CREATE CONCEPT member (member_id bigint, key_ string, value_ string, PRIMARY KEY (member_id));
CREATE MAPPING m_item INTO item AS SELECT i.id, upper(i.label) AS label, i.price, i.up, i.at AT TIME ZONE 'UTC' AS at FROM forms.t_item AS i WHERE i.id > 0 AND coalesce(i.label, '') <> 'x';
CREATE MAPPING m_tag INTO item MULTIVALUE tag AS SELECT i.id, t AS tag FROM forms.t_item i, unnest(i.tags) AS t;
CREATE MAPPING m_odd INTO odd AS SELECT o.id AS odd_id, o."Some Name" || o."from" AS odd_label FROM forms."T Odd" o;
CREATE MAPPING m_odd2 INTO odd AS SELECT plain.id AS odd_id, public.plain.label AS odd_label FROM plain;
CREATE MAPPING m_group INTO \`group\` AS SELECT up AS group_id, count(*) AS n FROM forms.t_item GROUP BY up HAVING count(*) > 0;
CREATE MAPPING m_row INTO row_ AS SELECT row_id, v FROM (VALUES (1, 'a'), (2, 'b')) AS x (row_id, v);
CREATE MAPPING m_all INTO all_ AS SELECT DISTINCT id AS all_id, label FROM (SELECT * FROM forms.t_item JOIN plain USING (id, label)) AS both_ UNION SELECT p.id, p.label FROM plain p NATURAL JOIN forms."T Odd" o;
CREATE MAPPING m_rank INTO rank AS SELECT id AS rank_id, rank() OVER (PARTITION BY up ORDER BY price DESC) AS place FROM forms.t_item;
CREATE MAPPING m_chain INTO chain AS WITH RECURSIVE walk (id, depth) AS (SELECT id, 1 FROM forms.t_item WHERE up IS NULL UNION ALL
  SELECT t.id, w.depth + 1 FROM walk w JOIN forms.t_item t ON t.up = w.id) SELECT id AS chain_id, depth FROM walk;
CREATE MAPPING m_member INTO member AS SELECT i.id AS member_id, e.key AS key_, e.value AS value_ FROM forms.t_item i CROSS JOIN LATERAL jsonb_each_text(i.doc) AS e;
CREATE VIEW raw_items USING main AS SELECT t.*, o."Some Name" FROM forms.t_item t LEFT JOIN forms."T Odd" o ON o.id = t.id;
CREATE VIEW raw_words USING main AS WITH w AS (SELECT id, string_to_table(label, ' ') AS word FROM forms.t_item) SELECT word, count(*), max(id) FROM w GROUP BY word;
CREATE VIEW raw_docs USING main AS SELECT id, doc ->> 'a' AS a, (doc)['b'] AS b, tags[1] AS first_tag, doc @> '{}' AS has FROM forms.t_item ORDER BY id;
CREATE VIEW items AS SELECT label, "above[item].label", id FROM dsvc.item WHERE price > 1;
CREATE POLICY p ON CONCEPT item TO PUBLIC USING (svc_has_role(label) OR label = svc_claim('dept') OR svc_username() = 'x' OR svc_claim(label) = 'y' OR "above[item].price" / 2 > 1);
CREATE POLICY m ON PROPERTY price MASK WITH (price / 100);
CREATE POLICY n ON PROPERTY label MASK HASH`;

const FUNCTIONS = new Set(['forms.twice', 'forms.pairs']);

const TEXTS = [
  ...['item', 'odd', '`group`', 'row_', 'all_', 'rank', 'chain', 'member'].map((c) => `SELECT * FROM svc.${c}`),
  ...['raw_items', 'raw_words', 'raw_docs', 'items'].map((v) => `SELECT * FROM vsvc.${v}`),
  'SELECT entity_id, label, "below[item*].label", "below[item*]_transitivity_level", tag FROM dsvc.item ORDER BY entity_id LIMIT 3',
  'SELECT tag, count(*) AS n FROM dsvc.item GROUP BY tag HAVING count(*) > 0 ORDER BY n DESC',
  'SELECT forms.twice(id) AS a FROM svc.item',
  'SELECT n AS a FROM forms.twice(2) AS x (n)',
  'SELECT x.a FROM forms.pairs(2) AS x (a)',
  'SELECT * FROM svc.SYS_THINGS',
  'SELECT s.name, i.label FROM SYS_THINGS s JOIN svc.item i ON i.id = s.n',
  "SELECT svc_username() AS a, svc_has_role('staff') AS b, svc_claim('dept') AS c, svc_claim(label) AS d, svc_has_role(label) AS e FROM svc.item",
  'SELECT "a_name_that_is_longer_than_sixty-three_bytes_and_that_postgresql_would_therefore_cut" AS b FROM (SELECT id AS "a_name_that_is_longer_than_sixty-three_bytes_and_that_postgresql_would_therefore_cut" FROM svc.item) x',
  'SELECT id AS "x y", label AS "ä", price AS ":funcid 4711" FROM svc.item AS "(b c)"',
  'SELECT i.*, o.* FROM svc.item i JOIN svc.odd o ON o.odd_id = i.id',
  'SELECT count(i) AS n, count(DISTINCT i.*) AS m, array_agg(i) IS NULL AS z FROM svc.item i',
  'SELECT to_jsonb(i) AS a, row_to_json(i.*) AS b, ROW(i.*) IS NULL AS c, i IS NULL AS d FROM svc.item i',
  'SELECT a.label FROM svc.item a WHERE a = (SELECT b FROM svc.item b LIMIT 1)',
  "SELECT JSON_OBJECT('a' : label, 'b' : id ABSENT ON NULL WITH UNIQUE KEYS RETURNING jsonb) AS a, JSON_ARRAY(id, label NULL ON NULL) AS b, JSON_ARRAYAGG(id ORDER BY id) AS c, JSON_OBJECTAGG(id : label) AS d FROM svc.item GROUP BY label, id",
  'SELECT label IS JSON AS a, label IS JSON OBJECT WITH UNIQUE KEYS AS b FROM svc.item',
  'SELECT label FROM svc.item WHERE (id, label) IN (SELECT odd_id, odd_label FROM svc.odd) OR (id, label) = (SELECT 1, label) OR ROW(id, label) < ROW(2, label)',
  'SELECT x.ordinality, x.a FROM unnest(ARRAY[1, 2]) WITH ORDINALITY AS x (a)',
  'SELECT * FROM ROWS FROM (generate_series(1, 2), jsonb_each(\'{"a": 1}\'), json_to_record(\'{"q": 1}\') AS (q int)) WITH ORDINALITY AS r',
  "SELECT lexeme FROM unnest('a:1 b:2'::tsvector) AS u (lexeme, positions, weights)",
  'SELECT g FROM generate_series(1, 3) g ORDER BY g DESC',
  "SELECT e.value FROM jsonb_array_elements('[1]') e",
  "SELECT e FROM jsonb_array_elements('[1]') e",
  'SELECT d FROM current_date AS d',
  'SELECT c FROM CAST(1 AS int) AS c',
  "SELECT id FROM svc.item WHERE at > CURRENT_TIMESTAMP - INTERVAL '1' DAY AND LOCALTIME(0) IS NOT NULL AND EXTRACT(epoch FROM at) > 0 AND (at, at) OVERLAPS (at, INTERVAL '1 day')",
  "SELECT label FROM svc.item WHERE label LIKE ANY (ARRAY['a%']) OR label SIMILAR TO 'a' ESCAPE '!' OR label !~* 'x' OR label IS NFC NORMALIZED OR label BETWEEN SYMMETRIC 'a' AND 'b' COLLATE \"de-x-icu\"",
];

const THINGS: SystemTable = {
  name: 'SYS_THINGS',
  columns: [
    { name: 'name', type: 'text' },
    { name: 'n', type: 'bigint' },
    { name: 'made', type: 'timestamptz' },
  ],
  json: '[{"name":"a","n":1,"made":null}]',
  longestRow: 31,
};

const FILTERS = [
  '_subj_=label&_op_=eq&_comp_=A',
  '_subj_=label&_op_=like&_comp_=[a-c]%25',
  '_subj_=id&_op_=in&_comp_=1,2,3&_conj_=OR&_subj1_=price&_op1_=gt&_comp1_=1.5',
  '_subj_=above[item].label&_op_=not_null&_order_=-id&_limit_=5&_offset_=1',
  '_subj_=tag&_op_=eq&_comp_=x',
  '_subj_=entity_id&_op_=eq&_comp_=item:1&_select_=label,above[item].*',
];

export function forms(parser: SqlParser): Corpus {
  const model = new Modelled(parser, 'forms');
  model.apply(MODEL);
  const caller = { username: 'ann', roles: ['staff', 'eu'], claims: { dept: 'x', b: 'y' } };
  const open = contextOf(model.graph, parser, {
    caller,
    allowedFunctions: FUNCTIONS,
    systemTable: (name) => (name === THINGS.name ? THINGS : undefined),
    systemTables: [THINGS.name],
  });
  const bound = { ...open, access: accessOf(model.policies, caller) };
  const questions = function* (): Generator<Question> {
    yield* each([open, bound], TEXTS);
    for (const search of FILTERS) {
      const { text, bound: values } = filterConcept(open, model.graph.concept('item') as Concept, parseFilters(search));
      for (const context of [open, bound]) yield { text, context, options: { bound: values, limit: 10 } };
    }
  };
  return { name: 'forms', tables: TABLES, planned: (every) => plansOf('forms', questions(), every) };
}
