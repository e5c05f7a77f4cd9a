/**
 * The tools, resources and prompts that the scenarios of the conformance runner call, as the descriptions of the scenarios
 * define them. Those that return rows of JSON are tools like those of the service; the others need what no tool of the service
 * does: other content than text, notifications, questions to the user.
 */
import { completable, fromJsonSchema, type JsonSchemaType, type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker';
import { z } from 'zod';
import { SvcError } from '../../../../src/errors.ts';
import { OFFER, type Offer } from '../../../../src/mcp/offer.ts';
import { tool } from '../../../../src/mcp/tools/tool.ts';
import { addQuestions, STATE } from './questions.ts';

/** One pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
/** No samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const text = (said: string) => ({ type: 'text' as const, text: said });
const resource = (uri: string, mimeType: string, said: string) => ({ type: 'resource' as const, resource: { uri, mimeType, text: said } });
const user = <C>(content: C) => ({ role: 'user' as const, content });
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const TOOLS = [
  tool({
    name: 'test_simple_text',
    title: 'Text',
    description: 'Text alone',
    input: z.object({}),
    output: z.object({ text: z.string() }),
    run: async () => ({ text: 'This is a simple text response for testing.' }),
  }),
  tool({
    name: 'test_error_handling',
    title: 'Error',
    description: 'Fails always',
    input: z.object({}),
    output: z.object({}),
    run: async () => {
      throw new SvcError(400, 'intended', 'This tool intentionally returns an error for testing');
    },
  }),
  tool({
    name: 'test_header',
    title: 'Header',
    description: 'An argument that is also in a header',
    input: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }) }),
    output: z.object({ region: z.string() }),
    run: async (_call, { region }) => ({ region }),
  }),
];

/** The schema whose keywords must arrive unchanged (SEP-1613, SEP-2106). */
const WIDE_SCHEMA: JsonSchemaType = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

function addContents(server: McpServer): void {
  const contents = {
    test_image_content: [image],
    test_audio_content: [{ type: 'audio' as const, data: WAV, mimeType: 'audio/wav' }],
    test_embedded_resource: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    test_multiple_content_types: [
      text('Multiple content types test:'),
      image,
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  };
  for (const [name, content] of Object.entries(contents)) server.registerTool(name, { description: 'Content of some type' }, async () => ({ content }));
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Many keywords', inputSchema: fromJsonSchema(WIDE_SCHEMA, new CfWorkerJsonSchemaValidator()) },
    async () => ({
      content: [text('called')],
    }),
  );
}

function addNotifying(server: McpServer): void {
  server.registerTool('test_tool_with_progress', { description: 'Reports its progress' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await pause(20);
    }
    return { content: [text('done')] };
  });
  for (const name of ['test_tool_with_logging', 'test_logging_tool']) {
    server.registerTool(name, { description: 'Logs what it does' }, async ({ mcpReq }) => {
      for (const said of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await mcpReq.log('info', said);
        await pause(20);
      }
      return { content: [text('done')] };
    });
  }
}

function addResources(server: McpServer): void {
  const uris = { text: 'test://static-text', binary: 'test://static-binary' };
  server.registerResource('text', uris.text, { mimeType: 'text/plain' }, async () => ({
    contents: [{ uri: uris.text, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }));
  server.registerResource('binary', uris.binary, { mimeType: 'image/png' }, async () => ({
    contents: [{ uri: uris.binary, mimeType: 'image/png', blob: PNG }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, async (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
  }));
}

function addPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'Text' }, () => ({ messages: [user(text('This is a simple prompt for testing.'))] }));
  const completed = completable(z.string(), (begun) => ['test', 'testing'].filter((value) => value.startsWith(begun)));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Two arguments', argsSchema: z.object({ arg1: completed, arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'An image' }, () => ({
    messages: [user(image), user(text('Please analyze the image above.'))],
  }));
}

export const FIXTURES: Offer = {
  options: { capabilities: { ...OFFER.options.capabilities, logging: {} }, requestState: { verify: STATE.verify } },
  tools: TOOLS,
  add(server) {
    for (const add of [addContents, addNotifying, addQuestions, addResources, addPrompts]) add(server);
  },
};
