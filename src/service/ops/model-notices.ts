/** What readers of an ontology notice when its model changes: columns that vanish or change their type, examples that stop planning, and policies with another effect. */
import type { Caller } from '../../auth/authenticate.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { quoted } from '../../errors.ts';
import type { Graph } from '../../ontology/graph.ts';
import type { Model } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { concerned } from '../../planner/enforcement/index.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { loadGraph } from '../caller/lookup.ts';
import { mayMakePolicies } from '../caller/policies.ts';
import { visibleExamples } from '../describe/examples.ts';
import type { ServiceRequest } from '../runtime.ts';
import { rulesOf } from '../write/kept-policies.ts';

/** A warning without a position. */
export interface Notice {
  readonly code: 'column_dropped' | 'type_changed' | 'example_invalid' | 'policy_concerned';
  readonly message: string;
}

/** Compares two models of an ontology. @throws SvcError 503 if the catalog cannot be read */
export async function noticesOf(request: ServiceRequest, caller: Caller, row: OntologyRow, after: Graph): Promise<readonly Notice[]> {
  const before = await loadGraph(request.runtime, row);
  return [
    ...columnsDropped(before.model, after.model),
    ...typesChanged(before.model, after.model),
    ...(await examplesBroken(request, caller, row, before, after)),
    ...policiesConcerned(request, caller, row, before, after),
  ];
}

function columnsDropped(before: Model, after: Model): Notice[] {
  const notice = (what: string, name: string, column: string): Notice => ({
    code: 'column_dropped',
    message: `the ${what} ${quoted(name)} no longer has ${quoted(column)}: queries that read it fail`,
  });
  const missing = (old: readonly string[], now: readonly string[]): string[] => {
    const names = new Set(now.map(fold));
    return old.filter((name) => !names.has(fold(name)));
  };
  const byName = <T extends { readonly name: string }>(list: readonly T[]): ReadonlyMap<string, T> => new Map(list.map((o) => [fold(o.name), o]));
  const [concept, view] = [byName(after.concepts), byName(after.views)];
  const concepts = before.concepts.flatMap((c) => {
    const now = concept.get(fold(c.name));
    return now === undefined ? [] : missing([...c.properties, ...c.multi], [...now.properties, ...now.multi]).map((p) => notice('concept', c.name, p));
  });
  const views = before.views.flatMap((v) => {
    const now = view.get(fold(v.name));
    const names = (columns: readonly { readonly name: string }[]): string[] => columns.map((c) => c.name);
    return now === undefined ? [] : missing(names(v.columns), names(now.columns)).map((p) => notice(v.cube ? 'cube' : 'view', v.name, p));
  });
  return [...concepts, ...views];
}

function typesChanged(before: Model, after: Model): Notice[] {
  const types = new Map(after.properties.map((p) => [fold(p.name), p.type]));
  return before.properties.flatMap((p): Notice[] => {
    const now = types.get(fold(p.name));
    if (now === undefined || now === p.type) return [];
    return [{ code: 'type_changed', message: `the property ${quoted(p.name)} changes from ${p.type} to ${now}` }];
  });
}

async function examplesBroken(request: ServiceRequest, caller: Caller, row: OntologyRow, before: Graph, after: Graph): Promise<Notice[]> {
  const valid = (await visibleExamples(request, caller, row, before, row.version)).filter((e) => e.error === null);
  if (valid.length === 0) return [];
  const now = await visibleExamples(request, caller, row, after, null);
  return now
    .filter((e) => e.error !== null && valid.some((v) => v.question === e.question))
    .map((e) => ({ code: 'example_invalid', message: `the query of the example ${quoted(e.question)} stops planning: ${e.error}` }));
}

/** The policies that protect existing rows in another way. Only callers who may make policies know them; others may not make such a change. */
function policiesConcerned({ runtime, spending }: ServiceRequest, caller: Caller, row: OntologyRow, before: Graph, after: Graph): Notice[] {
  if (!mayMakePolicies(caller.principal, row.name)) return [];
  const { parser, config } = runtime;
  const context = { parser, product: config.product, activeDatasource: row.active ?? 'main', allowedFunctions: allowedFunctionsOf(row) };
  const { concepts, masks } = spending.models.run(() => concerned(context, before, after, rulesOf(row.policies)), 0);
  return row.policies
    .filter((p) => (p.kind === 'row' ? concepts.has(fold(p.concept)) : masks.has(fold(p.name))))
    .map((p) => ({ code: 'policy_concerned', message: `the policy ${quoted(p.name)} depends on what changes: check that it still protects what it should` }));
}
