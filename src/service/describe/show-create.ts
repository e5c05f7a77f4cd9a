/** SHOW CREATE (docs/design/statements-and-versions.md#show-create): scripts that recreate objects, in the product's names. */
import type { Caller } from '../../auth/authenticate.ts';
import { can } from '../../auth/grants.ts';
import { made, withinAnswer } from '../../budget.ts';
import { datasourceOptions } from '../../catalog/access.ts';
import type { OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, didYouMean, forbidden, nearest, quoted, type SvcError } from '../../errors.ts';
import { productText } from '../../language/expressions.ts';
import type { SqlParser } from '../../language/parser.ts';
import { printConcept, printMapping, printMeasure, printModel, printProperty, printView } from '../../language/print.ts';
import { printPolicy } from '../../language/print-policy.ts';
import { printAgent, printAttachments, printDatasource, printExample } from '../../language/print-service.ts';
import { quoteBack, quoteLiteral } from '../../language/quote.ts';
import type { Name, Show } from '../../language/statements.ts';
import type { Graph } from '../../ontology/graph.ts';
import { type ConceptDef, isRaw, type MeasureDef, type Model, type PropertyDef, type ViewDef } from '../../ontology/model.ts';
import { fold } from '../../ontology/names.ts';
import { allowedFunctionsOf } from '../../planner/read/own-functions.ts';
import { filteredAgents } from '../caller/agents.ts';
import { datasourceInStatement, lacks, loadGraph, ontologyInStatement, unknownInStatement } from '../caller/lookup.ts';
import { printedPolicy } from '../caller/policies.ts';
import { seenBy } from '../caller/sight.ts';
import { type Printed, Texts } from '../caller/texts.ts';
import type { Runtime } from '../runtime.ts';
import type { OpenOntology, Session } from '../session.ts';
import { printExamples, sameQuestionAs, unknownExample, visibleExamples } from './examples.ts';
import type { LateRows } from './system-context.ts';

/** This number of characters of a script costs as much as a node. */
const CHARACTERS_OF_A_NODE = 25;

const KINDS = ['ONTOLOGY', 'CONCEPT', 'PROPERTY', 'MEASURE', 'MAPPING', 'VIEW', 'CUBE', 'AGENT', 'DATASOURCE', 'POLICY', 'EXAMPLE'];

/**
 * Prepares SHOW CREATE, which returns one row with the script.
 * @param words the words after SHOW CREATE
 * @throws SvcError 400 `unknown_*`, `syntax_error`, `no_ontology`, `too_complex`; 403 if the caller sees the object but not everything that its definition reads
 */
export async function showCreate(session: Session, statement: Show, words: readonly Name[], graph: Graph | undefined): Promise<LateRows> {
  const [what, name, more] = words;
  if (what === undefined || name === undefined || more !== undefined) {
    const at = more ?? what;
    throw badRequest('syntax_error', at === undefined ? 'expected the kind of object after SHOW CREATE' : `expected a name after SHOW CREATE ${what?.text}`, {
      offset: at?.offset ?? statement.source.offset,
      hint: `SHOW CREATE takes ${KINDS.join(', ')} and a name`,
    });
  }
  const kind = what.text.toUpperCase();
  switch (kind) {
    case 'AGENT':
      return one(await agent(session, name));
    case 'DATASOURCE':
      return datasource(session, name);
    case 'ONTOLOGY':
      return ontology(session, name);
  }
  if (!KINDS.includes(kind)) {
    const near = nearest(kind, KINDS);
    throw badRequest('unknown_statement', `unknown statement \`SHOW CREATE ${what.text}\`${didYouMean(near && `SHOW CREATE ${near}`)}`, {
      offset: what.offset,
      hint: `SHOW CREATE takes ${KINDS.join(', ')} and a name`,
    });
  }
  if (graph === undefined) {
    throw badRequest('no_ontology', 'This statement reads an ontology, but the request names none', {
      offset: statement.source.offset,
      hint: 'Send the name of the ontology in ontology_name',
    });
  }
  if (kind === 'POLICY' && session.draft !== undefined) return one(policy(session, name, session.draft.row));
  if (kind === 'EXAMPLE' && session.draft !== undefined) return example(session, name, session.draft, graph);
  const script = `the script of ${quoted(name.text)}`;
  return one(withinAnswer(script, session.request.spending.answers, () => counted(object(session, kind, name, graph))));
}

