/**
 * Masked values (docs/design/policies.md#masks). NULL remains NULL, except with WITH, whose expression decides. A masked value has the type of the property.
 */
import { parseType } from '../../ontology/types.ts';
import { givesAlways } from '../facts/result.ts';
import {
  call,
  cast,
  clone,
  coalesce,
  column,
  fieldsOf,
  integer,
  isNotNull,
  type Node,
  nullValue,
  OFFSET_ZERO,
  operator,
  rewrite,
  select,
  subselect,
  target,
  text,
  walk,
} from '../plan/tree.ts';
import type { PlanState } from '../plan-state.ts';
import type { Mask, MaskRule } from '../secure/access.ts';

/**
 * Applies a mask to a value. `sql` is the property's SQL type. `expression` makes the expression of a WITH mask over unmasked values; if it returns undefined,
 * the masked value is NULL.
 */
export function maskedValue(state: PlanState, value: Node, mask: Mask, sql: string, expression: () => Node | undefined): Node {
  state.facts.isMasked = true;
  const nothing = (): Node => cast(nullValue(), sql);
  const isText = sql === 'text';
  switch (mask.kind) {
    case 'null':
      return nothing();
    case 'full':
      return isText ? unlessNull(value, text('****'), sql) : nothing();
    case 'hash':
      return isText ? keyedHash(state, value) : nothing();
    case 'partial':
      return isText ? unlessNull(value, partial(value, mask), sql) : nothing();
    case 'with': {
      const made = expression();
      return made ? cast(made, sql) : nothing();
    }
  }
}

const unlessNull = (value: Node, masked: Node, sql: string): Node =>
  cast({ CaseExpr: { args: [{ CaseWhen: { expr: isNotNull(clone(value)), result: masked } }] } }, sql);

/**
 * A hash of 64 hexadecimal digits that cannot be computed from a guessed value without the deployment's key: SHA-256 of the key and the SHA-256 of key and
 * value. The nesting is that of HMAC, which prevents length extension. The hash of NULL is NULL.
 */
export function keyedHash(state: PlanState, value: Node): Node {
  state.facts.isMasked = true;
  const key = (): Node =>
    call('convert_to', [cast({ ParamRef: { number: state.parameter('mask key', state.context.access?.maskKey ?? '') } }, 'text'), text('UTF8')]);
  const inner = call('sha256', [operator('||', key(), call('convert_to', [value, text('UTF8')]))]);
  return call('encode', [call('sha256', [operator('||', key(), inner)]), text('hex')]);
}

/**
 * The first and last characters, with the filler for each character between them. A value that is too short to hide anything is replaced by the filler
 * completely.
 */
function partial(value: Node, { first, filler, last }: Extract<Mask, { kind: 'partial' }>): Node {
  const kept = first + last;
  const length = (): Node => call('char_length', [clone(value)]);
  const fill = (n: Node): Node => call('repeat', [text(filler), n]);
  const shown = [
    call('left', [clone(value), integer(String(first))]),
    fill(operator('-', length(), integer(String(kept)))),
    call('right', [clone(value), integer(String(last))]),
  ];
  const joined = shown.reduce((a, b) => operator('||', a, b));
  return coalesce({ CaseExpr: { args: [{ CaseWhen: { expr: operator('>', length(), integer(String(kept))), result: joined } }], defresult: fill(length()) } });
}

/** The number of nodes of a value that may be repeated. */
const SMALL = 24;

/**
 * What `make` makes of a value. If it names a large value several times, a sub-select computes the value once: else each calculated property over another masked one
 * multiplies the length of the statement. OFFSET 0 keeps PostgreSQL from copying the value too.
 */
export function once(state: PlanState, value: () => Node, make: (value: () => Node) => Node): Node {
  const alias = state.alias();
  const made = make(() => column(alias, 'v'));
  const isValue = (n: Node): boolean => 'ColumnRef' in n && fieldsOf(n.ColumnRef)[0] === alias;
  const size = (tree: Node, counts: (n: Node) => boolean = () => true): number => {
    let n = 0;
    walk(tree, (node) => {
      if (counts(node)) n++;
      return undefined;
    });
    return n;
  };
  const uses = size(made, isValue);
  if (uses === 0) return made;
  const inner = value();
  if (uses === 1 || size(inner) <= SMALL) return rewrite(made, (n) => (isValue(n) ? clone(inner) : undefined)) as Node;
  const fromClause = [subselect(select({ targetList: [target(inner, 'v')], ...OFFSET_ZERO }), alias)];
  return { SubLink: { subLinkType: 'EXPR_SUBLINK', subselect: { SelectStmt: select({ targetList: [target(made)], fromClause }) } } };
}

/** Applies the mask of a property to a value that is not read with the other columns of its concept. A WITH mask that reads other properties gives NULL. */
export function maskStandalone(state: PlanState, value: Node, property: string, rule: MaskRule | undefined): Node {
  const def = state.graph.property(property);
  if (!rule || !def || state.position.isTrusted) return value;
  const type = parseType(def.type).sql;
  const { mask } = rule;
  if (mask.kind === 'with') {
    state.facts.mayQuote = true;
    state.facts.mayRaise ||= !givesAlways(state.graph, state.texts.sharedExpression(mask, mask.expression), type);
  }
  return maskedValue(state, cast(value, type), mask, type, () => {
    if (mask.kind !== 'with') return undefined;
    let readsOnlyItself = true;
    const made = rewrite(state.texts.plainExpression(mask, mask.expression), (n) => {
      if (!('ColumnRef' in n)) return undefined;
      if (fieldsOf(n.ColumnRef).at(-1)?.toLowerCase() !== def.name.toLowerCase()) readsOnlyItself = false;
      return cast(clone(value), type);
    }) as Node;
    return readsOnlyItself ? made : undefined;
  });
}
