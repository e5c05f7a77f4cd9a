/** The MCP server of one request: the tools, resources and prompts for one caller. Loaded with the first call. */
import { McpServer } from '@modelcontextprotocol/server';
import { loggedLine, type SvcError } from '../errors.ts';
import { type auditRequest, sameName } from '../service.ts';
import { pageOf } from './apps.ts';
import type { Session } from './call.ts';
import { asksForReading, chosenReading } from './elicit.ts';
import { toolFault } from './faults.ts';
import { Gate } from './gate.ts';
import { instructions } from './instructions.ts';
import type { Offer } from './offer.ts';
import { cached } from './remembered.ts';
import { descriptionOf, isAvailable, type Noted, type Tool } from './tools/tool.ts';

export { createMcpHandler } from 'agents/mcp/server';

/** Maximum number of tool calls that run at the same time; others wait (docs/design/platform-rules.md#mcp-objects). */
export const TOOLS_AT_ONCE = 8;
/** The same for calls that wait for a language model. */
const QUESTIONS_AT_ONCE = 4;

export const newGates = (): Pick<Surroundings, 'gate' | 'slowGate'> => ({ gate: new Gate(TOOLS_AT_ONCE), slowGate: new Gate(QUESTIONS_AT_ONCE) });

/** What an object provides to the servers that it creates. */
export interface Surroundings {
  readonly offer: Offer;
  readonly version: string;
  /** Limits how many tools run at the same time. */
  readonly gate: Gate;
  /** The same for tools that wait for a language model, which may take minutes. */
  readonly slowGate: Gate;
  readonly audit: typeof auditRequest;
}

export function buildServer(session: Session, surroundings: Surroundings): McpServer {
  const { version, offer } = surroundings;
  const { product } = session.runtime.config;
  const server = new McpServer(
    { name: product, title: 'Knowledge graphs', version },
    { instructions: instructions(product, session.runtime.llm !== undefined), ...offer.options },
  );
  const called = calledTool(session.body, offer);
  if (called !== undefined) addTool(server, called, session, surroundings);
  else {
    for (const tool of offer.tools) addTool(server, tool, session, surroundings);
    offer.add(server, session);
  }
  withoutInherited(server);
  return server;
}

/** The SDK looks up names of tools, prompts and templates in plain objects, which inherit members such as `constructor`. */
function withoutInherited(server: McpServer): void {
  for (const member of Object.values(server)) if (member?.constructor === Object) Object.setPrototypeOf(member, null);
}

/** The tool that a request's only message calls. The server exists only for the request, so it needs no other tool. */
function calledTool(body: Session['body'], { tools }: Offer): Tool | undefined {
  return 'method' in body && body.method === 'tools/call' ? tools.find(({ name }) => name === body.params?.name) : undefined;
}

const makeSchemas = (tool: Tool) => ({ inputSchema: cached(tool.input), outputSchema: cached(tool.output) });
const madeSchemas = new WeakMap<Tool, ReturnType<typeof makeSchemas>>();

function schemasOf(tool: Tool): ReturnType<typeof makeSchemas> {
  const schemas = madeSchemas.get(tool) ?? makeSchemas(tool);
  madeSchemas.set(tool, schemas);
  return schemas;
}

function addTool(server: McpServer, tool: Tool, session: Session, { gate, slowGate, audit }: Surroundings): void {
  const { name, title } = tool;
  const description = descriptionOf(tool, session);
  const changes = tool.mayModel?.(session) === true;
  const annotations = { readOnlyHint: !changes, destructiveHint: changes, idempotentHint: !changes, openWorldHint: false };
  const _meta = isAvailable(tool, session) ? pageOf(name, session) : { _meta: { available: false } };
  server.registerTool(name, { title, description, ...schemasOf(tool), annotations, ..._meta }, async (args: Record<string, unknown>, context) => {
    const { runtime, caller, requestId, spliced } = session;
    const begun = runtime.now();
    let noted: Noted = {};
    let fault: SvcError | undefined;
    const note = (more: Noted): void => {
      noted = { ...noted, ...more };
    };
    const { progressToken } = context.mcpReq._meta ?? {};
    let progress = 0;
    const reading = tool.asksModel === true ? chosenReading(context) : undefined;
    const report = (message: string): void => {
      if (progressToken === undefined) return;
      progress++;
      // ignored if the client has left
      void context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } }).catch(() => undefined);
    };
    try {
      const { signal } = context.mcpReq;
      const run = () => tool.run({ ...session, signal, report, note }, reading === undefined ? args : { ...args, reading });
      const made = await (tool.asksModel ? slowGate : gate).run(run, signal);
      const question = asksForReading(made, context);
      if (question !== undefined) return question;
      const result = spliced.marked(made);
      return { content: [{ type: 'text' as const, text: spliced.textOf(made, result) }], structuredContent: result };
    } catch (error) {
      const failure = toolFault(error, noted.sql);
      fault = failure.fault;
      if (fault.code === 'read_only') session.lacksScope?.();
      if (fault.status >= 500) runtime.log({ level: 'error', event: 'mcp_tool_failed', request_id: requestId, tool: name, cause: causeOf(fault) });
      return { content: [{ type: 'text' as const, text: failure.text }], isError: true };
    } finally {
      if (!noted.written || fault !== undefined) {
        const { principal } = caller;
        audit(runtime, {
          at: new Date(begun).toISOString(),
          user: principal.name,
          actor: principal.actor?.name ?? null,
          credential: principal.credential,
          action: `MCP ${name}`,
          ontology: noted.ontology ?? null,
          sql: noted.sql ?? null,
          request_id: requestId,
          status: fault?.status ?? 200,
          code: fault?.code ?? null,
          rows: noted.rows ?? null,
          duration_ms: Math.round(runtime.now() - begun),
        });
      }
    }
  });
}

const causeOf = ({ cause, code }: SvcError): string => (cause === undefined ? code : loggedLine(cause));

/** The name of a tool for the log. */
export const loggedTool = ({ tools }: Offer, name: unknown): string =>
  tools.find((tool) => typeof name === 'string' && sameName(tool.name, name))?.name ?? 'unknown';
