import { describe, expect, it } from 'vitest';
import { mapped } from '../../../../src/planner/plan/mapped.ts';
import { call, column, type Node } from '../../../../src/planner/plan/tree.ts';

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(Object.freeze(value))) frozen(inner);
  return value;
}

describe('mapped', () => {
  it('returns the same tree if nothing is replaced', () => {
    const tree = frozen(call('lower', [column('a', 'b')]));
    expect(mapped(tree, () => undefined)).toBe(tree);
  });

  it('copies only the way to what is replaced, and does not look into it', () => {
    const tree = frozen([call('lower', [column('a')]), call('upper', [column('b')])]);
    const seen: Node[] = [];
    const made = mapped(tree, (node) => {
      seen.push(node);
      return 'FuncCall' in node && node === tree[1] ? column('c') : undefined;
    }) as Node[];
    expect(made).toEqual([call('lower', [column('a')]), column('c')]);
    expect(made[0]).toBe(tree[0]);
    expect(seen).not.toContainEqual(column('b'));
  });
});
