/** The definitions for clients: small, and without what hosted clients do not support. */

import type { Client } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer';
import { describe, expect, it } from 'vitest';
import type { Session } from '../../../src/mcp/call.ts';
import { connect, listingSession } from '../../support/mcp.ts';

type Node = Readonly<Record<string, unknown>>;
/** Every schema inside a schema, with its path. */
function* nodes(node: unknown, place: string): Generator<readonly [Node, string]> {
  if (Array.isArray(node)) for (const [i, part] of node.entries()) yield* nodes(part, `${place}[${i}]`);
  else if (typeof node === 'object' && node !== null) {
    yield [node as Node, place];
    for (const [key, part] of Object.entries(node)) yield* nodes(part, `${place}.${key}`);
  }
}

describe('the tools', () => {
  it('are ten, described and read-only', async () => {
    const { tools } = await (await connect(listingSession())).listTools();
    expect(tools.map((t) => t.name).sort()).toEqual([
      'ask_question',
      'describe_knowledge_graph',
      'execute_sql',
      'generate_sql',
      'identify_concept',
      'list_agents',
      'list_datasources',
      'list_ontologies',
      'query_data',
      'search_values',
    ]);
    for (const { name, description, annotations, title } of tools) {
      expect(description?.length, name).toBeGreaterThan(60);
      expect(title?.length, name).toBeGreaterThan(3);
      expect(annotations, name).toEqual({ readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false });
    }
  });

  it('cost a model fewer than 4,500 tokens', async () => {
    const { tools } = await (await connect(listingSession())).listTools();
    const count = countTokens(JSON.stringify(tools));
    expect(count).toBeLessThan(4500);
    expect(count).toBeGreaterThan(1000);
  });

  it('have schemas that every client supports', async () => {
    const { tools } = await (await connect(listingSession())).listTools();
    let seen = 0;
    const forbidden = [
      '$ref',
      '$defs',
      'definitions',
      'id',
      '$id',
      'anyOf',
      'oneOf',
      'allOf',
      'not',
      'exclusiveMinimum',
      'exclusiveMaximum',
      'const',
      'nullable',
    ];
    for (const { name, inputSchema, outputSchema } of tools) {
      expect([inputSchema.type, outputSchema?.type], name).toEqual(['object', 'object']);
      for (const [node, place] of [...nodes(inputSchema, `${name}.input`), ...nodes(outputSchema, `${name}.output`)]) {
        // the names of arguments and members are not keywords
        if (place.endsWith('.properties')) continue;
        seen++;
        expect(
          Object.keys(node).filter((key) => forbidden.includes(key)),
          place,
        ).toEqual([]);
        if (node.type !== undefined) expect(typeof node.type, place).toBe('string');
      }
    }
    expect(seen).toBeGreaterThan(80);
  });

  it('list execute_sql as destructive only if the caller may change the model', async () => {
    const grants = [{ privilege: 'edit', resource: ['ontology', 'store'], key: ['ontology', 'store'], all: true, grantOption: false }];
    const caller = { ...listingSession().caller, principal: { ...listingSession().caller.principal, grants } } as unknown as Session['caller'];
    const store = { ontology: 'store', isNamed: true, agent: undefined };
    const hints = async (of: Partial<Session>) => {
      const { tools } = await (await connect(listingSession(of))).listTools();
      const { annotations } = tools.find((t) => t.name === 'execute_sql') ?? {};
      return [annotations?.readOnlyHint, annotations?.destructiveHint];
    };
    expect(await hints({ caller, target: store, modelling: true })).toEqual([false, true]);
    expect(await hints({ caller, modelling: true })).toEqual([false, true]);
    expect(await hints({ caller, target: store })).toEqual([true, false]);
    expect(await hints({ caller, target: { ...store, ontology: 'other' }, modelling: true })).toEqual([true, false]);
    expect(await hints({ target: store, modelling: true })).toEqual([true, false]);
  });
});

describe.each(['constructor', '__proto__', 'toString', 'nothing'])('the name %s, which nothing has', (name) => {
  const ref = { type: 'ref/resource', uri: 'ontology://{name}' } as const;
  it.each([
    ['a tool', `Tool ${name} not found`, (c: Client) => c.callTool({ name, arguments: {} })],
    ['a prompt', `Prompt ${name} not found`, (c: Client) => c.getPrompt({ name })],
    [
      'a prompt of a completion',
      `Prompt ${name} not found`,
      (c: Client) => c.complete({ ref: { type: 'ref/prompt', name }, argument: { name: 'ontology', value: '' } }),
    ],
    [
      'a template of a completion',
      `Resource template ${name} not found`,
      (c: Client) => c.complete({ ref: { ...ref, uri: name }, argument: { name: 'name', value: '' } }),
    ],
  ])('is not that of %s', async (_, message, ask) => {
    await expect(ask(await connect(listingSession()))).rejects.toThrow(message);
  });

  it('is not that of an argument with completions', async () => {
    const { completion } = await (await connect(listingSession())).complete({ ref, argument: { name, value: 'a' } });
    expect(completion.values).toEqual([]);
  });
});

describe('what the server says to a model', () => {
  it('recommends the tools that need a language model only if there is one', async () => {
    const said = async (of: Partial<Session> = {}) => (await connect(listingSession(of))).getInstructions() ?? '';
    expect(await said()).toMatch(/list_ontologies.*describe_knowledge_graph with include=\["model"\].*generate_sql.*execute_sql.*query_data does both/s);
    const { runtime } = listingSession();
    const without = await said({ runtime: { ...runtime, llm: undefined } as unknown as Session['runtime'] });
    expect(without).toMatch(/list_ontologies.*describe_knowledge_graph.*generate_sql and query_data are not available.*execute_sql/s);
    expect(without).not.toMatch(/query_data does both/);
  });

  it('begins with the section model, in prompts too', async () => {
    const client = await connect(listingSession());
    for (const [name, args] of [
      ['explore', {}],
      ['answer', { question: 'How many?' }],
    ] as const) {
      const { messages } = await client.getPrompt({ name, arguments: args });
      expect(JSON.stringify(messages)).toContain('describe_knowledge_graph with include=');
    }
  });
});
