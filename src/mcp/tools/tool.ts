/** What a tool is: its words for the model, its schemas, and what it does. */
import { z } from 'zod';
import { can } from '../../auth/grants.ts';
import type { ServiceRequest } from '../../service.ts';
import type { Session } from '../call.ts';
import type { JsonRow } from '../rows.ts';
import { ontologyOf } from '../target.ts';

/** A call of a tool. */
export interface ToolCall extends Session {
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal;
  /** Tells the client what happens meanwhile, where it has asked for that. */
  readonly tell: (step: string) => void;
  /** Told what the audit and the log say of the call. */
  readonly note: (noted: Noted) => void;
}

export interface Noted {
  readonly ontology?: string;
  readonly sql?: string;
  readonly rows?: number;
  /** What was done has its entry in the audit already. */
  readonly written?: boolean;
}

export interface Tool<I extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: z.ZodObject;
  /** It waits for a language model. */
  readonly asksModel?: boolean;
  /** It may change the model: listed as destructive, where it may. */
  readonly mayModel?: (session: Session) => boolean;
  /** @throws SvcError, which the model is told */
  run(call: ToolCall, args: z.output<I>): Promise<JsonRow>;
}

/** A tool with the types of its arguments forgotten, so that tools stand in one list. */
export const tool = <I extends z.ZodObject>(made: Tool<I>): Tool => made as unknown as Tool;

/** The ontology of a call. @throws SvcError 404 `ontology_not_found`; 403 `no_access` */
export function ontologyFor(call: ToolCall, argument: string | undefined): string {
  const ontology = ontologyOf(call.caller, call.target, argument);
  call.note({ ontology });
  return ontology;
}

/** A call as the operations want it. */
export const requestOf = ({ runtime, caller, requestId, spending, signal, note }: ToolCall): ServiceRequest => ({
  runtime,
  caller,
  requestId,
  spending,
  signal,
  knownVersion: null,
  about: () => undefined,
  noted: () => note({ written: true }),
});

/** `max_results` capped by ROW_LIMIT. */
export const mostRows = ({ runtime }: Session, asked: number | undefined): number => Math.min(asked ?? Number.POSITIVE_INFINITY, runtime.config.mcp.rowLimit);

/** Whether the caller may change the model of the ontology that calls are about, or of any where none is chosen. */
export function editsModel({ caller, target, modelling }: Session): boolean {
  if (!modelling) return false;
  const { principal } = caller;
  if (target.ontology !== null) return can(principal, 'edit', ['ontology', target.ontology]);
  return principal.isAdmin || principal.grants.some((g) => g.privilege === 'edit' && g.key[0] === 'ontology');
}

/** Arguments that several tools take. */
export const maxResults = z.number().int().min(1).optional().describe('Most rows; the server has a limit of its own');
export const ontologyArgument = z.string().optional().describe('Knowledge graph; default: that of the connection');

/** A list of names; comma text is taken too. */
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

/** A row with whatever columns. */
export const anyRow = z.looseObject({});
export const rowsOutput = z.array(anyRow);
export const truncatedOutput = z.boolean().describe('Whether more was left out');
