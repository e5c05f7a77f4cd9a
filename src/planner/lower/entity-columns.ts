/** The entity columns of the rows of one mapping (docs/design/paths-and-cardinality.md#entity-columns). */
import { call, cast, clone, coalesce, isNotNull, type Node, nullValue, operator, text } from '../plan/tree.ts';
import type { Branch } from './branch.ts';
import { followsAny, ownerOf } from './calculated/reads.ts';
import { keyedHash } from './masks.ts';

/** The value of `entity_id`; NULL without a primary key. @param actual whether a masked key shows its true value */
export function entityId(branch: Branch, actual = false): Node {
  const key = shownKey(branch, actual);
  const holder = branch.mapped.key?.holder;
  return key && holder ? operator('||', text(`${holder.name}:`), key) : cast(nullValue(), 'text');
}

/** The value of `entity_label`. @param actual whether masked properties show their true values */
export function entityLabel(branch: Branch, actual = false): Node {
  const { mapped, state } = branch;
  const by = actual ? undefined : state.seen;
  const shown = mapped.label.filter((p) => by === undefined || by === by.whole || !followsAny(state, p) || ownerOf(p, mapped, mapped, by));
  const parts = shown.map((p) => cast(branch.property(p, { actual, reader: mapped, by }), 'text'));
  if (parts.length === 0) return shownKey(branch, actual) ?? cast(nullValue(), 'text');
  if (parts.length === 1) return parts[0] as Node;
  const any = isNotNull(coalesce(...parts.map(clone)));
  return { CaseExpr: { args: [{ CaseWhen: { expr: any, result: call('concat_ws', [text(' '), ...parts]) } }] } };
}

/** The values of the primary key as one text; undefined without a primary key. */
function keyOf(branch: Branch): Node | undefined {
  const { key } = branch.mapped;
  if (!key) return undefined;
  const parts = key.properties.map((p) => cast(branch.property(p, { actual: true, reader: branch.mapped }), 'text'));
  if (parts.length === 1) return parts[0];
  return parts
    .map((p) => call('replace', [call('replace', [p, text('%'), text('%25')]), text('|'), text('%7C')]))
    .reduce((a, b) => operator('||', operator('||', a, text('|')), b));
}

/** The key as the caller sees it. If a part of it is masked, it is `~` and a keyed hash. */
function shownKey(branch: Branch, actual: boolean): Node | undefined {
  const key = keyOf(branch);
  const masked = !actual && branch.mapped.key?.properties.some((p) => branch.isMasked(p));
  return key && masked ? operator('||', text('~'), keyedHash(branch.state, key)) : key;
}
