/** Random valid ontologies, with valid policies on them. */

import { SvcError } from '../../../src/errors.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import { compile } from '../../../src/ontology/compile.ts';
import type { Graph } from '../../../src/ontology/graph.ts';
import { checkPolicies } from '../../../src/service/write/policy-check.ts';
import type { Rng } from '../../integration/differential/rng.ts';
import { run } from '../../unit/ontology/script.ts';
import { genPolicies, genWorld, NEW_TABLES } from './gen.ts';
import { ONTOLOGY, policyRow } from './service.ts';
import { type Policy, type Spec, specText, type Table } from './spec.ts';

export interface Case {
  readonly spec: Spec;
  readonly graph: Graph;
  readonly tables: readonly Table[];
  readonly policies: readonly Policy[];
}

/** undefined: the generated case is not valid. */
export function genCase(r: Rng, parser: SqlParser): Case | undefined {
  const { spec, tables } = genWorld(r);
  const ifValid = <T>(make: () => T): T | undefined => {
    try {
      return make();
    } catch (e) {
      if (e instanceof SvcError) return undefined;
      throw e;
    }
  };
  const graph = ifValid(() => compile(run(specText(spec)).graph.model, ONTOLOGY));
  if (graph === undefined) return undefined;
  const context = { parser, product: 'svc', activeDatasource: 'main', allowedFunctions: new Set<string>() };
  const policies = genPolicies(r, spec).filter(
    (p) => ifValid(() => checkPolicies(context, { before: undefined, after: graph }, [policyRow(p)], undefined) ?? true) !== undefined,
  );
  return { spec, graph, tables: [...tables, ...NEW_TABLES], policies };
}
