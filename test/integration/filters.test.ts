/**
 * URL filters through the whole service: generated filters return the rows of their executed_query sent through `query`, and of the
 * same condition over the tables; no text of a request changes the structure of a statement.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { likePattern } from '../../src/language/filters-like.ts';
import { typedValue } from '../../src/language/filters-values.ts';
import { quoteLiteral } from '../../src/language/quote.ts';
import { typeNamed } from '../../src/planner/filter/subject.ts';
import { checkUntil } from '../support/checked.ts';
import { patience, SEED } from '../support/generated.ts';
import { type Answer, startService, type TestService } from '../support/service.ts';
import { oneIn, sizesOf } from '../support/sizes.ts';
import { MODEL, TABLES } from '../unit/planner/corpus/model.ts';
import { PAYLOADS } from './filters-payloads.ts';

const SIZES = sizesOf('integration/filters');

const MORE_TABLES = [
  `CREATE TABLE shop.t_all (id bigint PRIMARY KEY, s text, i integer, n numeric(12,2), d double precision, b boolean, day date, at timestamp, ats timestamptz,
     clock time, u uuid, j json, up bigint)`,
  `INSERT INTO shop.t_all VALUES
     (1, 'Ann', 5, 10.50, 0.1, true, '2020-02-29', '2020-02-29 10:00', '2020-02-29 10:00+00', '10:00', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": 1}', NULL),
     (2, 'it''s, "so"', -5, 0, 'NaN', false, '1999-12-31', '1999-12-31 23:59:59.5', '1999-12-31 23:59:59.5-05', '23:59:59.5', NULL, '[1, "x"]', 1),
     (3, 'back\\slash', 0, 9999999999.99, 'Infinity', NULL, 'infinity', 'infinity', '-infinity', '00:00', 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', NULL, 1),
     (4, E'two\\nlines %_[x]', 2147483647, -0.01, -1e300, true, '0044-03-15 BC', '2024-01-01', NULL, NULL, NULL, '"a"', 2),
     (5, '', NULL, NULL, NULL, false, NULL, NULL, '2024-06-01 12:00+02', '12:30', NULL, 'null', 3),
     (6, NULL, 5, 10.5, 1e-5, NULL, '2020-02-29', '2020-02-29 10:00', '2020-02-29 12:00+02', '10:00', NULL, NULL, 9)`,
  'CREATE TABLE shop.t_word (id bigint, w text)',
  "INSERT INTO shop.t_word VALUES (1, 'red'), (1, 'blue'), (2, 'a,b'), (4, '''; --')",
];
const MORE_MODEL = `
CREATE CONCEPT anything (id bigint, s string, i integer, n decimal(12,2), d double, b boolean, day date, at timestamp, ats timestamptz, clock time, u uuid, j json, up bigint,
  PRIMARY KEY (id), LABEL (s), CONSTRAINT word MULTIVALUE string, CONSTRAINT above FOREIGN KEY (up) REFERENCES anything (id) INVERSEOF below);
CREATE MAPPING map_all INTO anything AS SELECT id, s, i, n, d, b, day, at, ats, clock, u, j, up FROM shop.t_all;
CREATE MAPPING map_word INTO anything MULTIVALUE word AS SELECT id, w AS word FROM shop.t_word;
CREATE VIEW plain AS SELECT id, s, i, n, d, b, day, at, ats, clock, u, \`above[anything].s\`, clock - clock AS took FROM dsvc.anything;
CREATE MEASURE total decimal AS SELECT SUM(n);
CREATE CONCEPT anything_m (total MEASURE decimal) INHERITS (anything);
CREATE MAPPING map_m INTO anything_m AS SELECT id + 100 AS id, s, i, n, b, day FROM shop.t_all;
CREATE ONTOLOGY CUBE sums AS SELECT s, b, \`measure.total\` AS total, COUNT(DISTINCT day) AS days FROM dsvc.anything_m;
`;

const parser = await loadNodeParser();
let service: TestService;
beforeAll(async () => {
  service = await startService();
  for (const sql of [...TABLES, ...MORE_TABLES]) await service.database.exec(sql);
  await service.rows(`CREATE ONTOLOGY shop; ${MODEL} ${MORE_MODEL}`);
});
afterAll(() => service.close());

type Pairs = readonly (readonly [string, string])[];
const search = (pairs: Pairs): string => pairs.map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}`).join('&');
const of = (kind: 'concept' | 'view', name: string, pairs: Pairs): Promise<Answer> => service.get(`q/shop/${kind}/${name}?${search(pairs)}`);
const group = (n: number | '', subj: string, op: string, comp?: string, conj?: string): Pairs => [
  [`_subj${n}_`, subj],
  [`_op${n}_`, op],
  ...(comp === undefined ? [] : [[`_comp${n}_`, comp] as const]),
  ...(conj === undefined ? [] : [[`_conj${n}_`, conj] as const]),
];
const rowsOf = ({ json, text, status }: Answer): string[] => {
  if (status !== 200) throw new Error(text);
  return json.data.map((r: unknown) => JSON.stringify(r));
};

/** Subjects with values that rows have, and near misses. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  s: ['Ann', 'it\'s, "so"', 'back\\slash', 'two\nlines %_[x]', '', "' OR 1=1 --", 'Zoe'],
  i: ['5', '-5', '0', '2147483647', '7'],
  n: ['10.50', '10.5', '9999999999.99', '-0.01', '-.01', '1e1', '10.504', 'NaN'],
  d: ['0.1', 'NaN', 'Infinity', '-1e300', '1e-5', '0.1000000000000000055511151231257827'],
  b: ['true', 'false', '1', 'no'],
  day: ['2020-02-29', '1999-12-31', 'infinity', '0044-03-15 BC', '2021-01-01'],
  at: ['2020-02-29T10:00:00', '1999-12-31 23:59:59.5', '2024-01-01', 'infinity', '2020-02-29T10:00:00Z'],
  ats: ['2020-02-29T10:00:00Z', '2020-02-29T12:00:00+02:00', '-infinity', '2024-06-01'],
  clock: ['10:00', '23:59:59.5', '12:30:00'],
  u: ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'B0EEBC999C0B4EF8BB6D6BB9BD380A11'],
  'above[anything].s': ['Ann', 'it\'s, "so"', 'Zoe'],
};
const OWN: typeof VALUES = {
  ...VALUES,
  id: ['1', '2', '6'],
  entity_id: ['anything:1', 'anything:02', 'anything:6', 'anything:101', 'anything:x', "anything:' --"],
  entity_type: ['anything', 'anything_m', 'other'],
  entity_label: ['Ann', '3'],
  j: ['{"a": 1}', '[1,"x"]', 'null', '"a"'],
  word: ['red', 'a,b', "'; --", 'green'],
  above: ['anything:1', 'anything:2', 'anything:9'],
  'above[anything].day': ['2020-02-29', '1999-12-31'],
  'below[anything].i': ['5', '0', '2147483647'],
  'below[anything].above[anything].s': ['Ann'],
  'above[anything].word': ['red', 'a,b'],
};
const CUBE: typeof VALUES = { s: VALUES.s as string[], b: ['true', 'false'], total: ['10.5', '0', '9999999999.99'], days: ['0', '1'] };
const TEXTS = new Set([
  's',
  'entity_id',
  'entity_type',
  'entity_label',
  'word',
  'above',
  'above[anything].s',
  'above[anything].word',
  'below[anything].above[anything].s',
]);
const PATTERNS = ['%', 'A%', '%s%', '_nn', '[A-Z]%', '[^A]%', '%[\\,"]%', '%\n%', '%50[%]', 'anything:[1-3]', '%\\slash', '[i]t%'];

/** Filters on subjects, with further parameters; ordered by the key if rows are limited. */
function filters(subjects: typeof VALUES, columns: readonly string[], key: string | undefined, conjunctions: readonly string[]): fc.Arbitrary<Pairs> {
  const one = fc.constantFrom(...Object.keys(subjects)).chain((subject) => {
    const values = subjects[subject] as readonly string[];
    const value = fc.constantFrom(...values);
    const list = fc.array(value, { minLength: 1, maxLength: 4 }).map((vs) => vs.map((v) => v.replaceAll(',', '\\,')).join(','));
    const compare = fc.tuple(fc.constantFrom('eq', 'not_eq', 'gt', 'gte', 'lt', 'lte', 'EQ'), value);
    const kinds: fc.Arbitrary<[string, string | undefined]>[] = [
      compare,
      fc.tuple(fc.constantFrom('in', 'not_in'), list),
      fc.tuple(fc.constantFrom('is_null', 'not_null'), fc.constant(undefined)),
    ];
    if (TEXTS.has(subject)) kinds.push(fc.tuple(fc.constantFrom('like', 'not_like'), fc.constantFrom(...PATTERNS)));
    return fc.oneof(...kinds).map(([op, comp]) => ({ subject, op, comp }));
  });
  const groups = fc
    .array(fc.tuple(one, fc.option(fc.constantFrom(...conjunctions), { nil: undefined })), { maxLength: 4 })
    .map((all) => all.flatMap(([g, conj], i) => group(i === 0 ? '' : i * 2, g.subject, g.op, g.comp, i === all.length - 1 ? undefined : conj)));
  const extras = fc
    .record({
      select: fc.option(fc.uniqueArray(fc.constantFrom(...columns), { minLength: 1, maxLength: 4 }), { nil: undefined }),
      down: fc.boolean(),
      cut: fc.option(fc.tuple(fc.nat(5), fc.nat(3)), { nil: undefined }),
    })
    .map(({ select, down, cut }): Pairs => {
      const shown = select && key !== undefined && !select.includes(key) ? [...select, key] : select;
      return [
        ...(shown ? [['_select_', shown.join(',')] as const] : []),
        ...(cut && key !== undefined
          ? ([
              ['_order_', `${down ? '-' : ''}${key}`],
              ['_limit_', String(cut[0])],
              ['_offset_', String(cut[1])],
            ] as const)
          : []),
      ];
    });
  return fc.tuple(groups, extras).map(([g, e]) => [...g, ...e]);
}

