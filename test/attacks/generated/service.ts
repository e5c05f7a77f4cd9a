/** The part of the service that checks scripts, without a database: an ontology in memory, its policies and the writer. */
import type { Caller } from '../../../src/auth/authenticate.ts';
import type { PolicyRow } from '../../../src/catalog/policies.ts';
import type { GrantRow, OntologyRow, Privilege } from '../../../src/catalog/snapshot.ts';
import { keepModel } from '../../../src/catalog/versions.ts';
import { readConfig } from '../../../src/config.ts';
import { parseStatement } from '../../../src/language/classify.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import { splitScript } from '../../../src/language/split.ts';
import type { ModelStatement } from '../../../src/language/statements.ts';
import type { Graph } from '../../../src/ontology/graph.ts';
import type { Access } from '../../../src/planner/secure/access.ts';
import { accessOf } from '../../../src/service/caller/policies.ts';
import type { Runtime } from '../../../src/service/runtime.ts';
import { Spending } from '../../../src/service/spending.ts';
import { Draft } from '../../../src/service/write/draft.ts';
import { exprText, type Policy } from './spec.ts';

export const ONTOLOGY = 'o';

export interface Grant {
  readonly privilege: Privilege;
  readonly on: readonly string[];
  readonly all: boolean;
}

const grantRow = ({ privilege, on, all }: Grant): GrantRow => ({ privilege, resource: on, key: on, all, grantOption: false });

export const policyRow = (p: Policy): PolicyRow => {
  const grantees = (names: readonly string[]) => names.map((name) => ({ kind: 'user' as const, id: name, name }));
  if (p.kind === 'row') {
    const to = p.to === 'public' ? [] : grantees(p.to);
    return { kind: 'row', name: p.name, key: p.name, grantees: to, concept: p.concept, isPublic: p.to === 'public', condition: exprText(p.cond) };
  }
  return { kind: 'mask', name: p.name, key: p.name, grantees: grantees(p.except), concept: p.concept, property: p.prop, mask: { kind: 'null' } };
};

/** What determines the answers to a caller: the policies for that caller. */
export const accessFor = (policies: readonly Policy[], name: string): Access | undefined =>
  accessOf(
    {
      principal: { userId: name, name, isAdmin: false, roles: [], grants: [], credential: 'api_token', tenant: null, claims: {} },
      snapshot: { maskKey: 'key' },
    } as unknown as Caller,
    { policies: policies.map(policyRow) },
  );

/** An ontology whose versions are kept in memory. */
export class Ontology {
  readonly #runtime: Runtime;
  #row: OntologyRow;

  constructor(parser: SqlParser, graph: Graph, policies: readonly Policy[]) {
    const unused = (): never => {
      throw new Error('no database');
    };
    this.#runtime = {
      config: readConfig({}),
      // no version is stored
      db: { query: async () => [], batch: unused } as unknown as Runtime['db'],
      parser,
      now: () => 0,
      waitUntil: () => undefined,
      log: () => undefined,
    };
    this.#row = {
      id: crypto.randomUUID(),
      name: ONTOLOGY,
      key: ONTOLOGY,
      description: null,
      version: crypto.randomUUID(),
      seq: 1,
      cacheGeneration: 1,
      allowedFunctions: null,
      datasources: ['main'],
      active: 'main',
      policies: policies.map(policyRow),
      policyGeneration: 1,
    };
    keepModel(this.#row.id, this.#row.version, graph.model, 1000);
  }

  get version(): string {
    return this.#row.version;
  }

  /** Applies a script, or throws the writer's error. */
  async apply(script: string, writer: string, grants: readonly Grant[]): Promise<void> {
    const caller = {
      principal: { userId: writer, name: writer, isAdmin: false, roles: [], grants: grants.map(grantRow), credential: 'api_token', tenant: null, claims: {} },
      snapshot: { datasources: [{ id: 'main', name: 'main', key: 'main', type: 'postgres', secret: 'DATASOURCE_MAIN' }] },
    } as unknown as Caller;
    const draft = await Draft.open({ runtime: this.#runtime, spending: new Spending() }, caller, { ...this.#row });
    for (const source of splitScript(script)) await draft.apply(parseStatement(source) as ModelStatement);
    const written = await draft.write();
    if (written !== undefined) this.#row = { ...this.#row, version: written.version, seq: this.#row.seq + 1 };
  }
}
