/** Finds stored texts that a change of `allowed_functions` makes invalid. */
import { readExamples } from '../../catalog/examples.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { quoted } from '../../errors.ts';
import type { Model } from '../../ontology/model.ts';
import { allowedFunctionsOf, ownFunctions } from '../../planner/read/own-functions.ts';
import type { Runtime } from '../runtime.ts';

/** A warning of ALTER ONTOLOGY ... SET allowed_functions. */
export interface BrokenText {
  readonly code: 'function_not_allowed';
  readonly message: string;
  readonly offset?: undefined;
}

/** A description of the text, and a SELECT that contains it. */
type Stored = readonly [what: string, sql: string];

/**
 * Returns warnings about texts of an ontology that call a function that is not allowed. Statements that read them fail with 400 `forbidden_function`.
 * @param row with the new policies and allowed functions
 * @throws SvcError 503
 */
export async function brokenTexts(runtime: Runtime, row: OntologyRow, model: Model): Promise<readonly BrokenText[]> {
  const allowed = allowedFunctionsOf(row);
  const examples = await readExamples(runtime.db, row.id);
  const texts: readonly Stored[] = [...modelTexts(model), ...policyTexts(row), ...examples.map((e): Stored => [`example ${quoted(e.question)}`, e.query])];
  return texts.flatMap(([what, sql]) => {
    const broken = ownFunctions(runtime.parser, sql).filter((name) => !allowed.has(name));
    if (broken.length === 0) return [];
    const message = `the ${what} calls ${broken.map(quoted).join(', ')}, which ${broken.length === 1 ? 'is' : 'are'} not allowed`;
    return [{ code: 'function_not_allowed', message }];
  });
}

const expression = (sql: string): string => `SELECT ${sql}`;

function modelTexts({ views, properties, measures, mappings, concepts }: Model): readonly Stored[] {
  return [
    ...views.map((v): Stored => [`${v.cube ? 'cube' : 'view'} ${quoted(v.name)}`, v.sql]),
    ...properties.flatMap((p): readonly Stored[] => (p.expression === null ? [] : [[`property ${quoted(p.name)}`, expression(p.expression)]])),
    ...measures.map((m): Stored => [`measure ${quoted(m.name)}`, expression(m.filter === null ? m.expression : `${m.expression}, ${m.filter}`)]),
    ...mappings.map((m): Stored => [`mapping ${quoted(m.name)}`, m.sql]),
    ...concepts.flatMap((c): readonly Stored[] => (c.logic === null ? [] : [[`logic concept ${quoted(c.name)}`, expression(c.logic.condition)]])),
  ];
}

function policyTexts({ policies }: OntologyRow): readonly Stored[] {
  return policies.flatMap((p): readonly Stored[] => {
    const sql = p.kind === 'row' ? p.condition : p.mask.kind === 'with' ? p.mask.expression : null;
    return sql === null ? [] : [[`policy ${quoted(p.name)}`, expression(sql)]];
  });
}
