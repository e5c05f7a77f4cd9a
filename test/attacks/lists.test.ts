/**
 * The verifier's lists against the catalogs of PostgreSQL: every overload of an allowed name is immutable, or listed with what else it
 * depends on; none takes or returns a type whose values are looked up in the catalog, or an internal one.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALLOWED_FUNCTIONS, SET_RETURNING } from '../../src/planner/guard/index.ts';
import { RESULT_COLUMNS, ROW_FUNCTIONS, SHAPED_BY_ARGUMENTS, SYSTEM_COLUMNS } from '../../src/planner/verify/fields.ts';
import { FUNCTIONS, NOT_IMMUTABLE } from '../../src/planner/verify/functions.ts';
import { DEPENDENT_OPERATORS, operatorNames } from '../../src/planner/verify/operators.ts';
import { isCollation, TYPES } from '../../src/planner/verify/types.ts';
import { type AnalysisDatabase, databases } from '../support/analysis/database.ts';

let all: readonly AnalysisDatabase[];
beforeAll(async () => {
  all = await databases();
});
afterAll(async () => {
  for (const db of all ?? []) await db.close();
});

const READ = new Map<string, unknown[]>();
/** The rows of a query in all databases. */
async function everywhere<T>(sql: string): Promise<T[]> {
  const rows = READ.get(sql) ?? (await Promise.all(all.map((db) => db.query(sql)))).flat();
  READ.set(sql, rows);
  return rows as T[];
}

interface Overload {
  readonly name: string;
  readonly signature: string;
  readonly volatility: 'i' | 's' | 'v';
  readonly kind: 'f' | 'a' | 'w' | 'p';
  /** Types of its arguments and result; of arrays the element types. */
  readonly types: readonly string[];
  readonly result: string;
  readonly least: number;
  readonly most: number;
  readonly first: string | null;
  readonly out: readonly string[];
}

const OVERLOADS = `SELECT proname AS name, proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' AS signature, provolatile AS volatility, prokind AS kind,
    ARRAY(SELECT coalesce(e.typname, t.typname)::text FROM unnest(p.proargtypes::oid[] || p.prorettype) a JOIN pg_type t ON t.oid = a LEFT JOIN pg_type e ON e.typarray = t.oid) AS types,
    (SELECT typname::text FROM pg_type WHERE oid = prorettype) AS result, pronargs - pronargdefaults AS least, pronargs AS most,
    (SELECT typname::text FROM pg_type WHERE oid = proargtypes[0]) AS first,
    ARRAY(SELECT proargnames[i] FROM generate_subscripts(proargmodes, 1) i WHERE proargmodes[i] IN ('o', 'b', 't')) AS out
  FROM pg_proc p WHERE pronamespace = 'pg_catalog'::regnamespace`;

/** Types whose functions look names up, run code of their own, or do not belong in a query. */
const FORBIDDEN = /^(reg\w+|cstring|internal|refcursor|aclitem|trigger|event_trigger|language_handler|\w+_handler|anyenum|pg_\w+|txid_snapshot)$/;

/** Overloads that take one of these types. They may be called, because no statement has a value of the type. */
const WITHOUT_VALUES: Readonly<Record<string, string>> = {
  'pg_typeof("any")': 'returns a regtype; allowed only directly inside a cast to text',
  'max(pg_lsn)': 'no statement has a value of the type',
  'min(pg_lsn)': 'no statement has a value of the type',
  'max(anyenum)': 'values of the own types of a table, compared by their order',
  'min(anyenum)': 'values of the own types of a table, compared by their order',
};

it('the functions that return sets are listed', async () => {
  const rows = await everywhere<{ name: string }>("SELECT proname AS name FROM pg_proc WHERE proretset AND pronamespace = 'pg_catalog'::regnamespace");
  const returning = new Set(rows.map(({ name }) => name).filter((name) => ALLOWED_FUNCTIONS.has(name)));
  expect([...returning].filter((name) => !SET_RETURNING.has(name))).toEqual([]);
  expect([...SET_RETURNING].filter((name) => !returning.has(name))).toEqual([]);
});

