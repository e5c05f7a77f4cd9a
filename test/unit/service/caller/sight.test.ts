/**
 * A caller's view of an ontology, compared with an ontology in which the hidden parts were never declared: over generated models, grants
 * and queries. Errors, columns and metadata must be identical; answers are planned like those of a caller who sees everything.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GrantRow } from '../../../../src/catalog/snapshot.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { SvcError } from '../../../../src/errors.ts';
import { compile } from '../../../../src/ontology/compile.ts';
import type { Graph } from '../../../../src/ontology/graph.ts';
import type { Model } from '../../../../src/ontology/model.ts';
import { planSelect } from '../../../../src/planner/index.ts';
import { seenBy, tablesKey } from '../../../../src/service/caller/sight.ts';
import { Texts } from '../../../../src/service/caller/texts.ts';
import { conceptColumns } from '../../../../src/service/describe/describe-columns.ts';
import { ontologyDetail } from '../../../../src/service/describe/detail.ts';
import { type SystemContext, systemRows } from '../../../../src/service/describe/system.ts';
import { Cases } from '../../../integration/differential/cases.ts';
import { modelOf } from '../../../integration/differential/ddl.ts';
import { Printer } from '../../../integration/differential/print.ts';
import type { Case } from '../../../integration/differential/shrink.ts';
import { checkUntil } from '../../../support/checked.ts';
import { patience, SEED } from '../../../support/generated.ts';
import { sizesOf } from '../../../support/sizes.ts';
import { type Parts, seenParts, twinOf, withSeenPairs } from '../../../support/twin.ts';

const SIZES = sizesOf('unit/service/caller/sight');

const parser = await loadNodeParser();

const grant = (...resource: string[]): GrantRow => ({
  privilege: 'query',
  resource,
  key: resource.map((r) => r.toLowerCase()),
  all: false,
  grantOption: false,
});

/** Callers who may query the parts, and know their tables. */
const holderOf = (parts: Parts) => ({
  isAdmin: false,
  grants: [
    grant('ontology', 'world'),
    grant('datasource', 'main'),
    ...[...parts.concepts].map((c) => grant('ontology', 'world', 'concept', c)),
    ...[...parts.views].map((v) => grant('ontology', 'world', 'view', v)),
  ],
});

/** @param queriesTables whether the caller may query the tables; by default as the rights to the model suggest */
function outcome(graph: Graph, text: string, queriesTables?: boolean): { readonly answer: unknown; readonly sql: string | null } {
  try {
    const plan = planSelect(
      { graph, parser, product: 'svc', activeDatasource: 'main', ...(queriesTables === undefined ? {} : { queriesTables: () => queriesTables }) },
      { text, offset: 0 },
    );
    return { answer: plan.columns, sql: `${plan.sql} ${JSON.stringify(plan.params)}` };
  } catch (e) {
    if (!(e instanceof SvcError)) throw e;
    const { status, code, message, hint, offset } = e;
    return { answer: { status, code, message, hint, offset }, sql: null };
  }
}

const isTooComplex = ({ answer }: { readonly answer: unknown }): boolean => (answer as { code?: string }).code === 'too_complex';

/** A name with a typo. */
const slipped = (name: string): string => (name.length > 2 ? name.slice(0, -2) + name.slice(-1) : `${name}x`);

/** Statements that name objects of the whole model, correctly and with typos. */
function* probes(model: Model, seen: Model): Generator<string> {
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const names = [...model.concepts, ...model.views].map((o) => o.name);
  for (const name of [...names, ...names.map(slipped)]) {
    for (const schema of ['svc', 'esvc', 'dsvc', 'vsvc']) yield `SELECT * FROM ${schema}.${quoted(name)}`;
    yield `SELECT 1 AS one FROM ${quoted(name)}`;
  }
  const columns = [...model.properties, ...model.measures.map((m) => ({ name: `measure.${m.name}` })), ...names.map((n) => ({ name: `_type_of_${n}` }))].map(
    (p) => p.name,
  );
  const paths = model.concepts.flatMap((c) =>
    c.relationships.flatMap((r) =>
      [r.name, r.inverse ?? `~${r.name}`].flatMap((n) => [c.name, r.target, slipped(r.target)].map((b) => `${n}[${b}].entity_id`)),
    ),
  );
  for (const c of seen.concepts) {
    for (const column of [...columns, ...columns.map(slipped)]) yield `SELECT COUNT(${quoted(column)}) AS n FROM dsvc.${quoted(c.name)}`;
    // the least id: a count of ids is one of keys for a caller who sees everything
    for (const path of paths) yield `SELECT MIN(${quoted(path)}) AS n FROM dsvc.${quoted(c.name)}`;
  }
}

