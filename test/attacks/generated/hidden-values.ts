/** Tables with policies that hide half of the rows from a caller, and with columns whose values make expressions fail. */

import { costly } from './costly.ts';

/** A benign value of each column for rows that the caller sees, and values for the others. */
const COLUMNS: Readonly<Record<string, readonly [benign: (id: number) => string, others: readonly string[]]>> = {
  n: [(id) => `${20 + id}`, ['0', '3', '-1', '7', '9223372036854775807', '-9223372036854775808', 'NULL', '40000', '11']],
  d: [(id) => `${20 + id}.5`, ['0', '-1', '1e300', '3', '99999999999', 'NULL', '0.00001']],
  f: [(id) => `${20 + id}`, ['0', '-1', '1e308', "'NaN'", "'Infinity'", '3', 'NULL', '1e-308']],
  t: [(id) => `'${id}'`, ["'x'", "'('", "'\\'", '\'{"a"\'', "'5'", "''", "'%s'", "'2020-13-45'", "'$['", 'NULL', "'1e400'", "'deadbee'"]],
  day: [(id) => `'2020-01-0${id}'`, ["'5874897-12-31'", "'4713-01-01 BC'", "'infinity'", "'2020-01-01'", 'NULL', "'1999-12-31'"]],
  code: [(id) => `'${id}'`, ["'x'", "'9999999999999999999'", "'7'", "''", "'1.5'", 'NULL']],
  day_text: [(id) => `'2020-02-0${id}'`, ["'x'", "'2020-02-30'", "'2020-01-01'", "'January'", 'NULL']],
  doc: [(id) => `'{"a": ${id}}'`, ["'{'", "'[1, 2]'", '\'{"a": "x"}\'', "'7'", "'null'", 'NULL']],
  flag: [(id) => String(id > 2), ['true', 'false', 'NULL']],
  flag_text: [(id) => `'${id > 2}'`, ["'x'", "'maybe'", "'t'", "''", 'NULL']],
  uid: [(id) => `'00000000-0000-0000-0000-00000000000${id}'`, ["'ffffffff-ffff-ffff-ffff-ffffffffffff'", "'00000000-0000-0000-0000-000000000000'", 'NULL']],
  uid_text: [(id) => `'00000000-0000-0000-0000-00000000000${id}'`, ["'x'", "'00000000-0000-0000-0000-000000000001'", "''", 'NULL']],
  tm: [(id) => `'0${id}:00'`, ["'24:00'", "'00:00'", "'23:59:59.999999'", 'NULL']],
  tm_text: [(id) => `'0${id}:00'`, ["'x'", "'25:00'", "'07:00'", 'NULL']],
  at: [(id) => `'2020-03-0${id} 10:00Z'`, ["'infinity'", "'294276-12-31 23:00Z'", "'4713-01-01 BC'", 'NULL']],
  pay: [(id) => `${20 + id}.25`, ['0', '999999.99', '-999999.99', '11', 'NULL']],
  wide: [(id) => `${20 + id}`, ['0', '100', '99.96', '1e30', "'NaN'", 'NULL']],
  small: [(id) => `${20 + id}`, ['0', '32768', '-32769', '7', 'NULL']],
  code3: [(id) => `'${id}'`, ["'x'", "'('", "'5'", "''", 'NULL']],
  mood: [(id) => (id > 2 ? "'calm'" : "'sad'"), ["'glad'", "'sad'", 'NULL']],
  list: [(id) => `'{${id},2}'`, ["'{}'", "'{0}'", "'{NULL}'", "'{2147483647,1}'", 'NULL']],
  jb: [(id) => `'{"a": ${id}}'`, ["'[1]'", '\'{"a": "x"}\'', "'7'", "'null'", 'NULL']],
  bin: [(id) => `'\\x0${id}'`, ["''", "'\\xff'", "'\\x00'", 'NULL']],
  secret: [(id) => `${id}`, ['0', '-1', '3', '9223372036854775807', 'NULL', '5']],
  note: [(id) => `'${id}'`, ["'x'", "'('", "'5'", "''", "'2020-01-01'"]],
  g: [(id) => `${20 + id}.5`, ['0', "'NaN'", "'Infinity'", '3.4e38', '1e-40', '-1', 'NULL']],
};
const MASKED = ['secret', 'note'];
const VISIBLE = [1, 2, 3, 4];
const HIDDEN = [5, 6, 7, 8, 9];

