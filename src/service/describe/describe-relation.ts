/** DESC[RIBE] and DESCRIBE CONCEPT (docs/design/statements-and-versions.md#show-desc-and-describe-concept). */
import { withinAnswer } from '../../budget.ts';
import { badRequest, quoted, type SvcError } from '../../errors.ts';
import type { Describe } from '../../language/statements.ts';
import { neutralSchema } from '../../ontology/apply/context.ts';
import type { Graph } from '../../ontology/graph.ts';
import { fold, sameName } from '../../ontology/names.ts';
import { MAX_DEPTH } from '../../planner/bind/path.ts';
import { unknownInStatement } from '../caller/lookup.ts';
import type { Session } from '../session.ts';
import { type ColumnLine, type ConceptSchema, conceptColumns, describable, viewColumns } from './describe-columns.ts';
import { SYSTEM_TABLES, systemColumns } from './system.ts';

const SYSTEM_TYPES: Readonly<Record<string, string>> = { text: 'string' };

/**
 * Returns the rows of DESC and DESCRIBE CONCEPT.
 * @throws SvcError 400 `unknown_*`, `wrong_schema`, `bad_value`, `no_ontology`, `too_many_columns`, `too_complex`
 */
export function describeRelation(session: Session, statement: Describe, graph: Graph | undefined): readonly unknown[] {
  const hops = hopsOf(statement);
  const what = `the description of ${quoted(statement.name.text)}`;
  const lines = withinAnswer(what, session.request.spending.answers, () => columnsOf(session, statement, graph, hops));
  return statement.concept ? lines : lines.map(({ key: _, ...rest }) => rest);
}

function columnsOf(session: Session, { schema: written, name, concept: walks }: Describe, graph: Graph | undefined, hops: number): readonly ColumnLine[] {
  const { product } = session.request.runtime.config;
  const schema = written === null ? null : neutralSchema(written.text, product);
  const schemas = ['', 'e', 'd', 'v'].map((p) => p + product);
  if (written !== null && (schema === null || schema === 'gsvc')) throw unknownInStatement('schema', written, schemas);
  const system = schema === 'vsvc' ? undefined : systemColumns(name.text.toUpperCase());
  const found = graph === undefined ? undefined : inGraph(graph, schema as ConceptSchema | 'vsvc' | null, name.text, hops, walks);
  if (found !== undefined) return found;
  if (system !== undefined) return system.map((c) => ({ col_name: c.name, data_type: SYSTEM_TYPES[c.type] ?? c.type, comment: null, key: null }));
  if (graph === undefined)
    throw badRequest('no_ontology', 'This statement reads an ontology, but the request names none', {
      offset: name.offset,
      hint: 'Send the name of the ontology in ontology_name',
    });
  throw unknown(graph, schema, product, name);
}

function inGraph(graph: Graph, schema: ConceptSchema | 'vsvc' | null, name: string, hops: number, walks: boolean): readonly ColumnLine[] | undefined {
  const concept = schema === 'vsvc' ? undefined : graph.concept(name);
  if (concept !== undefined) return conceptColumns(concept, (schema as ConceptSchema | null) ?? 'dsvc', hops, walks);
  const view = schema === 'vsvc' || schema === null ? graph.view(name) : undefined;
  return view !== undefined ? viewColumns(view) : undefined;
}

function unknown(graph: Graph, schema: string | null, product: string, name: Describe['name']): SvcError {
  const { concepts, views } = describable(graph);
  const isView = schema === 'vsvc';
  if ((isView ? concepts : views).some((other) => sameName(other, name.text))) {
    return badRequest('wrong_schema', `\`${name.text}\` is a ${isView ? 'concept' : 'view'}: it is in the schema ${isView ? product : `v${product}`}`, {
      offset: name.offset,
    });
  }
  if (isView) return unknownInStatement('view', name, views);
  return unknownInStatement('concept', name, [...concepts, ...(schema === null ? views : []), ...SYSTEM_TABLES]);
}

/** @throws SvcError 400 `unknown_option`, `bad_value` */
function hopsOf({ options }: Describe): number {
  let hops = 1;
  for (const { key, value } of options) {
    if (fold(key.text) !== 'graph_depth') throw unknownInStatement('option', key, ['graph_depth']);
    hops = Number(value);
    if (!/^\d{1,2}$/.test(value.trim()) || hops > MAX_DEPTH)
      throw badRequest('bad_value', `graph_depth must be a number from 0 to ${MAX_DEPTH}`, { offset: key.offset });
  }
  return hops;
}
