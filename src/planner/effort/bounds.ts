/** The largest values of numbers in expressions, on which the lengths of results depend. */
import type { Node } from '../plan/tree.ts';
import { DIGITS, POWERS } from './functions.ts';
import { boundOf, TABLE_NUMBER } from './numbers.ts';
import { rowsOfAggregate, type Scope, sizeOfColumn } from './scope.ts';
import type { Size } from './sizes.ts';

/** An array of numbers with the largest value for each. */
const boundedItems = (node: Node, bound: (node: Node) => Node): Node =>
  'A_ArrayExpr' in node ? { A_ArrayExpr: { elements: (node.A_ArrayExpr.elements ?? []).map(bound) } } : node;

/** Finds the largest values of numbers. */
export class Bounds {
  readonly #params: readonly (string | null)[];
  /** Measures an expression again, without counting it. */
  readonly #measure: (node: Node, scope: Scope) => Size;
  /** The sizes of the arguments of calls. Measuring those of nested calls again would double the work on each level. */
  readonly #arguments = new Map<Node, { readonly scope: Scope; readonly size: Size }>();

  constructor(params: readonly (string | null)[], measure: (node: Node, scope: Scope) => Size) {
    this.#params = params;
    this.#measure = measure;
  }

  /** Notes the size of an argument of a call. */
  note(argument: Node, scope: Scope, size: Size): void {
    this.#arguments.set(argument, { scope, size });
  }

  /** The size of an expression that was measured before, as a part of another one. */
  again(node: Node, scope: Scope): Size {
    const known = this.#arguments.get(node);
    return known?.scope === scope ? known.size : this.#measure(node, scope);
  }

  /** The arguments of a function, with the largest value for a number on which the length of its result depends. */
  bounded(name: string, args: readonly Node[], sizes: readonly Size[], scope: Scope, isConstant: boolean): readonly Node[] {
    if (name === 'array_fill' && isConstant) return args.map((a) => boundedItems(a, (n) => this.bound(n, scope)));
    if (!DIGITS.has(name)) return args;
    const at = name === 'exp' || name === 'factorial' ? 0 : 1;
    return args.map((a, i) => (i === at ? this.bound(a, scope, POWERS.has(name) ? sizes[i] : undefined) : a));
  }

  /** The largest value of a number as a constant; the number itself if it is not known. With a size that has values of a table, those count as 1. */
  bound(node: Node, scope: Scope, size?: Size): Node {
    const bound = this.of(node, scope, size && size.data > 0 ? 1 : TABLE_NUMBER);
    return bound === undefined ? node : { A_Const: { ival: { ival: Math.ceil(bound) } } };
  }

  /** The largest value of a number; undefined if it is not known. @param ofTable that of a value of a table */
  of(node: Node | undefined, scope: Scope, ofTable = TABLE_NUMBER): number | undefined {
    return boundOf(node, {
      sizeOf: (n) => this.again(n, scope),
      rowsOf: (args) => rowsOfAggregate(args, scope),
      numberOf: (reference) => sizeOfColumn(reference, scope).copies.number,
      params: this.#params,
      ofTable,
    });
  }
}
