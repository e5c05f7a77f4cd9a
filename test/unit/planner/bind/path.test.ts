import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../../src/errors.ts';
import type { Concept } from '../../../../src/ontology/graph.ts';
import { isPath, MAX_DEPTH, parsePath } from '../../../../src/planner/bind/path.ts';
import { isToMany } from '../../../../src/planner/plan/hop.ts';
import { generated } from '../../../support/generated.ts';
import { graph } from '../company.ts';

const concept = (name: string): Concept => graph.concept(name) as Concept;

/** The hops of a path as `relationship>rows/columns*depth ...`, and its last part. */
function read(from: string, path: string): string {
  const { hops, kind, name } = parsePath(concept(from), path);
  const hop = (h: (typeof hops)[number]): string =>
    `${h.relationship.name}>${h.rows.name}${h.columns === h.rows ? '' : `/${h.columns.name}`}${h.depth === null ? '' : `*${h.depth}`}${isToMany(h) ? '+' : ''}`;
  return `${hops.map(hop).join(' ')} ${kind} ${name}`;
}

describe('a path', () => {
  it.each([
    // forms
    ['employee', 'works_for[firm].name', 'works_for>firm column name'],
    ['employee', 'works_for[firm].located[town].name', 'works_for>firm located>town column name'],
    ['employee', 'works_for[firm].*', 'works_for>firm star *'],
    ['employee', 'knows[person]_since', 'knows>person+ link since'],
    ['employee', 'knows[person].entity_label', 'knows>person+ column entity_label'],
    // case-insensitive
    ['employee', 'WORKS_FOR[Firm].Name', 'works_for>firm column Name'],
    // inverses: with a name, with the mark, without a name
    ['firm', 'employs[employee].name', 'employs>employee+ column name'],
    ['town', 'houses[party].name', 'houses>party+ column name'],
    ['employee', '~mentors[employee].name', '~mentors>employee+ column name'],
    ['firm', '~works_for[employee].name', 'employs>employee+ column name'],
    // in the bracket: the target, a descendant, an ancestor
    ['town', 'houses[firm].code', 'houses>firm+ column code'],
    ['employee', 'works_for[party].name', 'works_for>firm/party column name'],
    ['employee', 'knows[employee].salary', 'knows>employee+ column salary'],
    // inherited relationships
    ['employee', 'located[town].name', 'located>town column name'],
    ['rich', 'works_for[firm].name', 'works_for>firm column name'],
    // walks
    ['employee', 'reports_to[employee*2].name', 'reports_to>employee*2+ column name'],
    ['employee', 'reports_to[employee*].name', 'reports_to>employee*3+ column name'],
    ['employee', 'knows[person*].name', 'knows>person*2+ column name'],
    ['employee', 'knows[person*5]_transitivity_level', 'knows>person*5+ level transitivity_level'],
    ['employee', `reports_to[employee*${MAX_DEPTH}].name`, `reports_to>employee*${MAX_DEPTH}+ column name`],
    ['employee', 'reports_to[employee].name', 'reports_to>employee column name'],
    // names that contain the marks of paths
    ['employee', 'works_for[firm].a.b', 'works_for>firm column a.b'],
    ['employee', 'knows[person]_a_b', 'knows>person+ link a_b'],
  ])('from %s: %s', (from, path, expected) => expect(read(from, path)).toBe(expected));

  it('has brackets', () => {
    expect(['a', 'a.b', '_type_of_x', 'a[b].c', 'a]', '['].map(isPath)).toEqual([false, false, false, true, true, true]);
  });
});

function fault(from: string, path: string): string {
  try {
    return `read: ${read(from, path)}`;
  } catch (e) {
    if (!(e instanceof SvcError) || e.status !== 400) throw e;
    return `${e.code}: ${e.message}`;
  }
}

