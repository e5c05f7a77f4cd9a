/** Whether the service answers questions in words: it then has a language model. */
import { effect, signal } from '@preact/signals';
import { seenAs } from '../api/http.ts';
import { Latest } from '../api/latest.ts';
import { credential } from '../api/session.ts';
import { place } from '../router.ts';
import { rpc } from './mcp.ts';

interface Tools {
  readonly tools: readonly { readonly name: string; readonly _meta?: { readonly available?: boolean } }[];
}

/** Null until it is known. */
export const asksQuestions = signal<boolean | null>(null);

const asking = new Latest();
let asked: string | null = null;
effect(() => {
  const own = credential.value;
  if (own === null || place.value.ontology === null || seenAs.value !== null) return;
  const who = own.user ?? own.value;
  if (who === asked) return;
  asked = who;
  asksQuestions.value = null;
  void asking.ask(
    () => rpc<Tools>('tools/list', {}),
    ({ tools }) => {
      const found = tools.find((t) => t.name === 'ask_question');
      asksQuestions.value = found !== undefined && found._meta?.available !== false;
    },
    () => {
      // asked again with the next place
      asked = null;
      asksQuestions.value = false;
    },
  );
});
