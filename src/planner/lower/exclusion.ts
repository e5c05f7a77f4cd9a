/** Proves that no row meets two conditions, from their texts: tests of one column with constants. */
import { visited } from '../../budget.ts';
import { isSame, lastName, type Node } from '../plan/tree.ts';

/** A test of a column. `constants` are constants other than NULL, in the order of the text. */
export interface Test {
  readonly column: Node;
  readonly kind: 'in' | 'not in' | 'null' | 'not null' | 'true' | 'false' | '<' | '<=' | '>' | '>=';
  readonly constants: readonly Node[];
}

const NEGATED: Readonly<Record<string, Test['kind']>> = {
  null: 'not null',
  'not null': 'null',
  true: 'false',
  false: 'true',
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
};
const EXCHANGED: Readonly<Record<string, string>> = { '=': '=', '<>': '<>', '<': '>', '>': '<', '<=': '>=', '>=': '<=' };

/** A condition as a test of a column; undefined if it is anything else. */
export function testOf(condition: Node): Test | undefined {
  if ('ColumnRef' in condition) return { column: condition, kind: 'true', constants: [] };
  if ('BoolExpr' in condition) {
    const { boolop, args = [] } = condition.BoolExpr;
    const [arg] = args;
    return boolop === 'NOT_EXPR' && arg !== undefined && 'ColumnRef' in arg ? { column: arg, kind: 'false', constants: [] } : undefined;
  }
  if ('NullTest' in condition) {
    const { arg, nulltesttype } = condition.NullTest;
    return arg !== undefined && 'ColumnRef' in arg ? { column: arg, kind: nulltesttype === 'IS_NULL' ? 'null' : 'not null', constants: [] } : undefined;
  }
  return 'A_Expr' in condition ? comparisonOf(condition.A_Expr) : undefined;
}

function comparisonOf({ kind, name, lexpr, rexpr }: Extract<Node, { A_Expr: unknown }>['A_Expr']): Test | undefined {
  if (lexpr === undefined || rexpr === undefined || name?.length !== 1) return undefined;
  const written = lastName(name) === '!=' ? '<>' : lastName(name);
  if (kind === 'AEXPR_IN') {
    const constants = 'List' in rexpr ? (rexpr.List.items ?? []) : [];
    return 'ColumnRef' in lexpr && constants.every(isValue) ? { column: lexpr, kind: written === '=' ? 'in' : 'not in', constants } : undefined;
  }
  if (kind !== 'AEXPR_OP' || !(written in EXCHANGED)) return undefined;
  const turned = 'ColumnRef' in rexpr;
  const [column, constant] = turned ? [rexpr, lexpr] : [lexpr, rexpr];
  if (!('ColumnRef' in column) || !isValue(constant)) return undefined;
  const operator = turned ? (EXCHANGED[written] as string) : written;
  const test = operator === '=' ? 'in' : operator === '<>' ? 'not in' : (operator as Test['kind']);
  return { column, kind: test, constants: [constant] };
}

/** True for a text or integer constant that is not NULL. */
const isValue = (node: Node): boolean => 'A_Const' in node && (node.A_Const.sval !== undefined || node.A_Const.ival !== undefined);

/**
 * True if no row meets both tests. `comparesTexts`: the column has a text type and no collation of its own.
 */
export function excludes(a: Test, b: Test, comparesTexts: (column: Node) => boolean): boolean {
  if (!isSame(a.column, b.column)) return false;
  // a text decides how many constants are compared
  visited(a.constants.length * b.constants.length);
  if (a.kind === 'null' || b.kind === 'null') return a.kind !== b.kind;
  if (a.kind === 'in' && b.kind === 'in') {
    let known: boolean | undefined;
    const isText = (): boolean => {
      known ??= comparesTexts(a.column);
      return known;
    };
    return a.constants.every((k) => b.constants.every((l) => differ(k, l, isText)));
  }
  if (a.kind === 'in' && b.kind === 'not in') return isWithin(a.constants, b.constants);
  if (a.kind === 'not in' && b.kind === 'in') return isWithin(b.constants, a.constants);
  return NEGATED[a.kind] === b.kind && isWithin(a.constants, b.constants);
}

/** True if all constants are among others. */
const isWithin = (some: readonly Node[], all: readonly Node[]): boolean => some.every((k) => all.some((l) => isSame(k, l)));

/** True if two constants are different values of one column. */
function differ(a: Node, b: Node, comparesTexts: () => boolean): boolean {
  if (!('A_Const' in a && 'A_Const' in b)) return false;
  const [x, y] = [a.A_Const, b.A_Const];
  // ival of 0 is an empty object
  if (x.ival !== undefined && y.ival !== undefined) return (x.ival.ival ?? 0) !== (y.ival.ival ?? 0);
  if (x.sval === undefined || y.sval === undefined || !comparesTexts()) return false;
  const [one, other] = [x.sval.sval ?? '', y.sval.sval ?? ''];
  return isAscii(one) && isAscii(other) && letters(one) !== letters(other);
}

const isAscii = (text: string): boolean => /^[ -~]*$/.test(text);

/**
 * The letters and digits of a text, without case. Texts in ASCII that differ in them are different in all collations, also in those that ignore case or punctuation: the
 * collation of a column may be unknown.
 */
const letters = (text: string): string => text.toUpperCase().replace(/[^A-Z0-9]/g, '');

/** True if a row whose column is not NULL meets one of two tests. */
export const complements = (a: Test, b: Test): boolean =>
  (a.kind === 'in' && b.kind === 'not in' && isWithin(b.constants, a.constants)) ||
  (a.kind === 'not in' && b.kind === 'in' && isWithin(a.constants, b.constants)) ||
  (NEGATED[a.kind] === b.kind && a.kind !== 'null' && b.kind !== 'null' && isWithin(a.constants, b.constants));
