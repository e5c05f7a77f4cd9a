/** Asks the user of a client which reading of a question is meant, if the client can ask (docs/design/mcp.md#readings-of-a-question). */
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { JsonRow } from '../nesting/cut.ts';

/** The name of the input in a call. */
const KEY = 'reading';
const CHOSEN = z.object({ reading: z.string().min(1).max(1_000) });
const CLARIFY = z.object({ status: z.literal('clarify'), readings: z.array(z.object({ reading: z.string() })).min(2) });

/** The reading that the user chose, in a call that the client repeats with it; undefined for a first call. */
export const chosenReading = ({ mcpReq }: ServerContext): string | undefined => acceptedContent(mcpReq.inputResponses, KEY, CHOSEN)?.reading;

/**
 * The request for the user's choice instead of a result with several readings. Undefined if the result has only one reading, if the client cannot ask its user, or if the user
 * has declined: the result is then returned as it is.
 */
export function asksForReading(result: JsonRow, { mcpReq }: ServerContext): InputRequiredResult | undefined {
  const unclear = CLARIFY.safeParse(result);
  if (!unclear.success || !canElicit(mcpReq.envelope) || inputResponse(mcpReq.inputResponses, KEY).kind !== 'missing') return undefined;
  const choices = unclear.data.readings.map((r) => r.reading) as [string, ...string[]];
  const requestedSchema = {
    type: 'object' as const,
    properties: { reading: { type: 'string' as const, title: 'Meaning', enum: choices } },
    required: ['reading'],
  };
  return inputRequired({
    inputRequests: { [KEY]: inputRequired.elicit({ message: 'The question can be understood in several ways. Which one is meant?', requestedSchema }) },
  });
}

/** Whether the client said in this request that it can show a form to its user. */
function canElicit(envelope: object | undefined): boolean {
  const capabilities = (envelope as Readonly<Record<string, unknown>> | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
  const elicitation = (capabilities as { readonly elicitation?: Readonly<Record<string, unknown>> } | undefined)?.elicitation;
  // without modes, a client can show forms
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
