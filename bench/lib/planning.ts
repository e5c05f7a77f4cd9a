/** Planning as for a request: in Node and, in `bench/worker/plan.ts`, in workerd. */
import { graphOf } from '../../examples/world/graph.ts';
import { parseStatement } from '../../src/language/classify.ts';
import type { SqlParser } from '../../src/language/parser.ts';
import { splitScript } from '../../src/language/split.ts';
import type { ReadStatement } from '../../src/language/statements.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { type Plan, planSelect } from '../../src/planner/index.ts';
import { verify } from '../../src/planner/verify/index.ts';
import { prepareRead } from '../../src/service/read/read.ts';
import type { Session } from '../../src/service/session.ts';
import { Spending } from '../../src/service/spending.ts';

/** `cold`: a new text. `made`: parsing its finished SQL. `verify`: the check of that SQL, once for a plan. `warm`: a text whose plan is in the service's cache, with the steps before the look-up. */
export interface Planning {
  readonly parse: (text: string) => unknown;
  readonly cold: (text: string) => unknown;
  readonly made: (text: string) => unknown;
  readonly verify: (text: string) => unknown;
  readonly warm: (text: string) => Promise<unknown>;
}

export const planContext = (graph: Graph, parser: SqlParser) => ({ graph, parser, product: 'svc', activeDatasource: 'main', keepsNames: () => true });

/** The ways to plan over the sample graph's model. */
export function planning(model: string, parser: SqlParser): Planning {
  const graph = graphOf(model, 'world', parser);
  const context = planContext(graph, parser);
  const plans = new Map<string, Plan>();
  const planOf = (text: string): Plan => {
    const plan = plans.get(text) ?? planSelect(context, { text, offset: 0 });
    plans.set(text, plan);
    return plan;
  };
  return {
    parse: (text) => parser.parse(text),
    cold: (text) => planSelect(context, { text, offset: 0 }),
    made: (text) => parser.parse(planOf(text).sql),
    verify: (text) => verify(parser, planOf(text).sql, planOf(text).declared),
    warm: async (text) => {
      for (const source of splitScript(text)) await prepareRead(administratorSession(parser), parseStatement(source) as ReadStatement, graph, true);
    },
  };
}

/** The parts of an administrator's request that `prepareRead` reads. Each request has budgets of its own. */
function administratorSession(parser: SqlParser): Session {
  const row = { name: 'world', key: 'world', version: 'v', allowedFunctions: null, datasources: ['main'], active: 'main' };
  const config = { product: 'svc', datasourceSecrets: { DATASOURCE_MAIN: 'postgres://u:p@h.example/d' } };
  const snapshot = { ontologies: [row], datasources: [{ name: 'main', key: 'main', type: 'postgres', secret: 'DATASOURCE_MAIN' }], agents: [] };
  const principal = { name: 'admin', isAdmin: true, roles: [], grants: [] };
  return {
    request: { runtime: { parser, config }, spending: new Spending() },
    script: { limit: null, datasource: null },
    caller: { principal, snapshot },
    draft: { name: 'world', version: 'v', changed: false, row },
  } as unknown as Session;
}
