/** SHOW CREATE (decisions 6): scripts that make things again, in the product's names. */
import { can, canAll, canSee } from '../auth/grants.ts';
import { datasourceOptions } from '../catalog/access.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import { badRequest, forbidden, nearest, type SvcError } from '../errors.ts';
import { productText } from '../language/expressions.ts';
import type { SqlParser } from '../language/parser.ts';
import { printConcept, printMapping, printMeasure, printModel, printProperty, printView } from '../language/print.ts';
import { printPolicy } from '../language/print-policy.ts';
import { printAgent, printAttachments, printDatasource } from '../language/print-service.ts';
import { quoteBack, quoteLiteral } from '../language/quote.ts';
import type { Name, Show } from '../language/statements.ts';
import type { Graph } from '../ontology/graph.ts';
import { type ConceptDef, isRaw, type MeasureDef, type Model, type PropertyDef, type ViewDef } from '../ontology/model.ts';
import { fold } from '../ontology/names.ts';
import type { Session } from './changes.ts';
import type { Printed } from './detail.ts';
import { Draft } from './draft.ts';
import { datasourceInStatement, lacks, ontologyInStatement, unknownInStatement, visibleOf, visibleOntologies } from './lookup.ts';
import { printedPolicy } from './policies.ts';

type LateRows = () => Promise<readonly unknown[]>;