/** Pseudo-random numbers, determined by the seed. */
function pick(seed: number, id: number, column: number, of: number): number {
  let x = (seed ^ (id * 0x9e3779b9) ^ (column * 0x85ebca6b)) >>> 0;
  for (let i = 0; i < 3; i++) {
    x = Math.imul(x ^ (x >>> 16), 0x45d9f3b) >>> 0;
    x = (x ^ (x >>> 15)) >>> 0;
  }
  return x % of;
}

/** One row: a hidden one has other values in all columns and refers to another row, a visible one has others in its masked columns. */
function row(seed: number, id: number): string {
  const isHidden = HIDDEN.includes(id);
  const values = Object.entries(COLUMNS).map(([name, [benign, others]], i) =>
    isHidden || MASKED.includes(name) ? others[pick(seed, id, i, others.length)] : benign(id),
  );
  return `(${[id, ...(isHidden ? ["'shut'", 2, 1 + pick(seed, id, 77, 9)] : ["'open'", 1, (id % 9) + 1]), ...values].join(', ')})`;
}

/** Inserts the same rows in the same order, with other values where the caller does not see them. */
export const filled = (seed: number): readonly string[] => [
  'TRUNCATE gen.t_item',
  `INSERT INTO gen.t_item VALUES ${[...VISIBLE, ...HIDDEN].map((id) => row(seed, id)).join(', ')}`,
];

export const TABLES = [
  'CREATE SCHEMA gen',
  "CREATE TYPE gen.mood AS ENUM ('sad', 'calm', 'glad')",
  'CREATE TABLE gen.t_box (id bigint PRIMARY KEY, name text, state text)',
  "INSERT INTO gen.t_box VALUES (1, 'left', 'open'), (2, 'right', 'shut')",
  `CREATE TABLE gen.t_item (id bigint PRIMARY KEY, state text, box bigint, next bigint, n bigint, d numeric, f float8, t text, day date, code text, day_text text,
 doc text, flag boolean, flag_text text, uid uuid, uid_text text, tm time, tm_text text, at timestamptz, pay numeric(8,2), wide numeric, small int, code3 char(3),
 mood gen.mood, list int[], jb jsonb, bin bytea, secret bigint, note text, g real)`,
  'CREATE TABLE gen.t_tag (item bigint, tag text)',
  `INSERT INTO gen.t_tag VALUES ${[...VISIBLE, ...HIDDEN].map((id) => `(${id}, 't${id % 3}')`).join(', ')}`,
];

/** The columns of an item in the views, except its key. */
const SHOWN =
  'n, d, f, t, day, code, day_text, doc, flag, flag_text, uid, uid_text, tm, tm_text, at, pay, wide, small, code3, mood, list, jb, bin, secret, note, g';
const IS_OPEN = costly("state = 'open'", (n) => `state = 'ajar ${n}'`);
const IS_FIRST = costly('id < 5', (n) => `id < ${-n}`);
const IS_LAST = costly('id >= 5', (n) => `id = ${-n}`);
const ITEMS = `MAPPING m_item INTO (item) AS SELECT id, state, box AS box_id, next AS next_id, ${SHOWN} FROM gen.t_item`;

