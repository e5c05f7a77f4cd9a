/** The texts of String nodes. */
import { describe, expect, it } from 'vitest';
import { lastName, type Node, nameOf, namesOf } from '../../../src/planner/plan/tree.ts';

const A: Node = { String: { sval: 'pg_catalog' } };
const B: Node = { String: { sval: 'sum' } };
const STAR: Node = { A_Star: {} };

describe('names of nodes', () => {
  it('nameOf returns the text of a String node only', () =>
    expect([nameOf(A), nameOf({ String: {} }), nameOf(STAR), nameOf(undefined)]).toEqual(['pg_catalog', '', undefined, undefined]));
  it('namesOf has an empty text for other nodes', () => expect([namesOf([A, STAR, B]), namesOf(undefined)]).toEqual([['pg_catalog', '', 'sum'], []]));
  it('lastName is the name without its schema', () =>
    expect([lastName([A, B]), lastName([A, STAR]), lastName([]), lastName(undefined)]).toEqual(['sum', '', '', '']));
});
