/** The kinds of relations in FROM: common table expressions, concepts, views, cubes, system tables. */
import { badRequest } from '../../errors.ts';
import type { ViewDef } from '../../ontology/model.ts';
import { clone } from '../plan/tree.ts';
import { CubeRelation } from './cubes.ts';
import { asDefiner } from './definer.ts';
import type { NamedItem, RelationKind } from './kinds.ts';
import { requireReadable, requireReadableView } from './readable.ts';
import { ConceptRelation } from './relation.ts';
import type { Relation } from './relations.ts';
import { Resolver } from './resolve.ts';
import { systemTableItem } from './system.ts';
import { parsedView, viewItem } from './views.ts';

/** A common table expression, which hides all other relations of the same unqualified name. */
export const COMMON_TABLE_EXPRESSION: RelationKind = {
  schemas: [undefined],
  find(item) {
    const columns = item.scope.cte(item.relname);
    return columns && item.derived(columns);
  },
};

/** The schema is reserved for graph algorithms. */
export const GRAPH_ALGORITHM: RelationKind = {
  schemas: ['gsvc'],
  find() {
    throw badRequest('not_supported', 'graph algorithms are not supported yet');
  },
};

/** A concept. */
export const CONCEPT: RelationKind = {
  schemas: [undefined, 'svc', 'esvc', 'dsvc'],
  find({ resolver: { state, graph }, name, schema, alias, renames, owner, inCube, concept: become }) {
    const concept = graph.concept(name);
    if (concept === undefined) return undefined;
    requireReadable(concept);
    state.facts.noteJoins();
    const at = schema === 'svc' || schema === 'esvc' ? schema : 'dsvc';
    state.noteRelation({ kind: 'concept', schema: at, name: concept.name });
    return become(new ConceptRelation(state, { concept, schema: at, alias: inCube ? state.alias() : alias, called: alias, renamed: renames, owner }));
  },
};

/** A view, also a raw view. */
export const VIEW: RelationKind = {
  schemas: [undefined, 'vsvc'],
  find(item) {
    const { graph, state } = item.resolver;
    const view = graph.view(item.name);
    if (view === undefined || view.cube) return undefined;
    requireReadableView(graph, view);
    state.noteRelation({ kind: 'view', schema: 'vsvc', name: view.name });
    const cached = state.position.isStored ? undefined : state.context.views?.item(state, view);
    return item.become(cached ?? viewItem(state, view), { kind: 'view', name: view.name });
  },
};

/** A cube. */
export const CUBE: RelationKind = {
  schemas: [undefined, 'vsvc'],
  find(item) {
    const { graph, state } = item.resolver;
    const view = graph.view(item.name);
    if (!view?.cube) return undefined;
    requireReadableView(graph, view);
    state.noteRelation({ kind: 'view', schema: 'vsvc', name: view.name });
    return cubeItem(item, view);
  },
};

/** A system table. */
export const SYSTEM_TABLE: RelationKind = {
  schemas: [undefined, 'svc', 'esvc', 'dsvc'],
  find(item) {
    const { state } = item.resolver;
    const system = state.context.systemTable?.(item.name.toUpperCase());
    if (system === undefined) return undefined;
    state.noteRelation({ kind: 'system', schema: 'svc', name: system.name });
    for (const { type } of system.columns) state.facts.noteType(type);
    return item.become(systemTableItem(state, system), { kind: 'system', name: system.name });
  },
};

/** Replaces the item by the FROM of the cube. The cube's columns become expressions of the block that reads it. */
function cubeItem({ alias, scope: block, resolver: { state }, cube }: NamedItem, view: ViewDef): Relation {
  const parsed = parsedView(state, view);
  const stmt = state.forCaller(clone(parsed.stmt), parsed.facts);
  const resolver = new Resolver(state, parsed, state.asDefined(view));
  const items = stmt.fromClause ?? [];
  if (items.length === 0) throw badRequest('bad_cube', `the cube \`${view.name}\` has no FROM clause`);
  return cube({
    items,
    resolver,
    bind: (make) => asDefiner(state, view, make),
    relation: (inner, concepts) => {
      const [only, ...more] = concepts;
      const single = only && more.length === 0 && items.length === 1 && !items.some((i) => 'JoinExpr' in i || 'RangeSubselect' in i) ? only : undefined;
      const leavesOut = stmt.whereClause !== undefined || !single;
      const needsBarrier = leavesOut && (concepts.length === 0 ? state.hidesRows() : concepts.some((r) => state.hidesRows(r.concept)));
      state.facts.hidesRows ||= needsBarrier;
      return { relation: new CubeRelation(alias, view, stmt, resolver, inner, block), stmt, concepts, barrier: needsBarrier ? { single } : undefined };
    },
  });
}