describe('the functions', () => {
  it('exist, all of them in the newest version', async () => {
    const there = new Set((await everywhere<Overload>(OVERLOADS)).map((o) => o.name));
    expect([...FUNCTIONS].filter((f) => !there.has(f))).toEqual([]);
  });

  it('are immutable, or listed with what they depend on', async () => {
    const overloads = (await everywhere<Overload>(OVERLOADS)).filter((o) => FUNCTIONS.has(o.name));
    const dependent = new Set(overloads.filter((o) => o.volatility !== 'i').map((o) => o.name));
    expect([...dependent].filter((f) => !NOT_IMMUTABLE.has(f))).toEqual([]);
    expect([...NOT_IMMUTABLE.keys()].filter((f) => !dependent.has(f))).toEqual([]);
    expect(overloads.filter((o) => o.kind === 'p')).toEqual([]);
  });

  it('take and return no value that is looked up in the catalog', async () => {
    const overloads = (await everywhere<Overload>(OVERLOADS)).filter((o) => FUNCTIONS.has(o.name));
    const wrong = overloads.filter((o) => o.types.some((t) => FORBIDDEN.test(t))).map((o) => o.signature);
    expect([...new Set(wrong)].filter((s) => !Object.hasOwn(WITHOUT_VALUES, s))).toEqual([]);
    expect(Object.keys(WITHOUT_VALUES).filter((s) => !wrong.includes(s))).toEqual([]);
  });

  it('run no text as SQL, read no setting, file or catalog, and touch no session', async () => {
    const doubtful =
      /xml|setting|_file|_dir|lo_|_lock|backend|signal|notify|sleep|txid|xact|snapshot|wal|replication|tablespace|database|privilege|_to_reg|to_reg|cursor|dblink|query_to|stat_|_size/;
    const fine = new Set(['querytree']);
    expect([...FUNCTIONS].filter((f) => doubtful.test(f) && !fine.has(f))).toEqual([]);
  });

  it('that take any row and are not listed are known', async () => {
    const overloads = await everywhere<Overload>(OVERLOADS);
    const any = new Set(['record', 'any', 'anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray']);
    const ofRow = new Set(overloads.filter((o) => o.kind !== 'p' && o.least <= 1 && o.most >= 1 && any.has(o.first ?? '')).map((o) => o.name));
    expect([...ofRow].filter((f) => !FUNCTIONS.has(f) && !ROW_FUNCTIONS.has(f))).toEqual([]);
    expect([...ROW_FUNCTIONS].filter((f) => !ofRow.has(f))).toEqual([]);
  });

  it('name their result columns as listed', async () => {
    const overloads = (await everywhere<Overload>(OVERLOADS)).filter((o) => FUNCTIONS.has(o.name));
    for (const { name, signature, out } of overloads) {
      // for unnest(tsvector) the columns have names only by a column list
      if (/^unnest\(tsvector/.test(signature)) expect(out).toHaveLength(3);
      else expect([...out], signature).toEqual([...(RESULT_COLUMNS.get(name) ?? [])]);
    }
    const shaped = overloads.filter(
      (o) => o.out.length === 0 && (o.result === 'record' || (/record/.test(o.name) && o.result === 'anyelement')) && o.kind === 'f',
    );
    expect([...new Set(shaped.map((o) => o.name))].sort()).toEqual([...SHAPED_BY_ARGUMENTS].sort());
  });
});

describe('the operators', () => {
  interface Operator {
    readonly name: string;
    readonly signature: string;
    readonly volatility: string;
    readonly types: readonly string[];
  }
  const SQL = `SELECT oprname AS name, oprname || '(' || format_type(oprleft, NULL) || ',' || format_type(oprright, NULL) || ')' AS signature, f.provolatile AS volatility,
      ARRAY(SELECT coalesce(e.typname, t.typname)::text FROM unnest(ARRAY[oprleft, oprright, oprresult]) a JOIN pg_type t ON t.oid = a LEFT JOIN pg_type e ON e.typarray = t.oid) AS types
    FROM pg_operator o JOIN pg_proc f ON f.oid = oprcode WHERE oprnamespace = 'pg_catalog'::regnamespace`;

  it("are PostgreSQL's own", async () => {
    const there = new Set((await everywhere<Operator>(SQL)).map((o) => o.name));
    expect([...operatorNames()].filter((o) => !there.has(o))).toEqual([]);
  });

  it('are immutable, or listed with what they depend on', async () => {
    const dependent = new Set((await everywhere<Operator>(SQL)).filter((o) => operatorNames().has(o.name) && o.volatility !== 'i').map((o) => o.name));
    expect([...dependent].sort()).toEqual([...DEPENDENT_OPERATORS.keys()].sort());
  });

  it('take and return no value that is looked up in the catalog, except of types without values in statements', async () => {
    const wrong = (await everywhere<Operator>(SQL)).filter((o) => o.types.some((t) => FORBIDDEN.test(t)));
    const types = new Set(wrong.flatMap((o) => o.types.filter((t) => FORBIDDEN.test(t))));
    expect([...types].sort()).toEqual(['aclitem', 'anyenum', 'pg_lsn'].filter((t) => types.has(t)));
  });

  it('call no function with more effects', async () => {
    // the function of an operator is not on the list of functions, so only its volatility is checked: no operator is volatile
    expect((await everywhere<Operator>(SQL)).filter((o) => o.volatility === 'v')).toEqual([]);
  });
});

describe('the types', () => {
  interface Type {
    readonly name: string;
    readonly sort: string;
    readonly category: string;
    readonly input: string;
  }
  const SQL = `SELECT typname AS name, typtype AS sort, typcategory AS category, i.provolatile AS input FROM pg_type t JOIN pg_proc i ON i.oid = typinput
    WHERE typnamespace = 'pg_catalog'::regnamespace AND typcategory <> 'A' AND typtype IN ('b', 'r', 'm')`;

  it("are PostgreSQL's own, and neither pseudo-types nor system types", async () => {
    const there = new Map((await everywhere<Type>(SQL)).map((t) => [t.name, t]));
    expect([...TYPES].filter((t) => !there.has(t) || (there.get(t)?.category === 'Z' && t !== 'char'))).toEqual([]);
    expect([...TYPES].filter((t) => FORBIDDEN.test(t))).toEqual([]);
  });

  it('are all types that are read without the catalog, except these', async () => {
    const left = [...new Set((await everywhere<Type>(SQL)).map((t) => t.name))].filter((t) => !TYPES.has(t)).sort();
    expect(left).toEqual(
      `aclitem cid gtsvector money oid pg_brin_bloom_summary pg_brin_minmax_multi_summary pg_dependencies pg_lsn pg_mcv_list pg_ndistinct pg_node_tree
       pg_snapshot refcursor regclass regcollation regconfig regdictionary regnamespace regoper regoperator regproc regprocedure regrole regtype tid
       txid_snapshot xid xid8 xml`.split(/\s+/),
    );
  });

  it('depend at most on the clock and the time zone', async () => {
    const dependent = (await everywhere<Type>(SQL)).filter((t) => TYPES.has(t.name) && t.input !== 'i').map((t) => t.name);
    expect([...new Set(dependent)].filter((t) => !/^(date|time|timestamp|timetz|timestamptz|interval|.*range)$/.test(t))).toEqual([]);
  });
});

describe('other names', () => {
  it('of collations are those of PostgreSQL', async () => {
    const names = (
      await everywhere<{ name: string }>("SELECT collname AS name FROM pg_collation WHERE collnamespace = 'pg_catalog'::regnamespace AND collprovider <> 'c'")
    ).map((r) => r.name);
    expect(names.filter((n) => !isCollation(n))).toEqual([]);
    expect(['C', 'POSIX', 'default'].every(isCollation)).toBe(true);
    expect(['en_US.utf8', 'x', 'pg_catalog', 'C"', '-x-icu'].some(isCollation)).toBe(false);
  });

  it('of the system columns', async () => {
    const names = await everywhere<{ name: string }>("SELECT attname AS name FROM pg_attribute WHERE attrelid = 'pg_class'::regclass AND attnum < 0");
    expect([...new Set(names.map((r) => r.name))].sort()).toEqual([...SYSTEM_COLUMNS].sort());
  });
});
