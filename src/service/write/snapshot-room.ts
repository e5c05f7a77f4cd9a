/** Limits what the snapshot of an administrator has: all agents, and all ontologies with their policies. A large snapshot fits into no cache, and each request would read it from the catalog. */
import type { PolicyRow } from '../../catalog/policies.ts';
import type { AgentRow, OntologyRow } from '../../catalog/snapshot.ts';
import { badRequest, type SvcError } from '../../errors.ts';

/** The most characters of all agents together. */
const AGENT_CHARACTERS = 1_000_000;
/** The most characters of the descriptions and policies of all ontologies together. */
const ONTOLOGY_CHARACTERS = 4_000_000;
/** What a row takes besides its texts, in characters. */
const OF_A_ROW = 100;

const sum = (texts: readonly (string | null)[]): number => texts.reduce((length, text) => length + (text?.length ?? 0), OF_A_ROW);

const ofAgent = ({ name, description, options, ontologies }: Omit<AgentRow, 'key'>): number =>
  sum([name, description, ...Object.entries(options).flat(), ...ontologies]);

const ofPolicy = (p: PolicyRow): number =>
  OF_A_ROW * p.grantees.length + sum([p.name, p.concept, ...(p.kind === 'row' ? [p.condition] : [p.property, JSON.stringify(p.mask)])]);

/** The lengths of lists of policies. A script may make a thousand policies, and each of them needs the length of all. */
const lengths = new WeakMap<readonly PolicyRow[], number>();

function ofPolicies(policies: readonly PolicyRow[]): number {
  let length = lengths.get(policies);
  if (length === undefined) {
    length = policies.reduce((all, p) => all + ofPolicy(p), 0);
    lengths.set(policies, length);
  }
  return length;
}

/** A list with a further policy, instead of `old` if there is one. */
export function withPolicy(policies: readonly PolicyRow[], old: PolicyRow | undefined, policy: PolicyRow): readonly PolicyRow[] {
  const list = [...(old === undefined ? policies : policies.filter((p) => p !== old)), policy];
  lengths.set(list, ofPolicies(policies) - (old === undefined ? 0 : ofPolicy(old)) + ofPolicy(policy));
  return list;
}

const ofOntology = ({ name, description, policies }: Pick<OntologyRow, 'name' | 'description' | 'policies'>): number =>
  sum([name, description]) + ofPolicies(policies);

/**
 * Checks that an agent fits. @param others all other agents
 * @throws SvcError 400 `too_many_agents`
 */
export function requireRoomForAgent(others: readonly AgentRow[], agent: Omit<AgentRow, 'key'>, offset: number): void {
  const length = others.reduce((all, other) => all + ofAgent(other), ofAgent(agent));
  if (length > AGENT_CHARACTERS) throw tooLarge('too_many_agents', 'agents', AGENT_CHARACTERS, offset);
}

/**
 * Checks that the description and the policies of an ontology fit. @param all the ontologies, with or without this one
 * @throws SvcError 400 `ontologies_too_large`
 */
export function requireRoomForOntology(
  all: readonly OntologyRow[],
  ontology: Pick<OntologyRow, 'id' | 'name' | 'description' | 'policies'>,
  offset: number,
): void {
  const length = all.reduce((sofar, other) => (other.id === ontology.id ? sofar : sofar + ofOntology(other)), ofOntology(ontology));
  if (length > ONTOLOGY_CHARACTERS) throw tooLarge('ontologies_too_large', 'descriptions and policies of ontologies', ONTOLOGY_CHARACTERS, offset);
}

/** The same for an ontology that is created, or whose description changes. @throws SvcError 400 `ontologies_too_large` */
export function requireRoomForDescription(all: readonly OntologyRow[], row: OntologyRow, isNew: boolean, description: string | null, offset: number): void {
  if (isNew || description !== row.description) requireRoomForOntology(all, { ...row, description }, offset);
}

const tooLarge = (code: string, what: string, most: number, offset: number): SvcError =>
  badRequest(code, `all ${what} together may have at most ${most} characters`, { offset, hint: 'Drop some of them, or write shorter texts' });
