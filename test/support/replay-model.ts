/** A language model that has learnt its answers by heart: an OpenAI-compatible server that replays SQL by question. */
import { chat, type Heard, json, startStub } from '../unit/llm/stub.ts';

/** What it says of a question: SQL, a concept (the first candidate otherwise); or that there is no answer; or it breaks with an HTTP status. */
export type Replay = { readonly sql: string; readonly concept?: string } | { readonly refusal: string } | { readonly status: number };

export interface ReplayModel {
  /** LLM_BASE_URL */
  readonly url: string;
  /** From now on. */
  play(replies: ReadonlyMap<string, Replay>): void;
  /** Calls since `play`. */
  calls(): number;
  close(): Promise<void>;
}

export async function startReplayModel(): Promise<ReplayModel> {
  const stub = await startStub();
  return {
    url: `${stub.url}/v1`,
    play: (replies) => {
      // the longest first: one question may begin another
      const questions = [...replies.keys()].sort((a, b) => b.length - a.length);
      stub.play((response, heard) => {
        const text = heard.raw;
        const question = questions.find((q) => text.includes(JSON.stringify(q).slice(1, -1)));
        const reply = question === undefined ? undefined : replies.get(question);
        if (reply === undefined) return json(response, { error: { message: 'an unknown question' } }, 400);
        if ('status' in reply) return json(response, { error: { message: 'broken' } }, reply.status);
        return chat(response, JSON.stringify(said(heard, reply)));
      });
    },
    calls: () => stub.heard.length,
    close: stub.close,
  };
}

interface JsonSchema {
  readonly properties?: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
}

/** The form that is asked for tells the stage. */
function said({ body }: Heard, reply: Exclude<Replay, { readonly status: number }>): object {
  const format = body.response_format as { readonly json_schema?: { readonly schema?: JsonSchema } } | undefined;
  const members = format?.json_schema?.schema?.properties ?? {};
  const concepts = members.concept?.enum;
  if (concepts !== undefined) {
    const wanted = 'concept' in reply ? reply.concept : undefined;
    return { reason: 'By heart.', concept: concepts.find((c) => c === wanted) ?? concepts[0] };
  }
  if ('answer' in members) return { answer: 'As the rows say.' };
  return 'sql' in reply ? { reason: 'By heart.', sql: reply.sql, refusal: null } : { reason: 'By heart.', sql: '', refusal: reply.refusal };
}