const METADATA = [
  'ONTOLOGY',
  'CONCEPTS',
  'PROPERTIES',
  'RELATIONSHIPS',
  'CONCEPT_RELATIONSHIPS',
  'MAPPINGS',
  'CONCEPT_MAPPINGS',
  'INHERITANCE',
  'VIEW_PROPERTIES',
  'TAGS',
];

function metadata(graph: Graph, parts: Parts): unknown {
  const holder = holderOf(parts);
  const texts = new Texts(parser, 'svc', holder, graph);
  const context = { caller: { principal: holder }, parser, product: 'svc', graph, ontology: undefined, hidesRows: false } as unknown as SystemContext;
  const tables = systemRows(context);
  return {
    detail: ontologyDetail(graph, 'v', [], texts),
    columns: graph.concepts.map((c) => [c.name, ...(['svc', 'esvc', 'dsvc'] as const).map((schema) => conceptColumns(c, schema, 1))]),
    tables: METADATA.map((t) => tables(`SYS_${t}`)?.rows),
    // the origin of rows comes from the whole model: a concept may have the rows of hidden ones
    views: tables('SYS_VIEWS')?.rows.map(({ tables: _, ...row }) => row),
    properties: tables('SYS_CONCEPT_PROPERTIES')?.rows.map(({ tables: _, datasource_id: __, ...row }) => row),
  };
}

/** A case with its visible concepts and views. */
const cases = fc.tuple(new Cases(12), fc.infiniteStream(fc.boolean())).map(([made, coins]: [Case, IterableIterator<boolean>]) => {
  const model = modelOf(made.world);
  const heads = <T extends { readonly name: string }>(list: readonly T[]) => new Set(list.filter(() => coins.next().value).map((o) => o.name));
  return { made, model, parts: seenParts(model, heads(model.concepts), heads(model.views), parser) };
});

/** The names of properties that concepts show of their descendants. */
const ofDescendants = (graph: Graph): string[] => graph.concepts.flatMap((c) => c.derivedProperties.map((p) => p.def.name));

/** The logic concepts with a path in their condition, or in that of their source. */
function definedByPaths({ concepts }: Graph): string[] {
  const found = new Set<string>();
  const has = ({ name, rows }: Graph['concepts'][number]): boolean =>
    rows.kind === 'logic' && (found.has(name) || rows.condition.includes('[') || found.has(rows.name) || found.has(rows.source.name));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const c of concepts) if (has(c)) found.add(c.name);
  }
  return [...found];
}

/** The views that follow a relationship with pairs that the caller does not have: their SQL has the rights of its definer. */
function definedByPairs({ model: { concepts, views } }: Graph, reduced: Model): string[] {
  const declared = (list: Model['concepts']) => list.flatMap((c) => c.relationships);
  const kept = new Map(declared(reduced.concepts).map((r) => [r.name, r.includes?.length]));
  const changed = declared(concepts).filter((r) => r.includes?.length !== kept.get(r.name));
  const composed = changed.length === 0 ? [] : declared(concepts).filter((r) => r.includes !== undefined);
  const names = composed.flatMap((r) => [r.name, r.inverse ?? `~${r.name}`]);
  return views.filter((v) => names.some((name) => v.sql.includes(name))).map((v) => v.name);
}

/** The properties that concepts have for a caller who sees everything, but not for this one: a text that names one means something else, as an alias. */
function lostProperties(whole: Graph, seen: Graph): string[] {
  const names = (c: Graph['concepts'][number] | undefined) => [...(c?.properties ?? []), ...(c?.derivedProperties ?? [])].map((p) => p.def.name);
  return seen.concepts.flatMap((c) => {
    const own = new Set(names(c));
    return names(whole.concept(c.name)).filter((name) => !own.has(name));
  });
}

const nullsIn = (sql: string | null): number => sql?.match(/NULL::/g)?.length ?? 0;

