/** Prints policies as CREATE statements (for SHOW CREATE), and the parts of them that SYS_POLICIES lists. */
import { quoteBack, quoteLiteral } from './quote.ts';

/** A policy to print, with its SQL as it should appear. */
export interface PrintedPolicy {
  readonly name: string;
  readonly concept: string | null;
  /** null for a row policy. */
  readonly property: string | null;
  readonly isPublic: boolean;
  readonly grantees: readonly { readonly kind: 'user' | 'role'; readonly name: string }[];
  readonly condition: string | null;
  readonly mask: PrintedMask | null;
}
export type PrintedMask =
  | { readonly kind: 'full' | 'hash' | 'null' }
  | { readonly kind: 'partial'; readonly first: number; readonly filler: string; readonly last: number }
  | { readonly kind: 'with'; readonly expression: string };

const grantee = (g: PrintedPolicy['grantees'][number]): string => `${g.kind.toUpperCase()} ${quoteBack(g.name)}`;

// a comment at the end of the SQL must not hide the closing bracket
const bracketed = (sql: string): string => (sql.includes('--') ? `(${sql}\n)` : `(${sql})`);

/** `FULL`, `PARTIAL(2, 'x', 2)`, `WITH (...)` */
export function printMask(mask: PrintedMask): string {
  if (mask.kind === 'partial') return `PARTIAL(${mask.first}, ${quoteLiteral(mask.filler)}, ${mask.last})`;
  return mask.kind === 'with' ? `WITH ${bracketed(mask.expression)}` : mask.kind.toUpperCase();
}

export function printPolicy(p: PrintedPolicy): string {
  const head = `CREATE OR REPLACE POLICY ${quoteBack(p.name)} ON`;
  if (p.mask === null || p.property === null)
    return `${head} CONCEPT ${quoteBack(p.concept ?? '')} TO ${p.isPublic ? 'PUBLIC' : p.grantees.map(grantee).join(', ')} USING ${bracketed(p.condition ?? '')}`;
  return [
    `${head} PROPERTY ${quoteBack(p.property)}`,
    ...(p.concept === null ? [] : [`OF CONCEPT ${quoteBack(p.concept)}`]),
    `MASK ${printMask(p.mask)}`,
    ...(p.grantees.length === 0 ? [] : [`EXCEPT ${p.grantees.map(grantee).join(', ')}`]),
  ].join(' ');
}