/** The concept `item`: the properties that its mapping has columns for, and further declarations. */
export const ITEM = {
  properties: `box_id bigint, next_id bigint, n bigint, d decimal, f double, t string, day date, code bigint, day_text date, doc json,
 flag boolean, flag_text boolean, uid uuid, uid_text uuid, tm time, tm_text time, at timestamp, pay decimal(8,2), wide decimal(3,1), small smallint, code3 string, mood string, list string, jb json,
 bin string, secret bigint, note string, g double`,
  elements: [
    'inverse decimal',
    'ratio decimal',
    'next_n bigint',
    'next_note string',
    'behind decimal',
    'followers bigint',
    'reached bigint',
    'chased decimal',
    'tags string',
    'box_state string',
    'box_content decimal',
    'lowest bigint',
    'far date',
    'visible boolean',
    'inverted MEASURE decimal',
    'share MEASURE double',
    'CONSTRAINT lies_in FOREIGN KEY (box_id) REFERENCES box (box_id) INVERSEOF has_item',
    'CONSTRAINT next FOREIGN KEY (next_id) REFERENCES item (id) INVERSEOF before TRANSITIVE(3)',
    'CONSTRAINT tag MULTIVALUE string',
  ],
};
export const VIEWS = ['items', 'casts', 'sums', 'open_boxes'];

/** `code`, `day_text` and others are texts in the table and other types in the model: the mapping casts them. */
export const MODEL = `CREATE PROPERTY inverse decimal AS SELECT 100 / (n - 11);
CREATE PROPERTY ratio decimal AS SELECT n / (small - 7);
CREATE PROPERTY next_n bigint AS SELECT "next[item].n";
CREATE PROPERTY next_note string AS SELECT "next[item].note" || "lies_in[box].box_name";
CREATE PROPERTY behind decimal AS SELECT SUM(10 / ("before[item].n" - 7));
CREATE PROPERTY followers bigint AS SELECT COUNT("before[item].next[item].id");
CREATE PROPERTY reached bigint AS SELECT COUNT("next[item*3].n");
CREATE PROPERTY chased decimal AS SELECT SUM(10 / ("before[item*3].n" - 7));
CREATE PROPERTY tags string AS SELECT string_agg("next[item].tag", ',' ORDER BY "next[item].tag");
CREATE PROPERTY box_state string AS SELECT "lies_in[box].state";
CREATE PROPERTY content decimal AS SELECT SUM(10 / ("has_item[item].n" - 7));
CREATE PROPERTY largest bigint AS SELECT MAX("has_item[item].code");
CREATE PROPERTY last_text string AS SELECT MAX("has_item[item].t");
CREATE PROPERTY box_content decimal AS SELECT "lies_in[box].content";
CREATE PROPERTY lowest bigint AS SELECT MIN("lies_in[box].has_item[item].id");
CREATE PROPERTY far date AS SELECT day + 1;
CREATE PROPERTY visible boolean AS SELECT ${IS_FIRST} AND ${IS_OPEN};
CREATE MEASURE inverted decimal AS SELECT sum(10 / (n - 7));
CREATE MEASURE grade bigint AS SELECT MAX(10 / n);
CREATE MEASURE share double AS SELECT COUNT(secret) / (COUNT(n) - 3);
CREATE CONCEPT box (box_id bigint, box_name string, state string, content decimal, largest bigint, last_text string, PRIMARY KEY (box_id), LABEL (last_text));
CREATE CONCEPT entry (id bigint, state string, PRIMARY KEY (id), LABEL (state));
CREATE CONCEPT item (${[ITEM.properties, ...ITEM.elements].join(', ')}) INHERITS (entry);
CREATE CONCEPT big INHERITS (item) FROM dsvc.item WHERE n > 2;
CREATE CONCEPT odd INHERITS (item) FROM dsvc.item WHERE 12 / (n - 3) > -100;
CREATE CONCEPT shut INHERITS (item) FROM dsvc.item WHERE ${IS_LAST};
CREATE CONCEPT large (grade MEASURE bigint) INHERITS (big);
CREATE CONCEPT huge INHERITS (large) FROM dsvc.large WHERE n > 21;
CREATE CONCEPT locked INHERITS (shut);
CREATE MAPPING m_box INTO (box) AS SELECT id AS box_id, name AS box_name, state FROM gen.t_box;
CREATE ${ITEMS};
CREATE MAPPING m_tag INTO (item) MULTIVALUE tag AS SELECT item AS id, tag FROM gen.t_tag;
CREATE VIEW items AS SELECT id, ${SHOWN} FROM svc.item;
CREATE VIEW casts AS SELECT id, t::bigint AS n, 1 / d AS d, 1 / f AS f, t, day + 1 AS day, ${SHOWN.slice(SHOWN.indexOf('code,'))} FROM svc.item;
CREATE VIEW sums AS SELECT i.state, sum(10 / i.n) AS n, max(i.t::bigint) AS code FROM svc.item i GROUP BY i.state;
CREATE VIEW open_boxes AS SELECT box_id FROM svc.box WHERE state = 'open'`;