const one =
  (script: string, more: () => Promise<readonly string[]> = async () => []): LateRows =>
  async () => {
    const all = [script, ...(await more()).map((s) => `${s};\n`)].join('');
    return [{ script: `${all.replace(/;\s*$/, '')};` }];
  };

/** Prepares definitions for printing: their SQL gets the product's names. Null if a definition reads something hidden from the caller. Mappings and views over tables keep the datasource's names. */
const printer = (texts: Texts) => ({
  property: (p: PropertyDef): PropertyDef | null => {
    const expression = texts.property(p);
    return p.expression !== null && expression === null ? null : { ...p, expression };
  },
  measure: (m: MeasureDef): MeasureDef | null => {
    const visible = texts.measure(m);
    return visible && { ...m, ...visible };
  },
  concept: (c: ConceptDef): ConceptDef | null => {
    const condition = texts.conditionOf(c.name, c);
    if (c.logic === null) return c;
    return condition === null ? null : { ...c, logic: { ...c.logic, condition } };
  },
  view: (v: ViewDef): ViewDef | null => {
    if (v.datasource !== null && isRaw(v)) return texts.showsTables(v.datasource) ? v : null;
    const sql = texts.view(v);
    return sql === null ? null : { ...v, sql };
  },
});

/** Prepares definitions of a graph for printing. @param row the ontology; undefined: one that does not exist yet */
export const definitionsOf = ({ parser, config }: Runtime, { principal }: Caller, graph: Graph, row: OntologyRow | undefined) =>
  printer(new Texts(parser, config.product, principal, graph, allowedFunctionsOf(row)));

/** The visible texts of a graph. */
const textsOf = ({ request: { runtime }, caller, draft }: Session, graph: Graph): Texts =>
  new Texts(runtime.parser, runtime.config.product, caller.principal, graph, allowedFunctionsOf(draft?.row));

const sqlPrinter =
  (parser: SqlParser, product: string): Printed =>
  (sql, kind) =>
    productText(parser, sql, kind, product);

/** Prints a policy, for administrators only. @throws SvcError 400 `unknown_policy`, 403 */
function policy(session: Session, name: Name, ontology: OntologyRow): string {
  const { parser, config } = session.request.runtime;
  if (!session.caller.principal.isAdmin) throw forbidden('forbidden', 'SHOW CREATE POLICY is for administrators', { offset: name.offset });
  const found = ontology.policies.find((p) => p.key === fold(name.text));
  if (found !== undefined) return printPolicy(printedPolicy(found, sqlPrinter(parser, config.product)));
  throw unknownInStatement(
    'policy',
    name,
    ontology.policies.map((p) => p.name),
  );
}

/** 403: the definition reads other objects, which the caller does not see. */
const partlyHidden = (ontology: string, name: Name): SvcError =>
  forbidden('forbidden', `This needs ACCESS ON ALL ontology.${ontology}`, { offset: name.offset, hint: 'The definition reads other parts of the ontology' });

function object(session: Session, kind: string, name: Name, graph: Graph): string {
  const { model } = graph;
  const texts = textsOf(session, graph);
  const print = printer(texts);
  const find = <T extends { readonly name: string }>(list: readonly T[]): T => {
    const found = list.find((def) => fold(def.name) === fold(name.text));
    if (found !== undefined) return found;
    throw unknownInStatement(
      kind.toLowerCase(),
      name,
      list.map((def) => def.name),
    );
  };
  const requireVisible = <T>(def: T | null): T => {
    if (def === null) throw partlyHidden(graph.ontology, name);
    return def;
  };
  const requireTables = (datasource: string): void => {
    if (!texts.showsTables(datasource)) throw lacks('EDIT', `ontology.${graph.ontology}, or QUERY on the datasource`, name.offset);
  };
  switch (kind) {
    case 'CONCEPT':
      return printConcept(requireVisible(print.concept(find(model.concepts))), model, session.request.runtime.config.product);
    case 'PROPERTY':
      return printProperty(requireVisible(print.property(find(model.properties))));
    case 'MEASURE':
      return printMeasure(requireVisible(print.measure(find(model.measures))));
    case 'MAPPING': {
      const mapping = find(model.mappings);
      requireTables(mapping.datasource);
      return printMapping(mapping);
    }
    default: {
      const view = find(model.views.filter((v) => v.cube === (kind === 'CUBE')));
      if (view.datasource !== null && isRaw(view)) requireTables(view.datasource);
      return printView(requireVisible(print.view(view)));
    }
  }
}

