/** The context of a script's statements. Types only. */
import type { Caller } from '../auth/authenticate.ts';
import type { OntologyRow } from '../catalog/snapshot.ts';
import type { Graph } from '../ontology/graph.ts';
import type { Script, ServiceRequest } from './runtime.ts';

/** The current ontology of a script, with the changes of the script. */
export interface OpenOntology {
  readonly name: string;
  readonly row: OntologyRow;
  /** The id of its last version; '' for an ontology that the script creates. */
  readonly version: string;
  /** True if the script has changed it since that version. */
  readonly changed: boolean;
  /** Returns the whole model. @throws SvcError 400 if the statements so far make it invalid */
  graph(): Promise<Graph>;
}

/** The context of a statement that reads. */
export interface Session {
  readonly request: ServiceRequest;
  readonly script: Script;
  /** The caller, with its current rights and what the script has created. */
  readonly caller: Caller;
  /** The current ontology; undefined: none. */
  readonly draft: OpenOntology | undefined;
}
