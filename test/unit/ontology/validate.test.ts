import { describe, expect, it } from 'vitest';
import { run } from './script.ts';

const ITEM = `CREATE CONCEPT item (k bigint, name string, PRIMARY KEY (k));
CREATE MAPPING map_item INTO (item) AS SELECT k, label AS name FROM t.item;`;

/** The warnings of a script, as `code @beginning of the text at the position: message`. */
const warnings = (script: string, before?: string): string[] =>
  run(script, before === undefined ? undefined : run(before).model).warnings.map(
    (w) => `${w.code} @${/^[\w"`]+/.exec(script.slice(w.offset ?? 0))?.[0]}: ${w.message}`,
  );

describe('warnings', () => {
  it('a correct model has no faults', () => {
    expect(warnings(ITEM)).toEqual([]);
  });

  it('a property that no mapping returns', () => {
    expect(warnings(ITEM.replace('name string', 'name string, ghost date'))).toEqual([
      'unmapped_property @ghost: no mapping provides the property `ghost` of concept `item`: it is always NULL',
    ]);
    // returned by one of several mappings, calculated, of a concept without rows, or returned by a descendant: no warning
    expect(
      warnings(`${ITEM} CREATE PROPERTY loud string AS SELECT upper(name); CREATE CONCEPT empty (x string);
        CREATE OR REPLACE CONCEPT item (k bigint, name string, extra string, loud string, PRIMARY KEY (k)); CREATE CONCEPT sub INHERITS (item); CREATE MAPPING ms INTO sub AS SELECT k, extra FROM t.sub`),
    ).toEqual([]);
    expect(warnings(`${ITEM} CREATE CONCEPT some (own string) INHERITS (item) FROM svc.item WHERE k > 1`)).toEqual([
      'unmapped_property @own: no mapping provides the property `own` of concept `some`: it is always NULL',
    ]);
  });

  it('a relationship, or a link, over types that cannot be compared', () => {
    expect(warnings(`${ITEM} CREATE CONCEPT c (day date, CONSTRAINT crooked FOREIGN KEY (day) REFERENCES item (k))`)).toEqual([
      'incomparable_types @crooked: the relationship `crooked` of `c` compares `day` (date) with `k` (bigint) of `item`',
    ]);
  });

  it('mappings that return the same rows twice', () => {
    expect(warnings('CREATE CONCEPT sub INHERITS (item); CREATE MAPPING again INTO sub AS SELECT k,\n  label AS name FROM t.item', ITEM)).toEqual([
      'duplicate_mapping @again: the mappings `map_item` (into `item`) and `again` (into `sub`) have the same SELECT: its rows are duplicated in `item`',
    ]);
    expect(warnings('CREATE CONCEPT other (k bigint, name string); CREATE MAPPING again INTO other AS SELECT k, label AS name FROM t.item', ITEM)).toEqual([]);
  });

  it('mappings that return the same rows, once for each of them', () => {
    const again = Array.from({ length: 300 }, (_, i) => `CREATE MAPPING again${i} INTO item AS SELECT k, label AS name FROM t.item`);
    expect(warnings(again.join('; '), ITEM)).toHaveLength(300);
  });

  it('unused columns, but not link columns', () => {
    expect(warnings('CREATE MAPPING m INTO item AS SELECT k, note FROM t.x', ITEM)).toEqual([
      'unused_column @m: the mapping `m` has a column `note`, which is not a property that it could provide for `item`',
    ]);
    expect(
      warnings(`${ITEM.replace('PRIMARY KEY (k)', 'PRIMARY KEY (k), CONSTRAINT near MULTIREFERENCE item')}
        CREATE MAPPING ml (CONSTRAINT near FOREIGN KEY (b) REFERENCES item (k), CONSTRAINT \`~near\` FOREIGN KEY (a) REFERENCES item (k)) AS SELECT a, b, since FROM t.l`),
    ).toEqual([]);
  });

  it('a concept below a logic concept that may have rows which are not rows of it', () => {
    const some = 'CREATE CONCEPT some INHERITS (item) FROM svc.item WHERE k > 1;';
    const sub = 'CREATE CONCEPT sub INHERITS (some); CREATE CONCEPT other INHERITS (some); CREATE MAPPING ms INTO sub AS SELECT k, name FROM t.sub;';
    const message = 'rows_outside_parent @sub: `sub` inherits from `some`, but its rows that do not meet the condition of `some` are not rows of `some`';
    expect(warnings(`${ITEM} ${some} ${sub}`)).toEqual([message]);
    expect(warnings('CREATE MAPPING ms INTO sub AS SELECT k, name FROM t.sub', `${ITEM} ${some} CREATE CONCEPT sub INHERITS (some)`)).toEqual([
      message.replace('@sub', '@ms'),
    ]);
    expect(warnings(`${ITEM} ${some} CREATE CONCEPT few INHERITS (some) FROM svc.item WHERE k > 2;`)).toEqual([
      'rows_outside_parent @few: `few` inherits from `some`, but its condition is on `item`: rows that do not meet the condition of `some` are not rows of `some`',
    ]);
    expect(warnings(`${ITEM} ${some} CREATE CONCEPT few INHERITS (some) FROM svc.some WHERE k > 2; CREATE CONCEPT none INHERITS (few)`)).toEqual([]);
    expect(warnings(`${ITEM} CREATE CONCEPT left_one INHERITS (item); CREATE CONCEPT some INHERITS (item) FROM svc.left_one WHERE k > 1; ${sub}`)).toEqual([
      'rows_outside_parent @sub: `sub` inherits from `some`, but it is not a `left_one`, on which `some` is defined: its rows are not rows of `some`',
    ]);
  });

  it('only objects of the script have warnings', () => {
    const before = ITEM.replace('name string', 'name string, ghost date');
    expect(warnings('CREATE CONCEPT other', before)).toEqual([]);
  });
});
