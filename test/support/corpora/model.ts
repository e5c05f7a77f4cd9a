/** Models and policies from scripts, without a service. */
import { parseStatement } from '../../../src/language/classify.ts';
import { createSqlReader } from '../../../src/language/expressions.ts';
import type { SqlParser } from '../../../src/language/parser.ts';
import { splitScript } from '../../../src/language/split.ts';
import type { CreatePolicy, Statement } from '../../../src/language/statements.ts';
import { applyStatement, finish, isApplicable, Places } from '../../../src/ontology/apply.ts';
import type { Graph } from '../../../src/ontology/graph.ts';
import { EMPTY_MODEL, type Model } from '../../../src/ontology/model.ts';
import type { Access, CallerFacts, Mask, MaskRule, RowRule } from '../../../src/planner/secure/access.ts';

/** A model that grows with each script; statements that do not concern a model are skipped. */
export class Modelled {
  readonly #parser: SqlParser;
  readonly #name: string;
  #model: Model = EMPTY_MODEL;
  #graph: Graph | undefined;
  readonly policies: CreatePolicy[] = [];

  constructor(parser: SqlParser, name: string) {
    this.#parser = parser;
    this.#name = name;
  }

  /** Applies the statements of a script. @throws SvcError like the service; the model is not changed then */
  apply(script: string): void {
    const context = this.#context();
    let model = this.#model;
    let changed = false;
    for (const source of splitScript(script)) {
      const statement: Statement = parseStatement(source);
      if (statement.kind === 'create_policy') this.policies.push(statement);
      if (!isApplicable(statement)) continue;
      model = applyStatement(model, statement, context);
      changed = true;
    }
    if (!changed) return;
    const finished = finish(this.#model, model, context);
    this.#model = finished.graph.model;
    this.#graph = finished.graph;
  }

  get graph(): Graph {
    this.#graph ??= finish(EMPTY_MODEL, this.#model, this.#context()).graph;
    return this.#graph;
  }

  #context() {
    const parts = { ontology: this.#name, datasources: ['main', 'archive'], activeDatasource: 'main', product: 'svc', places: new Places() };
    return { ...createSqlReader(this.#parser, 'svc'), ...parts };
  }
}

/** The policies of a script for a caller without name or role: conditions for others do not count. */
export function accessOf(policies: readonly CreatePolicy[], caller: CallerFacts): Access {
  const rows = new Map<string, { concept: string; conditions: { policy: string; condition: string }[] }>();
  const masks: MaskRule[] = [];
  const names = (to: { kind: 'user' | 'role'; name: { text: string } }): boolean =>
    to.kind === 'user' ? to.name.text === caller.username : caller.roles.includes(to.name.text);
  for (const { name, rule } of policies) {
    if (rule.kind === 'mask') {
      if (!rule.except.some(names))
        masks.push({ policy: name.text, property: rule.property.text, concept: rule.concept?.text ?? null, mask: maskOf(rule.mask) });
      continue;
    }
    const found = rows.get(rule.concept.text) ?? { concept: rule.concept.text, conditions: [] };
    rows.set(rule.concept.text, found);
    if (rule.to === null || names(rule.to)) found.conditions.push({ policy: name.text, condition: rule.condition.text });
  }
  return { rows: [...rows.values()] satisfies RowRule[], masks, caller, maskKey: 'a key' };
}

type Clause = Extract<CreatePolicy['rule'], { kind: 'mask' }>['mask'];

function maskOf(mask: Clause): Mask {
  if (mask.kind === 'with') return { kind: 'with', expression: mask.expression.text };
  if (mask.kind === 'partial') return { kind: 'partial', first: mask.first, filler: mask.filler, last: mask.last };
  return { kind: mask.kind };
}