const MASKS = ['CREATE POLICY veil ON PROPERTY secret MASK NULL', 'CREATE POLICY cover ON PROPERTY note MASK FULL'];
const rows = (condition: string, concept = 'item'): string => `CREATE POLICY few ON CONCEPT ${concept} TO PUBLIC USING (${condition})`;
/** Masks of calculated properties show no more of masked values, nor of hidden rows at the ends of paths. */
const CALCULATED = ["CREATE POLICY ends ON PROPERTY next_note MASK PARTIAL(1, 'x', 1)", "CREATE POLICY first ON PROPERTY tags MASK PARTIAL(1, 'x', 1)"];
const EMPTY = "CREATE POLICY none ON PROPERTY note MASK WITH ('')";

/** The policies that hide `HIDDEN`, and the masked columns. */
export const POLICIES: readonly (readonly [string, readonly string[]])[] = [
  ['a comparison', [rows(IS_FIRST), ...MASKS]],
  ['a path', [rows(`"lies_in[box].state" = 'open'`), ...MASKS]],
  ['a sub-query', [rows("box_id IN (SELECT b.box_id FROM svc.box b WHERE b.state = 'open')"), ...MASKS]],
  ['a policy of an ancestor', [rows(IS_OPEN, 'entry'), MASKS[0] as string, EMPTY]],
  ['the condition of a mapping', [`CREATE OR REPLACE ${ITEMS} WHERE ${IS_OPEN}`, ...MASKS]],
  ['the condition of a mapping over a sub-query', [`CREATE OR REPLACE ${ITEMS} WHERE box IN (SELECT b.id FROM gen.t_box b WHERE b.state = 'open')`, ...MASKS]],
  ['a view', [rows('box_id IN (SELECT v.box_id FROM vsvc.open_boxes v)'), ...MASKS]],
  [
    'two policies, a claim and a role',
    [rows("svc_claim('level') IS NULL AND id < 7"), `CREATE POLICY more ON CONCEPT entry TO PUBLIC USING (${IS_OPEN} OR svc_has_role('boss'))`, ...MASKS],
  ],
  ['a calculated property', [rows('visible'), ...MASKS]],
  [
    'a calculated property over a path',
    [rows("box_state = 'open'"), 'CREATE POLICY veil ON PROPERTY secret MASK WITH (length(box_state))', ...MASKS.slice(1), ...CALCULATED],
  ],
  ['an aggregate over a path', [rows('lowest < 5'), ...MASKS]],
  ['a policy of a logic concept', ['CREATE POLICY few ON CONCEPT shut TO USER nobody USING (true)', ...MASKS]],
  ['a policy of an unmapped concept below it', ['CREATE POLICY few ON CONCEPT locked TO USER nobody USING (true)', ...MASKS]],
  ['a path to many rows', [rows(`"lies_in[box].has_item[item].id" = 1`), ...MASKS, ...CALCULATED]],
];
