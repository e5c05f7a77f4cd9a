/** CREATE POLICY (docs/design/policies.md#where-policies-are-kept): row policies on concepts and masks on properties. */
import { badRequest } from '../../errors.ts';
import type { CreatePolicy, MaskClause, PolicyGrantee } from '../statements.ts';
import { name } from './clauses.ts';
import type { Cursor } from './cursor.ts';

/** The maximum number of characters that a mask of kind PARTIAL keeps at each end. */
const MAX_KEPT = 1000;

/** `n ON CONCEPT c TO ... USING (...)`, `n ON PROPERTY p [OF CONCEPT c] MASK ... [EXCEPT ...]` */
export function createPolicy(c: Cursor, replace: boolean): CreatePolicy {
  const policy = name(c, 'the name of the policy');
  c.expect('ON');
  const rule = c.accept('CONCEPT') ? rowRule(c) : maskRule(c);
  c.end();
  return { kind: 'create_policy', source: c.source, replace, name: policy, rule };
}

/** `c TO {ROLE r|USER u|PUBLIC} USING (cond)` */
function rowRule(c: Cursor): CreatePolicy['rule'] {
  const concept = name(c, 'the name of a concept');
  c.expect('TO');
  const to = c.accept('PUBLIC') ? null : grantee(c);
  c.expect('USING');
  return { kind: 'row', concept, to, condition: bracketed(c, 'a condition') };
}

/** `p [OF CONCEPT c] MASK mask [EXCEPT {ROLE r|USER u}, ...]` */
function maskRule(c: Cursor): CreatePolicy['rule'] {
  c.expect('PROPERTY');
  const property = name(c, 'the name of a property');
  let concept = null;
  if (c.accept('OF')) {
    c.expect('CONCEPT');
    concept = name(c, 'the name of a concept');
  }
  c.expect('MASK');
  const mask = maskClause(c);
  const except: PolicyGrantee[] = [];
  if (c.accept('EXCEPT')) {
    do except.push(grantee(c));
    while (c.acceptMark(','));
  }
  return { kind: 'mask', property, concept, mask, except };
}

function maskClause(c: Cursor): MaskClause {
  const offset = c.offset();
  for (const [keyword, kind] of [
    ['FULL', 'full'],
    ['HASH', 'hash'],
    ['NULL', 'null'],
  ] as const)
    if (c.accept(keyword)) return { kind, offset };
  if (c.accept('PARTIAL')) return partial(c, offset);
  c.expect('WITH');
  return { kind: 'with', offset, expression: bracketed(c, 'an expression') };
}

/** `(first, 'x', last)` */
function partial(c: Cursor, offset: number): MaskClause {
  c.expectMark('(');
  const first = kept(c);
  c.expectMark(',');
  const filler = c.string('one character in single quotes');
  if ([...filler.text].length !== 1) throw badRequest('bad_mask', 'PARTIAL replaces each hidden character by one character', { offset: filler.offset });
  c.expectMark(',');
  const last = kept(c);
  c.expectMark(')');
  return { kind: 'partial', offset, first, filler: filler.text, last };
}

/** Reads a number of characters to keep. */
function kept(c: Cursor): number {
  const { text, offset } = c.number('a number of characters');
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number <= MAX_KEPT)) throw badRequest('bad_mask', `PARTIAL keeps 0 to ${MAX_KEPT} characters at each end`, { offset });
  return number;
}

/** `{ROLE r|USER u}` */
function grantee(c: Cursor): PolicyGrantee {
  const kind = c.accept('ROLE') ? 'role' : c.accept('USER') ? 'user' : undefined;
  if (kind === undefined) throw c.unexpected();
  return { kind, name: name(c, `the name of a ${kind}`) };
}

/** Reads `( ... )`. Returns the text between the brackets, verbatim. */
function bracketed(c: Cursor, what: string) {
  c.expectMark('(');
  const sql = c.until(what, (token) => token.kind === 'punct' && token.value === ')');
  c.expectMark(')');
  return sql;
}
