/** Conditions on entity_id filter the rows of each mapping by the key. Mappings that cannot match are omitted. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generated } from '../../../support/generated.ts';
import { sqlOf, tables } from '../company.ts';

const where = (concept: string, condition: string): string => `SELECT name FROM svc.${concept} WHERE ${condition}`;

describe('a comparison of entity_id', () => {
  it.each([
    ['=', "entity_id = 'town:12'"],
    ['= with exchanged sides', "'town:12' = entity_id"],
    ['IN', "entity_id IN ('town:12')"],
    ['= ANY', "entity_id = ANY (ARRAY['town:12'])"],
    ['= with a cast', "entity_id = 'town:12'::text"],
    ['= and other conditions', "name > 'a' AND entity_id = 'town:12'"],
    ['= with the alias', "town.entity_id = 'town:12'"],
  ])('with %s becomes a condition on the key', (_how, condition) => {
    expect(sqlOf(where('town', condition))).toMatch(/FROM raw\.towns[^()]*WHERE [^()]*\bid\b[^()]*= 12\b/);
  });

  it('remains in the SQL as a comparison of texts', () => {
    expect(sqlOf(where('town', "entity_id = 'town:12'"))).toContain("town.entity_id = 'town:12'");
  });

  it('filters no rows if it is not a conjunct with constants', () => {
    for (const condition of [
      "entity_id = 'town:12' OR name = 'x'",
      "NOT (entity_id = 'town:12')",
      "entity_id <> 'town:12'",
      "entity_id > 'town:12'",
      "entity_id IN ('town:12', name)",
      "lower(entity_id) = 'town:12'",
    ]) {
      expect(sqlOf(where('town', condition))).not.toMatch(/FROM raw\.towns[^()]*WHERE/);
    }
  });

  it('filters each mapping of a concept with several mappings', () => {
    const sql = sqlOf(where('party', "entity_id = 'party:7'"));
    expect(sql.match(/= 7\b/g)).toHaveLength(3);
  });

  it('with several ids filters by all of them', () => {
    const sql = sqlOf(where('town', "entity_id IN ('town:1', 'town:2', 'town:2', 'town:x')"));
    expect(sql).toMatch(/FROM raw\.towns[^()]*WHERE .*= 1\b.* OR .*= 2\b/);
    expect(sql.match(/= 2\b/g)).toHaveLength(1);
  });

  it('at the end of a path filters the rows of the path', () => {
    expect(sqlOf('SELECT name FROM dsvc.employee WHERE "located[town].entity_id" = \'town:12\'')).toMatch(/FROM raw\.towns[^()]*WHERE [^()]*= 12\b/);
  });

  it.each([
    ["entity_id = 'pass:5|A%7CB'", /= 5\b.* AND .*= 'A\|B'/],
    ["entity_id = 'pass:5|100%25'", /= 5\b.* AND .*= '100%'/],
    ["entity_id = 'pass:5|it''s'", /= 5\b.* AND .*= 'it''s'/],
  ])('with a composite key compares its parts: %s', (condition, expected) => {
    expect(sqlOf(`SELECT serial FROM svc.pass WHERE ${condition}`)).toMatch(expected);
  });

  it('with a uuid compares uuids', () => {
    expect(sqlOf("SELECT day FROM svc.badge WHERE entity_id = 'badge:00000000-0000-4000-8000-000000000001'")).toContain(
      "'00000000-0000-4000-8000-000000000001'::uuid",
    );
  });
});

describe('an id that no row can have', () => {
  it.each([
    ['town', "entity_id = 'town:007'"],
    ['town', "entity_id = 'town:+7'"],
    ['town', "entity_id = 'town:7 '"],
    ['town', "entity_id = 'town:7.0'"],
    ['town', "entity_id = 'town:-0'"],
    ['town', "entity_id = 'town:seven'"],
    ['town', "entity_id = 'town:99999999999999999999'"],
    ['town', "entity_id = 'town:'"],
    ['town', "entity_id = 'Town:7'"],
    ['town', "entity_id = '7'"],
    ['town', "entity_id = ''"],
    ['town', "entity_id = 'party:7'"],
    ['town', "entity_id IN ('party:7', 'firm:1')"],
    // An id has the name of the topmost concept with the key.
    ['firm', "entity_id = 'firm:7'"],
    ['pass', "entity_id = 'pass:5'"],
    ['pass', "entity_id = 'pass:5|a|b'"],
    ['badge', "entity_id = 'badge:x'"],
    ['badge', "entity_id = 'badge:00000000-0000-4000-8000-00000000000A'"],
    ['note', "entity_id = 'note:1'"],
  ])('omits all tables of %s: %s', (concept, condition) => {
    expect(tables(`SELECT entity_type FROM svc.${concept} WHERE ${condition}`)).toEqual([]);
  });

  it('omits only the mappings that cannot have it', () => {
    expect(tables("SELECT entity_type FROM svc.thing WHERE entity_id = 'town:7'")).toEqual(['towns']);
    expect(tables("SELECT entity_type FROM svc.thing WHERE entity_id IN ('town:7', 'party:8', 'firm:9')")).toEqual(['towns', 'guests', 'staff', 'firms']);
  });
});

it('reads the table if and only if the id can be a key', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String), fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9+\-. ]{1,20}$/)),
      (key) => {
        if (key.includes('\0') || /\p{Cs}/u.test(key)) return;
        const sql = `SELECT entity_type FROM svc.town WHERE entity_id = '${`town:${key}`.replaceAll("'", "''")}'`;
        const isKey = /^-?\d+$/.test(key) && String(BigInt(key)) === key && BigInt.asIntN(64, BigInt(key)) === BigInt(key);
        expect(tables(sql)).toEqual(isKey ? ['towns'] : []);
      },
    ),
    generated(300),
  );
});
