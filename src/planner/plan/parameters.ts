/** The parameters of a planned statement. PostgreSQL refuses values of parameters that the statement does not name. */
import { type Node, walk } from './tree.ts';

/** The parameters of a statement: the values of `$1`, `$2`, ..., and what is known about some of them by their numbers. */
export interface Parameters {
  readonly params: (string | null)[];
  readonly longestRows: Map<number, number>;
}

/**
 * Removes the parameters that a statement does not name, and numbers the others again (all in place). A condition that applies only to statements without barriers may have
 * had one.
 * @param kept the number of parameters that remain in any case: those that the statement was written with
 */
export function dropUnusedParameters(query: unknown, { params, longestRows }: Parameters, kept: number): void {
  if (params.length <= kept) return;
  const named = new Set<Extract<Node, { ParamRef: unknown }>['ParamRef']>();
  walk(query, (n) => {
    if ('ParamRef' in n) named.add(n.ParamRef);
    return undefined;
  });
  const used = new Set([...named].map((p) => p.number));
  const left = params.map((_, i) => i + 1).filter((number) => number <= kept || used.has(number));
  if (left.length === params.length) return;
  const numbers = new Map(left.map((number, i) => [number, i + 1] as const));
  for (const ref of named) ref.number = numbers.get(ref.number ?? 0) ?? 0;
  const rows = [...longestRows].flatMap(([number, longest]) => {
    const now = numbers.get(number);
    return now === undefined ? [] : [[now, longest] as const];
  });
  longestRows.clear();
  for (const [number, longest] of rows) longestRows.set(number, longest);
  const values = left.map((number) => params[number - 1] as string | null);
  params.splice(0, params.length, ...values);
}
