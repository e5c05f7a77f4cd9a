/**
 * What replaces a masked value (docs/design/policies.md#masks). NULL stays NULL, except for WITH, which decides itself; every mask has the property's own type.
 */
import type { Mask } from './access.ts';
import { call, cast, clone, coalesce, integer, isNotNull, type Node, nullValue, operator, text } from './tree.ts';
import type { Work } from './work.ts';

/** A value behind its mask. `sql`: the property's SQL type; `expression`: what WITH stands for, over true values; undefined where it cannot be told. */
export function maskedValue(work: Work, value: Node, mask: Mask, sql: string, expression: () => Node | undefined): Node {
  work.masked = true;
  const nothing = (): Node => cast(nullValue(), sql);
  const isText = sql === 'text';
  switch (mask.kind) {
    case 'null':
      return nothing();
    case 'full':
      return isText ? unlessNull(value, text('****'), sql) : nothing();
    case 'hash':
      return isText ? keyedHash(work, value) : nothing();
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
 * 64 hexadecimal digits that nobody can make from a guess without the deployment's key: SHA-256 of the key and the SHA-256 of key and value (the
 * nesting of HMAC, so that no longer value can be derived). NULL of NULL.
 */
export function keyedHash(work: Work, value: Node): Node {
  work.masked = true;
  const key = (): Node =>
    call('convert_to', [cast({ ParamRef: { number: work.parameter('mask key', work.context.access?.maskKey ?? '') } }, 'text'), text('UTF8')]);
  const inner = call('sha256', [operator('||', key(), call('convert_to', [value, text('UTF8')]))]);
  return call('encode', [call('sha256', [operator('||', key(), inner)]), text('hex')]);
}

/** The first and last characters and the filler for each between; all filler where that would leave nothing hidden. */
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
