/**
 * CREATE POLICY and DROP POLICY (docs/design/policies.md#where-policies-are-kept). Policies are not part of a version, but they are checked against the model at
 * that point of the script.
 */
import { stepsOfStored, visited } from '../../budget.ts';
import type { Found } from '../../catalog/changes.ts';
import type { PolicyGranteeRow, PolicyRow, StoredMask } from '../../catalog/policies.ts';
import * as catalog from '../../catalog/policies.ts';
import { badRequest } from '../../errors.ts';
import { createSqlReader } from '../../language/expressions.ts';
import type { CreatePolicy, DropPolicy, MaskClause, Name, PolicyGrantee, SqlText } from '../../language/statements.ts';
import type { Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { unknownInStatement } from '../caller/lookup.ts';
import { requirePolicyRight } from '../caller/policies.ts';
import { type Changing, type Done, done, exists } from './changing.ts';
import type { Draft } from './draft.ts';
import type { Kinds } from './kinds.ts';
import { checkPolicy, type PolicyPlaces } from './policy-check.ts';
import { requireRoomForOntology, withPolicy } from './snapshot-room.ts';

/** @throws SvcError 400 `no_ontology` */
function draftOf(ctx: Changing, offset: number): Draft {
  const { draft } = ctx.session;
  if (draft !== undefined) return draft;
  throw badRequest('no_ontology', 'A policy belongs to an ontology, but the request names none', {
    offset,
    hint: 'Send the name of the ontology in ontology_name',
  });
}

/** @throws SvcError 400 `unknown_*`, `exists`, `bad_mask`, or an error in its SQL; 403 without the required right */
async function createPolicy(ctx: Changing, statement: CreatePolicy): Promise<Done> {
  const { name, rule, replace, ifNotExists, source } = statement;
  const draft = draftOf(ctx, source.offset);
  const { row } = draft;
  requirePolicyRight(ctx.principal, row.name, source.offset);
  const old = policyOf(row.policies, name);
  if (old !== undefined && ifNotExists) return done([], { policy: old.name, kind: old.kind, ontology: row.name });
  if (old !== undefined && !replace) throw exists('policy', name);
  const graph = await draft.graph();
  draft.within(() => visited(stepsOfStored(source.text.length)), source.offset);
  const named = rule.kind === 'row' ? (rule.to === null ? [] : [rule.to]) : rule.except;
  const grantees = await Promise.all(named.map((g) => granteeOf(ctx, g)));
  const policy = rowOf(ctx, graph, statement, old?.name ?? name.text, grantees);
  draft.within(() => checkPolicy(draft.planContext(), graph, policy, placesOf(rule)), source.offset);
  const calls = catalog.createPolicy(
    { ontologyId: row.id, version: draft.version, generation: row.policyGeneration },
    policy,
    ctx.principal.name,
    old !== undefined,
  );
  const policies = withPolicy(row.policies, old, policy);
  requireRoomForOntology(ctx.caller.snapshot.ontologies, { ...row, policies }, source.offset);
  draft.withPolicies(policies);
  return done(calls, { policy: policy.name, kind: policy.kind, ontology: row.name });
}

/** @throws SvcError 400 `unknown_policy`; 403 without the required right */
async function dropPolicy(ctx: Changing, { name, source }: DropPolicy): Promise<Done> {
  const draft = draftOf(ctx, source.offset);
  const { row } = draft;
  requirePolicyRight(ctx.principal, row.name, source.offset);
  const old = policyOf(row.policies, name);
  if (old === undefined) {
    throw unknownInStatement(
      'policy',
      name,
      row.policies.map((p) => p.name),
    );
  }
  draft.withPolicies(
    row.policies.filter((p) => p !== old),
    row.policyGeneration,
  );
  return done(catalog.dropPolicy(row.id, old.name), { policy: old.name, dropped: true });
}

function policyOf(policies: readonly PolicyRow[], name: Name): PolicyRow | undefined {
  const key = fold(name.text);
  return policies.find((p) => p.key === key);
}

async function granteeOf(ctx: Changing, { kind, name }: PolicyGrantee): Promise<PolicyGranteeRow> {
  const found: Found = kind === 'user' ? await ctx.user(name) : await ctx.role(name);
  return { kind, id: found.id, name: found.name };
}

/** Returns the policy as it is stored: names as declared, SQL with neutral names. */
function rowOf(ctx: Changing, graph: Graph, { rule }: CreatePolicy, name: string, grantees: readonly PolicyGranteeRow[]): PolicyRow {
  const { runtime } = ctx.session.request;
  const { textOf } = createSqlReader(runtime.parser, runtime.config.product);
  const stored = (sql: SqlText): string => textOf(sql, 'expression');
  const common = { name, key: fold(name), grantees };
  const conceptName = rule.concept === null ? null : (graph.concept(rule.concept.text)?.name ?? rule.concept.text);
  if (rule.kind === 'row') return { ...common, kind: 'row', concept: conceptName ?? '', isPublic: rule.to === null, condition: stored(rule.condition) };
  const property = graph.property(rule.property.text)?.name ?? rule.property.text;
  return { ...common, kind: 'mask', concept: conceptName, property, mask: maskOf(rule.mask, stored) };
}

function maskOf(mask: MaskClause, stored: (sql: SqlText) => string): StoredMask {
  if (mask.kind === 'with') return { kind: 'with', expression: stored(mask.expression) };
  if (mask.kind === 'partial') return { kind: 'partial', first: mask.first, filler: mask.filler, last: mask.last };
  return { kind: mask.kind };
}

function placesOf(rule: CreatePolicy['rule']): PolicyPlaces {
  const concept = rule.concept?.offset ?? 0;
  if (rule.kind === 'row') return { concept, property: 0, sql: rule.condition.offset, mask: 0 };
  const { mask } = rule;
  return { concept, property: rule.property.offset, sql: mask.kind === 'with' ? mask.expression.offset : mask.offset, mask: mask.offset };
}

export const POLICIES: Kinds<'create_policy' | 'drop_policy'> = {
  create_policy: { apply: createPolicy },
  drop_policy: { apply: dropPolicy },
};
