/**
 * Fixtures that ask the user. From revision 2026-07-28 on that is a result which requests input before the call is repeated and
 * completed (SEP-2322); before, it is a request to the client during the call.
 */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type InputRequests,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A signature of state that the client keeps; every instance of the Worker must know the key. */
export const STATE = createRequestStateCodec<{ readonly step: number }>({ key: 'a key only for the conformance fixtures' });

const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });

const NAME = z.object({ name: z.string() });
const COLOR = z.object({ color: z.string() });
const OK = z.object({ ok: z.boolean() });
const CONTEXT = z.object({ context: z.string() });

const nameAsked = inputRequired.elicit({ message: 'What is your name?', requestedSchema: NAME });
const okAsked = inputRequired.elicit({ message: 'Please confirm', requestedSchema: OK });
const sampled = (text: string) => inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 });

/** Whether the client has answered a question, in any form of its kind. */
const answered = ({ mcpReq }: ServerContext, key: string): boolean => inputResponse(mcpReq.inputResponses, key).kind !== 'missing';

type Envelope = { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities };
type Answer = ReturnType<typeof said> | ReturnType<typeof inputRequired>;

const TOOLS: Readonly<Record<string, (context: ServerContext) => Answer | Promise<Answer>>> = {
  test_input_required_result_elicitation({ mcpReq }) {
    const given = acceptedContent(mcpReq.inputResponses, 'user_name', NAME);
    return given === undefined ? inputRequired({ inputRequests: { user_name: nameAsked } }) : said(`Hello, ${given.name}!`);
  },
  test_input_required_result_sampling(context) {
    if (answered(context, 'capital_question')) return said('sampled');
    return inputRequired({ inputRequests: { capital_question: sampled('What is the capital of France?') } });
  },
  test_input_required_result_list_roots(context) {
    if (answered(context, 'client_roots')) return said(JSON.stringify(context.mcpReq.inputResponses));
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  },
  async test_input_required_result_request_state(context) {
    if (context.mcpReq.requestState<{ step: number }>()?.step === 1 && answered(context, 'confirm')) return said('state-ok');
    return inputRequired({ inputRequests: { confirm: okAsked }, requestState: await STATE.mint({ step: 1 }, context) });
  },
  async test_input_required_result_tampered_state(context) {
    if (answered(context, 'confirm')) return said('state-ok');
    return inputRequired({ inputRequests: { confirm: okAsked }, requestState: await STATE.mint({ step: 1 }, context) });
  },
  async test_input_required_result_multiple_inputs(context) {
    const inputRequests = { user_name: nameAsked, greeting: sampled('Generate a greeting'), client_roots: inputRequired.listRoots() };
    if (Object.keys(inputRequests).every((key) => answered(context, key))) return said('all answered');
    return inputRequired({ inputRequests, requestState: await STATE.mint({ step: 1 }, context) });
  },
  async test_input_required_result_multi_round(context) {
    const step = context.mcpReq.requestState<{ step: number }>()?.step ?? 0;
    if (step === 2 && answered(context, 'step2')) return said('both answered');
    const inputRequests: InputRequests =
      step === 1 && answered(context, 'step1')
        ? { step2: inputRequired.elicit({ message: 'Step 2: What is your favorite color?', requestedSchema: COLOR }) }
        : { step1: inputRequired.elicit({ message: 'Step 1: What is your name?', requestedSchema: NAME }) };
    return inputRequired({ inputRequests, requestState: await STATE.mint({ step: 'step2' in inputRequests ? 2 : 1 }, context) });
  },
  test_input_required_result_capabilities({ mcpReq }) {
    const able = (mcpReq.envelope as Envelope | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
    return inputRequired({
      inputRequests: { ...(able?.sampling && { greeting: sampled('Generate a greeting') }), ...(able?.elicitation && { user_name: nameAsked }) },
    });
  },
  test_missing_capability: () => inputRequired({ inputRequests: { greeting: sampled('Generate a greeting') } }),
  test_streaming_elicitation: () => inputRequired({ inputRequests: { user_name: nameAsked } }),
};

/** Forms of elicitation with a default for each type (SEP-1034), and with each kind of choice (SEP-1330). */
const FORMS: Readonly<Record<string, ElicitRequestFormParams['requestedSchema']['properties']>> = {
  test_elicitation: { username: { type: 'string' }, email: { type: 'string' } },
  test_elicitation_sep1034_defaults: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: [1, 2, 3].map((n) => ({ const: `value${n}`, title: `Option ${n}` })) },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: [1, 2, 3].map((n) => ({ const: `value${n}`, title: `Choice ${n}` })) } },
  },
};

/** Fixtures that ask during the call, as up to revision 2025-11-25. */
function addCallsBack(server: McpServer): void {
  for (const [name, properties] of Object.entries(FORMS)) {
    server.registerTool(name, { description: 'Asks the user' }, async ({ mcpReq }) => {
      const { action, content } = await mcpReq.elicitInput({ mode: 'form', message: 'Please fill in', requestedSchema: { type: 'object', properties } });
      return said(`action=${action}, content=${JSON.stringify(content)}`);
    });
  }
  server.registerTool('test_sampling', { description: 'Asks the model', inputSchema: z.object({ prompt: z.string() }) }, async ({ prompt }, { mcpReq }) => {
    const { content } = await mcpReq.requestSampling({ messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens: 100 });
    return said(`LLM response: ${JSON.stringify(content)}`);
  });
}

export function addQuestions(server: McpServer): void {
  addCallsBack(server);
  for (const [name, ask] of Object.entries(TOOLS)) server.registerTool(name, { description: 'Asks before it answers' }, ask);
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks before it answers' }, ({ mcpReq }) => {
    const given = acceptedContent(mcpReq.inputResponses, 'user_context', CONTEXT);
    if (given !== undefined) return { messages: [{ role: 'user', content: { type: 'text', text: given.context } }] };
    const user_context = inputRequired.elicit({ message: 'What context should the prompt use?', requestedSchema: CONTEXT });
    return inputRequired({ inputRequests: { user_context } });
  });
}