describe('an ontology for a caller', () => {
  it(
    'is the same as if the hidden parts had never been declared',
    async () => {
      let answered = 0;
      let refused = 0;
      let hidden = 0;
      let nulled = 0;
      let separate = 0;
      const isEnough = (): boolean =>
        hidden > 1.5 * SIZES.ontologies && Math.max(nulled, separate) < answered / 10 && answered > 6 * SIZES.ontologies && refused > 15 * SIZES.ontologies;
      const { failed, errorInstance } = await checkUntil(
        fc.asyncProperty(cases, async ({ made, model, parts }) => {
          if (parts === undefined) return;
          const whole = compile(model, 'world');
          const seen = seenBy(holderOf(parts), whole, parser);
          const twin = compile(twinOf(model, parts, parser), 'world');
          expect(metadata(seen, parts)).toEqual(metadata(twin, parts));
          const reduced = withSeenPairs(model, parts);
          const paired = compile(reduced, 'world');
          const others = [...definedByPaths(whole), ...definedByPairs(whole, reduced)];
          const aliases = lostProperties(whole, seen).map((name) => new RegExp(`\\bAS ["\`]?${name}\\b`));
          const printer = new Printer(made.world, { backQuotes: made.backQuotes });
          const some = [...probes(model, seen.model)].filter((_, i) => i % 9 === made.queries.length % 9);
          hidden += model.concepts.length - seen.concepts.length;
          for (const text of [...made.queries.map((q) => printer.query(q)), ...some]) {
            const [mine, other] = [outcome(seen, text), outcome(twin, text)];
            // the rows come from the whole model, so the statement may become larger than over the twin, or exceed its limit at an earlier place, but not larger than for
            // somebody who sees everything
            if (isTooComplex(mine) && !isDeepStrictEqual(mine.answer, other.answer)) {
              expect({ text, answer: outcome(paired, text, seen === whole).answer }).toEqual({ text, answer: mine.answer });
              continue;
            }
            expect({ text, answer: mine.answer }).toEqual({ text, answer: other.answer });
            if (mine.sql === null) refused++;
            else answered++;
            if (mine.sql === null || /\*|thing/.test(text)) continue;
            // a caller who does not see everything does not know which rows the mappings leave out
            const all = outcome(paired, text, seen === whole).sql;
            // a view or logic concept over hidden rows needs a barrier
            if (mine.sql.includes('OFFSET 0')) continue;
            // ids are counted and grouped as keys only for a caller who sees everything
            if (seen !== whole && /\b(count\s*\(|group by)[^()]*entity_id/i.test(text)) {
              separate++;
              continue;
            }
            // the condition of a logic concept has relations of its own if the caller sees less than its definer, and so have views
            if (others.some((name) => text.includes(name)) || aliases.some((alias) => alias.test(text))) {
              separate++;
              continue;
            }
            if (nullsIn(mine.sql) === nullsIn(all)) {
              expect({ text, sql: mine.sql }).toEqual({ text, sql: all });
            } else {
              // a property of descendants has no values in rows that are not visible with it
              nulled++;
              expect(nullsIn(mine.sql)).toBeGreaterThan(nullsIn(all));
              expect({ text, names: ofDescendants(seen).filter((name) => text.includes(name)) }).not.toEqual({ text, names: [] });
            }
          }
        }),
        SIZES.ontologies,
        isEnough,
      );
      if (failed) throw new Error(`SEED=${SEED}`, { cause: errorInstance });
      expect(hidden).toBeGreaterThan(1.5 * SIZES.ontologies);
      expect(nulled).toBeLessThan(answered / 10);
      expect(separate).toBeLessThan(answered / 10);
      expect(answered).toBeGreaterThan(6 * SIZES.ontologies);
      expect(refused).toBeGreaterThan(15 * SIZES.ontologies);
    },
    patience(120_000),
  );
});

it('tables have different keys for callers without different datasources, also with hostile names', () => {
  const datasources = ['x', 'y', 'x,y'];
  const without = (...names: string[]): string =>
    tablesKey({ isAdmin: false, grants: datasources.filter((d) => !names.includes(d)).map((d) => grant('datasource', d)) }, { datasources });
  expect(without('x', 'y')).not.toBe(without('x,y'));
  expect(without('x')).toBe(without('x'));
});