/** Checks a property until it has counted more than `least`. @throws Error with the smallest example that fails */
async function checkMore<T>(property: fc.IAsyncProperty<T>, runs: number, counted: () => number, least: number): Promise<void> {
  const { failed, errorInstance, counterexample } = await checkUntil(property, runs, () => counted() > least, true);
  if (failed) throw new Error(`SEED=${SEED} ${JSON.stringify(counterexample)}`, { cause: errorInstance });
  expect(counted()).toBeGreaterThan(least);
}

/** Checks filters, of which more than `least` must return rows. */
async function again(kind: 'concept' | 'view', name: string, arbitrary: fc.Arbitrary<Pairs>, numRuns: number, least: number): Promise<void> {
  let found = 0;
  await checkMore(
    fc.asyncProperty(arbitrary, async (pairs) => {
      const answer = await of(kind, name, pairs);
      const rows = rowsOf(answer);
      if (rows.length > 0) found++;
      const executed: string = answer.json.executed_query;
      expect(rowsOf(await service.query(executed, 'shop')).sort(), executed).toEqual(rows.sort());
      // once more with the cached plan
      expect(rowsOf(await of(kind, name, pairs)).sort()).toEqual(rows);
    }),
    numRuns,
    () => found,
    least,
  );
}

describe('executed_query gives the same rows', () => {
  const toOne = Object.keys(OWN).filter((s) => !s.startsWith('below'));
  const single = Object.fromEntries(toOne.filter((s) => s !== 'word' && s !== 'above[anything].word').map((s) => [s, OWN[s] as readonly string[]]));
  it(
    'of any filter on a concept',
    async () => {
      const any = filters(OWN, ['id', 's', 'above[anything].s', 'word', 'above', 'below[anything].entity_id'], undefined, ['AND', 'or']);
      await again('concept', 'anything', any, SIZES.filters, SIZES.filters / 5);
    },
    patience(120_000),
  );
  it(
    'of any filter on a concept with a limit',
    async () => {
      await again('concept', 'Anything', filters(single, ['s', 'above[anything].s', 'entity_label'], 'id', ['AND', 'OR']), SIZES.fewer, SIZES.fewer / 4);
    },
    patience(120_000),
  );
  it(
    'of any filter on a view',
    async () => {
      await again('view', 'plain', filters(VALUES, ['i', 's', 'above[anything].s'], 'id', ['AND', 'OR', 'and']), SIZES.fewer, SIZES.fewer / 4);
    },
    patience(120_000),
  );
  it(
    'of any filter on a cube',
    async () => {
      await again('view', 'sums', filters(CUBE, ['s', 'b', 'total', 'days'], undefined, ['AND']), SIZES.fewer, SIZES.fewer / 4);
    },
    patience(120_000),
  );
});

