/** Calls tools of the MCP server without the protocol, with a simulated language model. */
import { expect } from 'vitest';
import type { LanguageModels, Stage, Turn } from '../../src/llm/types.ts';
import type { Tool, ToolCall } from '../../src/mcp/tools/tool.ts';
import { type ServiceRequest, Spending, targetOf } from '../../src/service.ts';

/** A turn for the SQL: a statement, that something is missing, or several readings of the question. */
export type SqlTurn = string | { readonly refusal: string } | { readonly readings: readonly { readonly reading: string; readonly sql: string }[] };

/** A language model with scripted turns; the last one repeats. */
export class SimulatedModel implements LanguageModels {
  readonly name = 'fake/one';
  readonly timeoutMs = 20_000;
  readonly heard: Turn<unknown>[] = [];
  #turns: readonly (SqlTurn | ((turn: Turn<unknown>) => SqlTurn))[] = [];
  #concept = '';
  #answer = 'Well.';

  says(turns: readonly (SqlTurn | ((turn: Turn<unknown>) => SqlTurn))[], concept = '', answer = 'Well.'): void {
    this.#turns = turns;
    this.#concept = concept;
    this.#answer = answer;
  }

  async ask<T>(turn: Turn<T>) {
    const n = this.heard.filter((t) => t.stage === 'sql').length;
    this.heard.push(turn);
    const said: Record<Stage, unknown> = {
      concept: { concept: this.#concept, reason: 'why' },
      sql: turn.stage === 'sql' ? this.#sql(turn, n) : undefined,
      answer: { answer: this.#answer },
    };
    const value = turn.schema.safeParse(said[turn.stage]);
    return { value: value.success ? value.data : undefined, text: '', inputTokens: 3, outputTokens: 1, durationMs: 1 };
  }

  #sql(turn: Turn<unknown>, n: number): object {
    const made = this.#turns[Math.min(n, this.#turns.length - 1)] ?? '';
    const said = typeof made === 'function' ? made(turn) : made;
    return { reason: 'so', sql: '', refusal: null, ...(typeof said === 'string' ? { sql: said } : said) };
  }
}

/** Calls a tool like a client; returns its structured content, which must have the declared form. */
export async function callTool(
  { runtime, caller, requestId }: Pick<ServiceRequest, 'runtime' | 'caller' | 'requestId'>,
  tool: Tool,
  args: Record<string, unknown>,
  named: { readonly ontology?: string; readonly agent?: string },
  // biome-ignore lint/suspicious/noExplicitAny: answers of many tools
): Promise<any> {
  const target = targetOf(caller, { ontology: named.ontology ?? null, agent: named.agent ?? null }, { defaultOntology: null, defaultAgent: null });
  const session = {
    runtime,
    caller,
    target,
    modelling: false,
    requestId,
    spending: new Spending(),
    signal: new AbortController().signal,
    note: () => undefined,
  };
  const result = JSON.parse(JSON.stringify(await tool.run(session as unknown as ToolCall, tool.input.parse(args))));
  expect(tool.output.strict().parse(result)).toEqual(result);
  return result;
}
