/** SHOW CREATE (docs/design/statements-and-versions.md#show-create): scripts that recreate objects, in the product's names. */
import { can } from '../auth/grants.ts';
import { datasourceOptions } from '../catalog/access.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { badRequest, didYouMean, forbidden, nearest, type SvcError } from '../errors.ts';
import { productText } from '../language/expressions.ts';
import type { SqlParser } from '../language/parser.ts';
import { printConcept, printMapping, printMeasure, printModel, printProperty, printView } from '../language/print.ts';
import { printPolicy } from '../language/print-policy.ts';
import { printAgent, printAttachments, printDatasource, printExample } from '../language/print-service.ts';
import { quoteBack, quoteLiteral } from '../language/quote.ts';
import type { Name, Show } from '../language/statements.ts';
import type { Graph } from '../ontology/graph.ts';
import { type ConceptDef, isRaw, type MeasureDef, type Model, type PropertyDef, type ViewDef } from '../ontology/model.ts';
import { fold, sameName } from '../ontology/names.ts';
import { allowedFunctionsOf } from '../planner/own-functions.ts';
import { toldAgents } from './agents.ts';
import type { Session } from './changes.ts';
import type { Printed } from './detail.ts';
import { Draft } from './draft.ts';
import { printExamples, sameQuestionAs, toldExamples, unknownExample } from './examples.ts';
import { datasourceInStatement, lacks, ontologyInStatement, unknownInStatement } from './lookup.ts';
import { printedPolicy } from './policies.ts';
import { seenBy } from './sight.ts';
import { Texts } from './texts.ts';

type LateRows = () => Promise<readonly unknown[]>;

const KINDS = ['ONTOLOGY', 'CONCEPT', 'PROPERTY', 'MEASURE', 'MAPPING', 'VIEW', 'CUBE', 'AGENT', 'DATASOURCE', 'POLICY', 'EXAMPLE'];

/**
 * `<object> n` behind SHOW CREATE -> one row with the script.
 * @throws SvcError 400 `unknown_*`, `syntax_error`, `no_ontology`; 403 where the caller sees the thing, but not all of what it is made of
 */