/** A tree without the positions of its parts, with the texts of its constants separate. */
function shapeOf(sql: string): { readonly shape: string; readonly texts: string[] } {
  const texts: string[] = [];
  const tree = parser.parse(sql.replace(/`([^`]+)`/g, '"$1"'));
  const shape = JSON.stringify(tree.stmts, (key, value) => {
    if (key === 'location' || key === 'stmt_len' || /^rexpr_list_(start|end)$/.test(key) || key.endsWith('_location')) return undefined;
    if (key !== 'sval' || typeof value !== 'object') return value;
    texts.push(value.sval ?? '');
    return 'a text';
  });
  return { shape, texts };
}
/** Statements that have reached the datasource, without the values of their parameters. */
const reached = (): string[] =>
  service.reached().map((body) => {
    const sent = JSON.parse(body);
    return (sent.queries ?? [sent]).map((q: { query: string }) => q.query).join('; ');
  });

/** Payloads for a place: different ones for each, unless all are tested. */
const payloads = (place: string): readonly string[] => oneIn(SIZES.everyPayload, PAYLOADS, place.length);

describe('no text changes a statement', () => {
  beforeEach(() => void service.reached());
  it('and there are enough payloads', () => expect(new Set(PAYLOADS).size).toBeGreaterThanOrEqual(200));

  const literal = (p: string): string => p;
  const listed = (p: string): string => p.replaceAll(',', '\\,');
  /** The special characters of patterns, as sets of one. */
  const pattern = (p: string): string => p.replace(/[%_[]/g, '[$&]');
  const places: readonly [string, 'concept' | 'view', string, (p: string) => Pairs, (p: string) => string][] = [
    ['value', 'concept', 'anything', (p) => group('', 's', 'eq', p), literal],
    ['value in a list', 'concept', 'anything', (p) => group('', 's', 'not_in', `first,${listed(p)}`), literal],
    ['pattern', 'concept', 'anything', (p) => group('', 's', 'not_like', pattern(p)), (p) => likePattern(pattern(p)).pattern],
    ['value of the second group', 'concept', 'anything', (p) => [...group('', 'i', 'is_null', undefined, 'OR'), ...group(3, 's', 'eq', p)], literal],
    ['value of a path', 'concept', 'anything', (p) => group('', 'above[anything].s', 'gt', p), literal],
    ['value of a relationship', 'concept', 'anything', (p) => group('', 'below', 'not_eq', p), literal],
    ['value of a multi-value property', 'concept', 'anything', (p) => group('', 'word', 'eq', p), literal],
    ['label', 'concept', 'anything', (p) => group('', 'entity_label', 'lte', p), literal],
    ['value on a view', 'view', 'plain', (p) => group('', 's', 'eq', p), literal],
    ['value on a cube', 'view', 'sums', (p) => [...group('', 's', 'not_eq', p), ...group(1, 'total', 'gt', '0')], literal],
  ];
  it.each(places)(
    '%s',
    async (place, kind, name, pairs, shown) => {
      const plain = await of(kind, name, pairs('plain'));
      expect(plain.status, plain.text).toBe(200);
      const shape = shapeOf(plain.json.executed_query);
      const [sql] = reached();
      for (const p of payloads(place)) {
        const { status, json, text } = await of(kind, name, pairs(p));
        expect(status, `${p}: ${text}`).toBe(200);
        const made = shapeOf(json.executed_query);
        expect(made.shape, p).toBe(shape.shape);
        expect(made.texts, p).toEqual(shape.texts.map((t) => (t === 'plain' ? shown(p) : t)));
        expect(reached(), p).toEqual([sql]);
      }
    },
    120_000,
  );

  it('an id becomes a condition on the key, and stays a value', async () => {
    for (const p of payloads('id')) {
      const { status, json, text } = await of('concept', 'anything', group('', 'entity_id', 'in', `anything:1,anything:${listed(p)}`));
      expect(status, text).toBe(200);
      expect(
        json.data.map((r: { id: number }) => r.id),
        p,
      ).toEqual([1]);
      for (const sql of reached()) expect(sql.includes(p) && p.length > 20, sql).toBe(false);
    }
    const product = await of('concept', 'product', group('', 'entity_id', 'eq', "product:' OR 1=1 --"));
    expect(product.json.data).toEqual([]);
    const [sent] = service.reached();
    expect(JSON.parse(sent ?? '').query).not.toContain('OR 1=1');
    expect(JSON.parse(sent ?? '').params).toEqual(["product:' OR 1=1 --", "' OR 1=1 --"]);
  });

  const typed = ['i', 'n', 'd', 'day', 'at', 'ats', 'clock', 'u', 'b'];
  const refused: readonly [string, (p: string) => Promise<Answer>, number][] = [
    ...typed.map((t): [string, (p: string) => Promise<Answer>, number] => [
      `value of ${t}`,
      (p) => of('concept', 'anything', group('', t, 'eq', `1${p}!`)),
      400,
    ]),
    ['subject', (p) => of('concept', 'anything', group('', p, 'eq', 'x')), 400],
    ['subject after a name', (p) => of('concept', 'anything', group('', `s${p}`, 'eq', 'x')), 400],
    ['subject at the end of a path', (p) => of('concept', 'anything', group('', `above[anything].${p}`, 'eq', 'x')), 400],
    ['subject in brackets', (p) => of('concept', 'anything', group('', `above[${p}].s`, 'eq', 'x')), 400],
    ['subject on a view', (p) => of('view', 'plain', group('', p, 'eq', 'x')), 400],
    ['operator', (p) => of('concept', 'anything', group('', 's', p, 'x')), 400],
    ['operator after one', (p) => of('concept', 'anything', group('', 's', `eq${p}`, 'x')), 400],
    ['conjunction', (p) => of('concept', 'anything', [...group('', 's', 'eq', 'x', p), ...group(1, 's', 'eq', 'y')]), 400],
    ['conjunction after one', (p) => of('concept', 'anything', [...group('', 's', 'eq', 'x', `OR${p}`), ...group(1, 's', 'eq', 'y')]), 400],
    ['number of a group', (p) => of('concept', 'anything', [...group('', 's', 'eq', 'x'), [`_subj${p}!_`, 's']]), 400],
    ['parameter', (p) => of('concept', 'anything', [[p, 'x']]), 400],
    ['_select_', (p) => of('concept', 'anything', [['_select_', `s,${p}!`]]), 400],
    ['_order_', (p) => of('concept', 'anything', [['_order_', `-${p}!`]]), 400],
    ['_limit_', (p) => of('concept', 'anything', [['_limit_', `1${p}`]]), 400],
    ['_offset_', (p) => of('concept', 'anything', [['_offset_', `1${p}`]]), 400],
    ['ontology', (p) => service.get(`q/${encodeURIComponent(`shop${p}`)}/concept/anything`), 404],
    ['concept', (p) => service.get(`q/shop/concept/${encodeURIComponent(`anything${p}`)}`), 404],
    ['view', (p) => service.get(`q/shop/view/${encodeURIComponent(`plain${p}`)}`), 404],
  ];
  it.each(refused)(
    '%s: it never reaches the database',
    async (position, ask, expected) => {
      // in the URL, `..` and similar texts are ways to another path
      for (const p of expected === 404 ? payloads(position).filter((t) => !/^[./]/.test(t)) : payloads(position)) {
        const { status, text } = await ask(p);
        expect(status, `${position} ${p}: ${text}`).toBe(expected);
      }
      expect(service.reached()).toEqual([]);
    },
    60_000,
  );

  it('headers', async () => {
    const ask = (headers: Record<string, string>) => service.get(`q/shop/concept/anything?${search(group('', 's', 'eq', 'Ann'))}`, headers);
    await ask({});
    const [sql] = reached();
    for (const name of ['nested', 'api-nested-format-properties', 'x-request-id', 'x-ontology-version', 'accept-language', 'results-limit']) {
      for (const p of payloads(name).filter((t) => /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(t))) {
        const { status } = await ask({ [name]: p });
        expect([200, 400], `${name}: ${p}`).toContain(status);
        for (const sent of reached()) expect(sent, p).toBe(sql);
      }
    }
  });
});

describe('values in the database', () => {
  it(
    'are accepted if they pass the check, as a parameter and as a literal',
    async () => {
      const types = [
        'smallint',
        'integer',
        'bigint',
        'decimal',
        'decimal(6,2)',
        'double',
        'boolean',
        'date',
        'time',
        'timestamp',
        'timestamptz',
        'uuid',
        'json',
      ];
      const digits = fc.string({ unit: fc.constantFrom('0', '1', '9', '5'), maxLength: 8 });
      const clock = fc.tuple(fc.nat(25), fc.nat(60), fc.nat(60)).map((t) => t.map((n) => String(n).padStart(2, '0')).join(':'));
      const day = fc
        .tuple(fc.nat(3000), fc.nat(13), fc.nat(32))
        .map(([y, m, d]) => [String(y).padStart(4, '0'), ...[m, d].map((n) => String(n).padStart(2, '0'))].join('-'));
      const exponents = [
        '',
        '5',
        '37',
        '45',
        '300',
        '324',
        '16382',
        '16384',
        '99999',
        '131071',
        '131072',
        '0000000016',
        '1073741822',
        '1073741823',
        '99999999999999999999',
      ];
      const number = fc
        .tuple(fc.constantFrom('', '-', '+'), digits, fc.constantFrom('', '.'), digits, fc.constantFrom('', 'e', 'E-', 'e+'), fc.constantFrom(...exponents))
        .map((t) => t.join(''));
      const piece = fc.oneof(number, fc.constantFrom('"\\u0000"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\/ [1e99999"', 'true', 'null', '[]', '{"a": 0E-16384}'));
      const value = fc.oneof(
        number,
        fc.tuple(piece, piece).map(([a, b]) => `{"a": ${a}, "a": [${b}]}`),
        fc.constantFrom('infinity', '-infinity', 'nan', 'Inf', 'TRUE', 'off', 'y', 'today'),
        clock,
        fc.tuple(day, fc.constantFrom('', ' BC')).map((t) => t.join('')),
        fc
          .tuple(
            day,
            fc.constantFrom('T', ' '),
            clock,
            fc.constantFrom('', '.5', '.123456789'),
            fc.constantFrom('', 'Z', '+00:00', '-0330', ' +15', '+16:00'),
            fc.constantFrom('', ' BC'),
          )
          .map((t) => t.join('')),
        fc.uuid(),
        fc.json(),
      );
      let fitting = 0;
      await checkMore(
        fc.asyncProperty(fc.constantFrom(...types), value, async (name, text) => {
          const type = typeNamed(name);
          const found = type && typedValue(type, text);
          if (type === undefined || found === undefined) return;
          fitting++;
          const sql = `SELECT (${quoteLiteral(found.text)}::${type.sql})::text AS a, (${found.literal})::${type.sql}::text AS b`;
          const [row] = await service.rows(sql, 'shop');
          expect(row?.a, sql).toBe(row?.b);
        }),
        SIZES.values,
        () => fitting,
        SIZES.values / 14,
      );
    },
    patience(120_000),
  );

  it(
    'match patterns as specified',
    async () => {
      const char = fc.constantFrom('a', 'b', 'c', '%', '_', '[', ']', '^', '-', '\\', '.', '\n', 'é', '東');
      const text = fc.string({ unit: char, maxLength: 5 });
      let matched = 0;
      await checkMore(
        fc.asyncProperty(fc.string({ unit: char, maxLength: 6 }), fc.array(text, { minLength: 20, maxLength: 20 }), async (pattern, texts) => {
          const reference = referenceOf(pattern);
          if (reference === undefined) return;
          const { operator, pattern: made } = likePattern(pattern);
          const rows = await service.rows(`SELECT ${texts.map((t, i) => `${quoteLiteral(t)} ${operator} ${quoteLiteral(made)} AS m${i}`).join(', ')}`, 'shop');
          const expected = texts.map((t) => reference.test(t));
          matched += expected.filter(Boolean).length;
          expect(Object.values(rows[0] ?? {}), `${pattern} on ${JSON.stringify(texts)}`).toEqual(expected);
        }),
        SIZES.patterns,
        () => matched,
        SIZES.patterns / 8,
      );
    },
    patience(60_000),
  );
});

/** The pattern as a JavaScript expression: sets of characters written out. undefined: it is not valid. */
function referenceOf(pattern: string): RegExp | undefined {
  const code = (c: string): string => `\\u{${(c.codePointAt(0) as number).toString(16)}}`;
  let out = '';
  for (let rest = pattern; rest !== ''; ) {
    const set = /^\[(\^|(?!\^))([\s\S][^\]]*)\]/su.exec(rest);
    if (set) {
      const members = (set[2] as string).replace(/(.)-(.)|(.)/gsu, (_, from, to, one) => (one === undefined ? `${code(from)}-${code(to)}` : code(one)));
      out += `[${set[1]}${members}]`;
      rest = rest.slice(set[0].length);
      continue;
    }
    const [c] = rest as unknown as [string];
    if (c === '[') return undefined;
    out += c === '%' ? '.*' : c === '_' ? '.' : code(c);
    rest = rest.slice(c.length);
  }
  try {
    return new RegExp(`^${out}$`, 'su');
  } catch {
    return undefined;
  }
}

describe('filters', () => {
  it('name the property and its type if a value does not fit, even if only PostgreSQL knows the type', async () => {
    const { status, json } = await of('view', 'plain', group('', 'took', 'eq', 'abc'));
    expect([status, json.code]).toEqual([400, 'bad_value']);
    expect(json.data).toMatch(/`took`.*interval/);
    expect(rowsOf(await of('view', 'plain', group('', 'took', 'eq', '00:00:00'))).length).toBeGreaterThan(0);
    expect(rowsOf(await of('view', 'plain', group('', 'took', 'in', '00:00:00,1 day'))).length).toBeGreaterThan(0);
  });

  it('on a measure apply after grouping, joined only by AND', async () => {
    const grouped = await of('view', 'sums', [
      ...group('', 'total', 'gt', '5'),
      ...group(1, 's', 'like', 'A%'),
      ['_select_', 's,total'],
      ['_order_', '-total'],
    ]);
    expect(grouped.json.executed_query).toBe(
      `SELECT "s", SUM("total") AS "total" FROM \`vsvc\`.\`sums\` WHERE "s" LIKE 'A%' GROUP BY "s" HAVING SUM("total") > 5 ORDER BY SUM("total") DESC`,
    );
    expect(grouped.json.data).toEqual([{ s: 'Ann', total: 10.5 }]);
    const or = await of('view', 'sums', [...group('', 'total', 'gt', '5', 'OR'), ...group(1, 's', 'eq', 'Ann')]);
    expect([or.status, or.json.code]).toEqual([400, 'bad_conjunction']);
    const order = await of('view', 'sums', [
      ['_select_', 'total'],
      ['_order_', 's'],
    ]);
    expect([order.status, order.json.code]).toEqual([400, 'bad_parameter']);
  });

  it('do not add parameters to the query endpoint', async () => {
    await of('concept', 'anything', group('', 's', 'eq', 'Ann'));
    const { status, json } = await service.query('SELECT * FROM `svc`.`anything` WHERE "s" = $1::text', 'shop');
    expect([status, json.code]).toEqual([400, 'unsupported_syntax']);
  });

  it('are checked after the rights of the caller', async () => {
    expect((await service.get('q/shop/concept/nothing?_subj_=x')).status).toBe(404);
    expect((await service.get('q/nothing/concept/anything?_subj_=x')).status).toBe(404);
  });

  it('without groups return all rows', async () => {
    const { json } = await service.get('q/shop/concept/anything');
    expect(json.executed_query).toBe('SELECT * FROM `svc`.`anything`');
    expect((await service.get('q/shop/view/plain')).json.executed_query).toBe('SELECT * FROM `vsvc`.`plain`');
    expect((await of('concept', 'anything', [['_limit_', '0']])).json.data).toEqual([]);
  });

  it('select the paths that they use', async () => {
    const sql = async (pairs: Pairs): Promise<string> => (await of('concept', 'anything', pairs)).json.executed_query;
    expect(await sql(group('', 'ABOVE', 'eq', 'anything:1'))).toBe(
      `SELECT *, "above[anything].*" FROM \`dsvc\`.\`anything\` WHERE "above[anything].entity_id" = 'anything:1'`,
    );
    expect(await sql([...group('', 'word', 'eq', 'red'), ...group(1, 'above[anything].s', 'eq', 'x'), ...group(2, 'above[Anything].I', 'eq', '1')])).toBe(
      `SELECT *, "word", "above[anything].*" FROM \`dsvc\`.\`anything\` WHERE "word" = 'red' AND "above[anything].s" = 'x' AND "above[anything].i" = 1`,
    );
    expect(await sql([...group('', 'above', 'not_null'), ['_select_', 'id,above[anything].*,below']])).toBe(
      'SELECT "id", "above[anything].*", "below[anything].entity_id" FROM `dsvc`.`anything` WHERE "above[anything].entity_id" IS NOT NULL',
    );
  });
});
