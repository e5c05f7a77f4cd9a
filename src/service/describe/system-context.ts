/** The context of the system tables. Every SELECT has it. The code that SHOW and some tables need in addition is loaded only with them (show.ts). */
import type { Graph } from '../../ontology/graph.ts';
import { fold } from '../../ontology/names.ts';
import { noGraph } from '../caller/lookup.ts';
import { accessOf } from '../caller/policies.ts';
import type { Session } from '../session.ts';
import type { SystemContext } from './system.ts';

/** Returns the rows when the statement is executed, after the changes of previous statements have been written. */
export type LateRows = () => Promise<readonly unknown[]>;

/** Returns the context of the system tables of a request. */
export function systemContext(session: Session, graph: Graph | undefined): SystemContext {
  const { parser, config } = session.request.runtime;
  const row = session.draft?.row;
  const access = row && accessOf(session.caller, row);
  return {
    caller: session.caller,
    parser,
    answers: session.request.spending.answers,
    product: config.product,
    graph: graph ?? noGraph(),
    ontology: row,
    version: session.draft === undefined || session.draft.changed ? null : session.draft.version,
    hidesRows: (access?.rows.length ?? 0) > 0,
    hidesValues: (access?.masks.length ?? 0) > 0,
    masked: new Set(access?.masks.map((m) => fold(m.property))),
  };
}
