/**
 * SYS_RESTRICTIONS: the row policies and masks that limit what the caller itself reads, on concepts and properties that it sees. Their texts are shown only to callers
 * who see the whole ontology, as in SYS_POLICIES.
 */
import { canAll } from '../../auth/grants.ts';
import { printMask } from '../../language/print-policy.ts';
import { accessOf } from '../caller/policies.ts';
import type { Source } from './system-source.ts';

type Line = readonly [concept: string | null, property: string | null, kind: string, rule: string | null];

/** A row for each concept whose rows policies filter (`rule`: the condition of the rows that the caller sees), and for each mask (`rule`: the mask, or its kind). */
function linesOf({ context, graph, print }: Source): readonly Line[] {
  const { caller, ontology } = context;
  const access = ontology && accessOf(caller, ontology);
  if (ontology === undefined || access === undefined) return [];
  const seesTexts = canAll(caller.principal, 'access', ['ontology', ontology.name]);
  const rows = access.rows.flatMap(({ concept, conditions }): Line[] => {
    const seen = graph.concept(concept);
    if (seen === undefined) return [];
    const texts = conditions.map((c) => print(c.condition, 'expression'));
    const rule = texts.length === 0 ? 'false' : seesTexts ? (texts.length === 1 ? texts : texts.map((t) => `(${t})`)).join(' OR ') : null;
    return [[seen.name, null, 'rows', rule]];
  });
  const masks = access.masks.flatMap(({ property, concept, mask }): Line[] => {
    const [seen, of] = [graph.property(property), concept === null ? null : graph.concept(concept)];
    if (seen === undefined || of === undefined) return [];
    const printed = mask.kind === 'with' ? { ...mask, expression: print(mask.expression, 'expression') } : mask;
    return [[of?.name ?? null, seen.name, 'mask', seesTexts ? printMask(printed) : mask.kind.toUpperCase()]];
  });
  return [...rows, ...masks];
}

export const RESTRICTIONS = { columns: 'concept, property, kind, rule', rows: linesOf };