const KINDS = ['ONTOLOGY', 'CONCEPT', 'PROPERTY', 'MEASURE', 'MAPPING', 'VIEW', 'CUBE', 'AGENT', 'DATASOURCE', 'POLICY'];

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
      return one(agent(session, name));
    case 'DATASOURCE':
      return datasource(session, name);
    case 'ONTOLOGY':
      return one(await ontology(session, name));
  }
  if (!KINDS.includes(kind)) {
    const near = nearest(kind, KINDS);
    throw badRequest(
      'unknown_statement',
      `unknown statement \`SHOW CREATE ${what.text}\`${near === undefined ? '' : `; did you mean \`SHOW CREATE ${near}\`?`}`,
      {
        offset: what.offset,
        hint: `SHOW CREATE takes ${KINDS.join(', ')} and a name`,
      },
    );
  }
  if (graph === undefined) {
    throw badRequest('no_ontology', 'This statement reads an ontology, and the request names none', {
      offset: statement.source.offset,
      hint: 'Send the name of the ontology in ontology_name',
    });
  }
  if (kind === 'POLICY' && session.draft !== undefined) return one(policy(session, name, session.draft.row));
  return one(object(session, kind, name, graph));
}

const one = (script: string): LateRows => {
  return async () => [{ script: `${script.replace(/;\s*$/, '')};` }];
};

/** Definitions with their SQL as it is printed: schemas and functions in the product's names. Mappings and views on raw tables stand in the datasource's own. */
function printer(parser: SqlParser, product: string) {
  const expression = (sql: string): string => productText(parser, sql, 'expression', product);
  const orNull = (sql: string | null): string | null => (sql === null ? null : expression(sql));
  return {
    property: (p: PropertyDef): PropertyDef => ({ ...p, expression: orNull(p.expression) }),
    measure: (m: MeasureDef): MeasureDef => ({ ...m, expression: expression(m.expression), filter: orNull(m.filter) }),
    concept: (c: ConceptDef): ConceptDef => (c.logic === null ? c : { ...c, logic: { ...c.logic, condition: expression(c.logic.condition) } }),
    view: (v: ViewDef): ViewDef => (isRaw(v) ? v : { ...v, sql: productText(parser, v.sql, 'select', product) }),
  };
}

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

/** Whether what stands in a datasource's own terms may be told: EDIT on the ontology, or QUERY on the datasource. */
const tells = ({ caller }: Session, ontology: string, name: string): boolean =>
  can(caller.principal, 'edit', ['ontology', ontology]) || can(caller.principal, 'query', ['datasource', name]);

/** @throws SvcError 403: a definition names other things, which the caller has to see too */
const partly = (ontology: string, name: Name): SvcError =>
  forbidden('forbidden', `This needs ACCESS ON ALL ontology.${ontology}`, { offset: name.offset, hint: 'A definition names other parts of the ontology' });

function object(session: Session, kind: string, name: Name, graph: Graph): string {
  const { parser, config } = session.request.runtime;
  const visible = visibleOf(session.caller, graph.ontology);
  const whole = canAll(session.caller.principal, 'access', ['ontology', graph.ontology]);
  const { model } = graph;
  const print = printer(parser, config.product);
  const shown = new Set<string>();
  for (const c of graph.concepts) {
    if (!visible.concept(c.name)) continue;
    for (const p of [...c.properties, ...c.multi]) shown.add(p.def.name);
    for (const m of c.measures) shown.add(m.def.name);
  }
  const find = <T extends { readonly name: string }>(list: readonly T[], sees: (def: T) => boolean): T => {
    const seen = list.filter((def) => whole || sees(def));
    const found = seen.find((def) => fold(def.name) === fold(name.text));
    if (found === undefined) {
      throw unknownInStatement(
        kind.toLowerCase(),
        name,
        seen.map((def) => def.name),
      );
    }
    if (!whole) throw partly(graph.ontology, name);
    return found;
  };
  switch (kind) {
    case 'CONCEPT':
      return printConcept(print.concept(find(model.concepts, (c) => visible.concept(c.name))), model, config.product);
    case 'PROPERTY':
      return printProperty(print.property(find(model.properties, (p) => shown.has(p.name))));
    case 'MEASURE':
      return printMeasure(print.measure(find(model.measures, (m) => shown.has(m.name))));
    case 'MAPPING': {
      const mapping = find(model.mappings, (m) => m.concept !== null && visible.concept(m.concept));
      if (!tells(session, graph.ontology, mapping.datasource)) throw lacks('EDIT', `ontology.${graph.ontology}, or QUERY on the datasource`, name.offset);
      return printMapping(mapping);
    }
    default: {
      const views = model.views.filter((v) => v.cube === (kind === 'CUBE'));
      const view = find(views, (v) => visible.view(v.name));
      if (view.datasource !== null && isRaw(view) && !tells(session, graph.ontology, view.datasource))
        throw lacks('EDIT', `ontology.${graph.ontology}, or QUERY on the datasource`, name.offset);
      return printView(print.view(view));
    }
  }
}

/** All of an ontology that the caller may know: without rights on it and on its datasources, what stands in their terms is left out. */
async function ontology(session: Session, name: Name): Promise<string> {
  const { runtime } = session.request;
  const { principal, snapshot } = session.caller;
  const row = ontologyInStatement(session.caller, name);
  if (!canAll(principal, 'access', ['ontology', row.name])) throw partly(row.name, name);
  const draft = session.draft?.row.key === row.key ? session.draft : await Draft.open(runtime, session.caller, row);
  const { model } = await draft.graph();
  const print = printer(runtime.parser, runtime.config.product);
  const told: Model = {
    ...model,
    properties: model.properties.map(print.property),
    measures: model.measures.map(print.measure),
    concepts: model.concepts.map(print.concept),
    mappings: model.mappings.filter((m) => tells(session, row.name, m.datasource)),
    views: model.views.filter((v) => v.datasource === null || !isRaw(v) || tells(session, row.name, v.datasource)).map(print.view),
  };
  const nameOf = (key: string): string => snapshot.datasources.find((d) => d.key === key)?.name ?? key;
  const functions =
    principal.isAdmin && row.allowedFunctions !== null
      ? [`ALTER ONTOLOGY ${quoteBack(row.name)} SET allowed_functions = ${quoteLiteral(row.allowedFunctions)}`]
      : [];
  const policies = principal.isAdmin ? row.policies.map((p) => `${printPolicy(printedPolicy(p, sqlPrinter(runtime.parser, runtime.config.product)))};\n`) : [];
  const attachments = printAttachments(row.name, row.datasources.map(nameOf), row.active === null ? null : nameOf(row.active));
  return printModel(told, row.name, runtime.config.product, [...attachments, ...functions]) + policies.join('');
}

function agent(session: Session, name: Name): string {
  const { snapshot, principal } = session.caller;
  const names = new Map(visibleOntologies(snapshot, principal).map((o) => [o.key, o.name]));
  const seen = snapshot.agents.filter((a) => a.ontologies.some((key) => names.has(key)) || canSee(principal, ['agent', a.name]));
  const found = seen.find((a) => a.key === fold(name.text));
  if (found === undefined) {
    throw unknownInStatement(
      'agent',
      name,
      seen.map((a) => a.name),
    );
  }
  return printAgent({ ...found, ontologies: found.ontologies.flatMap((key) => names.get(key) ?? []) });
}

async function datasource(session: Session, name: Name): Promise<LateRows> {
  const row = datasourceInStatement(session.caller, name);
  if (!can(session.caller.principal, 'edit', ['datasource', row.name])) throw lacks('EDIT', `datasource.${row.name}`, name.offset);
  const options = row.id === '' ? {} : await datasourceOptions(session.request.runtime.db, row.id);
  return one(printDatasource({ ...row, options }));
}