/** The definitions of a model that the caller may see. */
function visibleModel(session: Session, graph: Graph): Model {
  const { model } = graph;
  const texts = textsOf(session, graph);
  const print = printer(texts);
  const measures = model.measures.flatMap((m) => print.measure(m) ?? []);
  const known = new Set(measures.map((m) => fold(m.name)));
  return {
    ...model,
    properties: model.properties.map((p) => print.property(p) ?? { ...p, expression: null }),
    measures,
    concepts: model.concepts.map((c) => {
      const own = c.measures.filter((name) => known.has(fold(name)));
      return { ...(print.concept(c) ?? { ...c, logic: null }), measures: own };
    }),
    mappings: model.mappings.filter((m) => texts.showsTables(m.datasource)),
    views: model.views.flatMap((v) => print.view(v) ?? []),
  };
}

/** Counts a script, which is kept until all statements of the request are answered. */
function counted(script: string): string {
  made(script.length / CHARACTERS_OF_A_NODE);
  return script;
}

/** Prints the visible part of an ontology. Mappings, views over tables and definitions that the caller may not see are omitted. */
async function ontology(session: Session, name: Name): Promise<LateRows> {
  const { runtime } = session.request;
  const { caller } = session;
  const { principal, snapshot } = caller;
  const row = ontologyInStatement(session.caller, name);
  const draft = session.draft?.row.key === row.key ? session.draft : undefined;
  const graph = seenBy(principal, draft ? await draft.graph() : await loadGraph(runtime, row), runtime.parser);
  const nameOf = (key: string): string => snapshot.datasources.find((d) => d.key === key)?.name ?? key;
  const functions =
    principal.isAdmin && row.allowedFunctions !== null
      ? [`ALTER ONTOLOGY ${quoteBack(row.name)} SET allowed_functions = ${quoteLiteral(row.allowedFunctions)}`]
      : [];
  const attachments = printAttachments(row.name, row.datasources.map(nameOf), row.active === null ? null : nameOf(row.active));
  const version = draft?.changed ? null : (draft?.version ?? row.version);
  const what = `the script of ${quoted(row.name)}`;
  const script = withinAnswer(what, session.request.spending.answers, () => {
    const policies = principal.isAdmin
      ? row.policies.map((p) => `${printPolicy(printedPolicy(p, sqlPrinter(runtime.parser, runtime.config.product)))};\n`)
      : [];
    return counted(printModel(visibleModel(session, graph), row.name, runtime.config.product, [...attachments, ...functions]) + policies.join(''));
  });
  return one(script, () => printExamples(session.request, caller, row, graph, version));
}

/** Prints an example that the caller sees. @throws SvcError 400 `unknown_example` */
function example({ request, caller }: Session, name: Name, { row }: OpenOntology, graph: Graph): LateRows {
  const isSame = sameQuestionAs(name.text);
  return async () => {
    const found = (await visibleExamples(request, caller, row, graph, null)).find((e) => isSame(e.question));
    if (found === undefined) throw unknownExample(name);
    return one(printExample(found))();
  };
}

async function agent({ request, caller }: Session, name: Name): Promise<string> {
  const seen = await filteredAgents(request.runtime, caller);
  const found = seen.find(({ agent }) => agent.key === fold(name.text));
  if (found !== undefined) return printAgent({ ...found.agent, ontologies: found.ontologies });
  throw unknownInStatement(
    'agent',
    name,
    seen.map(({ agent }) => agent.name),
  );
}

async function datasource(session: Session, name: Name): Promise<LateRows> {
  const row = datasourceInStatement(session.caller, name);
  if (!can(session.caller.principal, 'edit', ['datasource', row.name])) throw lacks('EDIT', `datasource.${row.name}`, name.offset);
  const options = row.id === '' ? {} : await datasourceOptions(session.request.runtime.db, row.id);
  return one(printDatasource({ ...row, options }));
}
