/** The type of a tool: its description for the model, its schemas and its implementation. */
import { z } from 'zod';
import { can } from '../../auth/grants.ts';
import type { JsonRow } from '../../nesting/cut.ts';
import type { ServiceRequest } from '../../service.ts';
import { ontologyOf } from '../../service.ts';
import { readingRequest, type Session } from '../call.ts';

/** A call of a tool. */
export interface ToolCall extends Session {
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
  /** Reports progress to the client, if it asked for progress. */
  readonly report: (step: string) => void;
  /** Records details of the call for the audit and the log. */
  readonly note: (noted: Noted) => void;
}

export interface Noted {
  readonly ontology?: string;
  readonly sql?: string;
  readonly rows?: number;
  /** Whether the operation already has its entry in the audit. */
  readonly written?: boolean;
}

export interface Tool<I extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: z.ZodObject;
  /** Whether it waits for a language model. */
  readonly asksModel?: boolean;
  /** Whether it may change the model in a session. It is then listed as destructive. */
  readonly mayModel?: (session: Session) => boolean;
  /** @throws SvcError, whose message the model gets */
  run(call: ToolCall, args: z.output<I>): Promise<JsonRow>;
}

/** Whether a tool can be used: one that needs a language model cannot if the service has no language model. */
export const isAvailable = ({ asksModel }: Pick<Tool, 'asksModel'>, { runtime }: Pick<Session, 'runtime'>): boolean =>
  asksModel !== true || runtime.llm !== undefined;

/** The description of a tool for the clients of a service with or without a language model. */
export const descriptionOf = (tool: Pick<Tool, 'description' | 'asksModel'>, session: Pick<Session, 'runtime'>): string =>
  !isAvailable(tool, session) ? `Not available: this server has no language model; write the SQL yourself instead. ${tool.description}` : tool.description;

/** A tool without the types of its arguments, so that tools can be in one list. */
export const tool = <I extends z.ZodObject>(made: Tool<I>): Tool => made as unknown as Tool;

/** The ontology of a call. @throws SvcError 404 `ontology_not_found`; 403 `no_access` */
export function ontologyFor(call: ToolCall, argument: string | undefined): string {
  const ontology = ontologyOf(call.caller, call.target, argument);
  call.note({ ontology });
  return ontology;
}

/** The service request for a call. */
export const requestOf = (call: ToolCall): ServiceRequest => ({ ...readingRequest(call, call.signal), noted: () => call.note({ written: true }) });

/** `max_results`, limited by ROW_LIMIT. */
export const maxRows = ({ runtime }: Session, asked: number | undefined): number => Math.min(asked ?? Number.POSITIVE_INFINITY, runtime.config.mcp.rowLimit);

/** Whether the caller may change the model of the target ontology, or of any ontology for a connection without a target. */
export function editsModel({ caller, target, modelling }: Session): boolean {
  if (!modelling) return false;
  const { principal } = caller;
  if (target.ontology !== null) return can(principal, 'edit', ['ontology', target.ontology]);
  return principal.isAdmin || principal.grants.some((g) => g.privilege === 'edit' && g.key[0] === 'ontology');
}

/** Arguments that several tools take. */
export const maxResults = z.number().int().min(1).optional().describe('Maximum number of rows; the server has its own limit');
export const ontologyArgument = z.string().optional().describe('Knowledge graph; default: that of the connection');

/** A list of names, also accepted as comma-separated text. */
export const names = (description: string) =>
  z
    .preprocess(
      (value) => (typeof value === 'string' ? split(value) : Array.isArray(value) ? value.flatMap((v) => (typeof v === 'string' ? split(v) : [v])) : value),
      z.array(z.string()),
    )
    .optional()
    .describe(description);

const split = (text: string): readonly string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** A row with any columns. */
const anyRow = z.looseObject({});
export const rowsOutput = z.array(anyRow);
export const truncatedOutput = z.boolean().describe('Whether more was omitted');