describe('an invalid path', () => {
  it.each([
    ['employee', '[firm].name', 'bad_path: malformed path `[firm].name`'],
    ['employee', 'works_for[firm.name', 'bad_path: malformed path `works_for[firm.name`'],
    ['employee', 'works_for[firm].name]', 'bad_path: malformed path `works_for[firm].name]`'],
    ['employee', 'works_for[fi[rm].name', 'bad_path: malformed path `works_for[fi[rm].name`'],
    ['employee', 'works_for[firm]', 'bad_path: the path `works_for[firm]` does not name a property'],
    ['employee', 'works_for[firm].', 'bad_path: the path `works_for[firm].` does not name a property'],
    ['employee', 'works_for[firm]name', 'bad_path: the path `works_for[firm]name` does not name a property'],
    ['employee', 'work_for[firm].name', 'unknown_relationship: unknown relationship `work_for` of concept `employee`; did you mean `works_for`?'],
    ['person', 'works_for[firm].name', 'unknown_relationship: unknown relationship `works_for` of concept `person`'],
    ['employee', 'works_for[frim].name', 'unknown_concept: unknown concept `frim` in the path `works_for[frim].name`; did you mean `firm`?'],
    ['employee', 'works_for[town].name', 'bad_path: relationship `works_for` of concept `employee` leads to `firm`, not to `town`'],
    ['employee', 'works_for[person].name', 'bad_path: relationship `works_for` of concept `employee` leads to `firm`, not to `person`'],
    ['employee', 'works_for[firm*2].name', 'bad_path: relationship `works_for` in the path `works_for[firm*2].name` is not TRANSITIVE'],
    ['employee', 'reports_to[employee*0].name', 'bad_depth: the depth in the path `reports_to[employee*0].name` is not between 1 and 32'],
    ['employee', 'reports_to[employee*33].name', 'bad_depth: the depth in the path `reports_to[employee*33].name` is not between 1 and 32'],
    ['employee', 'reports_to[employee*99999999999999999999].name', expect.stringMatching(/^bad_depth: /)],
    ['employee', 'reports_to[employee*x].name', 'bad_depth: `employee*x` in the path `reports_to[employee*x].name` is not a depth'],
    ['employee', 'knows[person*2]_since', 'bad_path: the transitive path `knows[person*2]_since` has no link columns'],
    ['employee', 'works_for[firm].reports_to[employee].name', 'unknown_relationship: unknown relationship `reports_to` of concept `firm`'],
    // after an ancestor only names of the ancestor
    ['employee', 'works_for[party].works_for[firm].name', 'unknown_relationship: unknown relationship `works_for` of concept `party`'],
  ])('from %s: %s', (from, path, expected) => expect(fault(from, path)).toEqual(expected));

  it('always ends in an error of the caller', () => {
    const piece = fc.constantFrom('works_for', 'reports_to', 'firm', 'employee', 'party', 'name', '[', ']', '.', '_', '*', '2', '0', '~', ' ', '\u00e9', '');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const path = pieces.join('');
        if (!isPath(path)) return;
        const error = fault('employee', path);
        expect(error).toMatch(/^(read|bad_path|bad_depth|unknown_relationship|unknown_concept): /);
      }),
      generated(2000),
    );
  });
});

describe('paths of several hops', () => {
  /** A walk over the model's relationships from employee, hop by hop. */
  const walk = fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 5 }).map((choices) => {
    let at = concept('employee');
    const texts: string[] = [];
    const names: string[] = [];
    for (const [i, j] of choices) {
      const r = at.relationships[i % at.relationships.length];
      if (!r) break;
      const below = graph.concepts.filter((c) => c.isA(r.target));
      const target = below[j % below.length] as Concept;
      names.push(`${r.name}>${target.name}`);
      texts.push(`${r.name}[${target.name}]`);
      at = target;
    }
    return { path: `${texts.join('.')}.entity_id`, names };
  });

  it('are read hop by hop', () => {
    fc.assert(
      fc.property(walk, ({ path, names }) => {
        const { hops, kind, name } = parsePath(concept('employee'), path);
        expect([hops.map((h) => `${h.relationship.name}>${h.rows.name}`), kind, name]).toEqual([names, 'column', 'entity_id']);
        expect(hops.map((h) => h.label).join('.')).toBe(path.slice(0, -'.entity_id'.length));
      }),
      generated(),
    );
  });
});