export async function showCreate(session: Session, statement: Show, words: readonly Name[], graph: Graph | undefined): Promise<LateRows> {
  const [what, name, more] = words;
  if (what === undefined || name === undefined || more !== undefined) {
    const at = more ?? what;
    throw badRequest('syntax_error', at === undefined ? 'expected what to show behind SHOW CREATE' : `expected a name behind SHOW CREATE ${what?.text}`, {
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
    throw badRequest('no_ontology', 'This statement reads an ontology, and the request names none', {
      offset: statement.source.offset,
      hint: 'Send the name of the ontology in ontology_name',
    });
  }
  if (kind === 'POLICY' && session.draft !== undefined) return one(policy(session, name, session.draft.row));
  if (kind === 'EXAMPLE' && session.draft !== undefined) return example(session, name, session.draft, graph);
  return one(object(session, kind, name, graph));
}

const one =
  (script: string, more: () => Promise<readonly string[]> = async () => []): LateRows =>
  async () => {
    const all = [script, ...(await more()).map((s) => `${s};\n`)].join('');
    return [{ script: `${all.replace(/;\s*$/, '')};` }];
  };

/** Definitions with their SQL as it is printed: schemas and functions in the product's names; null: it reads what the caller may not see. Mappings and views on raw tables stand in the datasource's own. */
const printer = (texts: Texts) => ({
  property: (p: PropertyDef): PropertyDef | null => {
    const expression = texts.property(p);
    return p.expression !== null && expression === null ? null : { ...p, expression };
  },
  measure: (m: MeasureDef): MeasureDef | null => {
    const told = texts.measure(m);
    return told && { ...m, ...told };
  },
  concept: (c: ConceptDef): ConceptDef | null => {
    const condition = texts.conditionOf(c.name, c);
    if (c.logic === null) return c;
    return condition === null ? null : { ...c, logic: { ...c.logic, condition } };
  },
  view: (v: ViewDef): ViewDef | null => {
    if (v.datasource !== null && isRaw(v)) return texts.tells(v.datasource) ? v : null;
    const sql = texts.view(v);
    return sql === null ? null : { ...v, sql };
  },
});

/** A graph's own texts, as they are told to who asks. */
const textsOf = ({ request: { runtime }, caller, draft }: Session, graph: Graph): Texts =>
  new Texts(runtime.parser, runtime.config.product, caller.principal, graph, allowedFunctionsOf(draft?.row));

const sqlPrinter =
  (parser: SqlParser, product: string): Printed =>
  (sql, kind) =>
    productText(parser, sql, kind, product);

/** A policy, for admins alone. @throws SvcError 400 `unknown_policy`, 403 */
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

/** @throws SvcError 403: a definition names other things, which the caller has to see too */
const partly = (ontology: string, name: Name): SvcError =>
  forbidden('forbidden', `This needs ACCESS ON ALL ontology.${ontology}`, { offset: name.offset, hint: 'A definition names other parts of the ontology' });

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
  const told = <T>(def: T | null): T => {
    if (def === null) throw partly(graph.ontology, name);
    return def;
  };
  const physical = (datasource: string): void => {
    if (!texts.tells(datasource)) throw lacks('EDIT', `ontology.${graph.ontology}, or QUERY on the datasource`, name.offset);
  };
  switch (kind) {
    case 'CONCEPT':
      return printConcept(told(print.concept(find(model.concepts))), model, session.request.runtime.config.product);
    case 'PROPERTY':
      return printProperty(told(print.property(find(model.properties))));
    case 'MEASURE':
      return printMeasure(told(print.measure(find(model.measures))));
    case 'MAPPING': {
      const mapping = find(model.mappings);
      physical(mapping.datasource);
      return printMapping(mapping);
    }
    default: {
      const view = find(model.views.filter((v) => v.cube === (kind === 'CUBE')));
      if (view.datasource !== null && isRaw(view)) physical(view.datasource);
      return printView(told(print.view(view)));
    }
  }
}

/** All of an ontology that the caller may know: what stands in terms of datasources, or reads what is hidden, is left out where it may not be told. */
async function ontology(session: Session, name: Name): Promise<LateRows> {
  const { runtime } = session.request;
  const { caller } = session;
  const { principal, snapshot } = caller;
  const row = ontologyInStatement(session.caller, name);
  const draft = session.draft?.row.key === row.key ? session.draft : await Draft.open(session.request, session.caller, row);
  const graph = seenBy(principal, await draft.graph(), runtime.parser);
  const { model } = graph;
  const texts = textsOf(session, graph);
  const print = printer(texts);
  const measures = model.measures.flatMap((m) => print.measure(m) ?? []);
  const told: Model = {
    ...model,
    properties: model.properties.map((p) => print.property(p) ?? { ...p, expression: null }),
    measures,
    concepts: model.concepts.map((c) => {
      const own = c.measures.filter((name) => measures.some((m) => sameName(m.name, name)));
      return { ...(print.concept(c) ?? { ...c, logic: null }), measures: own };
    }),
    mappings: model.mappings.filter((m) => texts.tells(m.datasource)),
    views: model.views.flatMap((v) => print.view(v) ?? []),
  };
  const nameOf = (key: string): string => snapshot.datasources.find((d) => d.key === key)?.name ?? key;
  const functions =
    principal.isAdmin && row.allowedFunctions !== null
      ? [`ALTER ONTOLOGY ${quoteBack(row.name)} SET allowed_functions = ${quoteLiteral(row.allowedFunctions)}`]
      : [];
  const policies = principal.isAdmin ? row.policies.map((p) => `${printPolicy(printedPolicy(p, sqlPrinter(runtime.parser, runtime.config.product)))};\n`) : [];
  const attachments = printAttachments(row.name, row.datasources.map(nameOf), row.active === null ? null : nameOf(row.active));
  const version = draft.changed ? null : draft.version;
  const script = printModel(told, row.name, runtime.config.product, [...attachments, ...functions]) + policies.join('');
  return one(script, () => printExamples(session.request, caller, row, graph, version));
}

/** An example that the caller is told of. @throws SvcError 400 `unknown_example` */
function example({ request, caller }: Session, name: Name, { row }: Draft, graph: Graph): LateRows {
  return async () => {
    const same = sameQuestionAs(name.text);
    const found = (await toldExamples(request, caller, row, graph, null)).find((e) => same(e.question));
    if (found === undefined) throw unknownExample(name);
    return one(printExample(found))();
  };
}

async function agent({ request, caller }: Session, name: Name): Promise<string> {
  const seen = await toldAgents(request.runtime, caller);
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
