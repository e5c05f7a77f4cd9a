/** CREATE AGENT and DROP AGENT. */
import { can, canSee } from '../../auth/grants.ts';
import * as catalog from '../../catalog/changes.ts';
import type { AgentRow } from '../../catalog/snapshot.ts';
import type { CreateAgent, DropAgent } from '../../language/statements.ts';
import { fold } from '../../ontology/names.ts';
import { agentOptions } from '../caller/agent-options.ts';
import { lacks, unknownInStatement } from '../caller/lookup.ts';
import { type Changing, checkName, type Done, done, exists, optionsOf } from './changing.ts';
import type { Kinds } from './kinds.ts';
import { requireRoomForAgent } from './snapshot-room.ts';

async function createAgent(ctx: Changing, statement: CreateAgent): Promise<Done> {
  const { name } = statement;
  const old = ctx.caller.snapshot.agents.find((a) => a.key === fold(name.text));
  if (old === undefined || !statement.replace || !seesAgent(ctx, old)) ctx.mayCreate('agent', statement.source.offset);
  else if (!can(ctx.principal, 'edit', ['agent', old.name])) throw lacks('EDIT', `agent.${old.name}`, statement.source.offset);
  checkName(name, 'agent', old !== undefined);
  if (old !== undefined && statement.ifNotExists && seesAgent(ctx, old)) {
    const known = ctx.caller.snapshot.ontologies.filter((o) => old.ontologies.includes(o.key) && canSee(ctx.principal, ['ontology', o.name]));
    return done([], { agent: old.name, ontologies: known.map((o) => o.name) });
  }
  if (old !== undefined && !(statement.replace && can(ctx.principal, 'edit', ['agent', old.name]))) throw exists('agent', name);
  const ontologies = statement.ontologies.map((o) => ctx.ontology(o));
  const options = agentOptions(statement.options, optionsOf(statement.options), ctx.session.request.runtime.config.product);
  const agent = { name: old?.name ?? name.text, description: statement.description, options, ontologyKeys: ontologies.map((o) => o.key) };
  const row = { name: agent.name, key: fold(agent.name), description: agent.description, options, ontologies: agent.ontologyKeys };
  const agents = ctx.caller.snapshot.agents as AgentRow[];
  requireRoomForAgent(
    agents.filter((a) => a !== old),
    row,
    statement.source.offset,
  );
  if (old === undefined) agents.push(row);
  else Object.assign(old, row);
  return done([...catalog.saveAgent(agent, old !== undefined), ...(old === undefined ? ctx.own(['agent', agent.name]) : [])], {
    agent: agent.name,
    ontologies: ontologies.map((o) => o.name),
  });
}

async function dropAgent(ctx: Changing, { name, source }: DropAgent): Promise<Done> {
  const { agents } = ctx.caller.snapshot;
  const visible = agents.filter((a) => seesAgent(ctx, a));
  const row = visible.find((a) => a.key === fold(name.text));
  if (row === undefined) {
    throw unknownInStatement(
      'agent',
      name,
      visible.map((a) => a.name),
    );
  }
  if (!can(ctx.principal, 'edit', ['agent', row.name])) throw lacks('EDIT', `agent.${row.name}`, source.offset);
  (agents as unknown[]).splice(agents.indexOf(row), 1);
  return done(catalog.dropAgent(row.name), { agent: row.name, dropped: true });
}

/** True if the caller sees the agent, through a right on it or by seeing one of its ontologies. */
function seesAgent(ctx: Changing, agent: AgentRow): boolean {
  const { ontologies } = ctx.caller.snapshot;
  return (
    canSee(ctx.principal, ['agent', agent.name]) ||
    agent.ontologies.some((key) => canSee(ctx.principal, ['ontology', ontologies.find((o) => o.key === key)?.name ?? '']))
  );
}

export const AGENTS: Kinds<'create_agent' | 'drop_agent'> = {
  create_agent: { apply: createAgent },
  drop_agent: { apply: dropAgent },
};
