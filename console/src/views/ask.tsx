/** The ask view: a conversation with the service's language model about the ontology. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { seenAs } from '../api/http.ts';
import { asksQuestions } from '../ask/available.ts';
import { ask, cancel, clear, proposals, turnsOf } from '../ask/conversation.ts';
import { TurnView } from '../ask/turn.tsx';
import { useAnswer } from '../parts/attempt.ts';
import { Loading } from '../parts/basics.tsx';
import { place } from '../router.ts';
import { texts } from '../texts.ts';

export default function AskPage() {
  const { ontology } = place.value;
  if (ontology === null) return null;
  if (seenAs.value !== null) return <p class="empty">{texts.ask.onlyOwn}</p>;
  if (asksQuestions.value === null) return <Loading />;
  if (!asksQuestions.value) return <p class="empty">{texts.ask.noModel}</p>;
  return <Conversation ontology={ontology} />;
}

function Conversation({ ontology }: { readonly ontology: string }) {
  const turns = turnsOf(ontology);
  const list = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState('');
  const last = turns.at(-1);
  const isRunning = turns.some((t) => t.state === 'running');
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    // a new question, and its answer
    list.current?.lastElementChild?.scrollIntoView({ block: 'nearest' });
  }, [last?.id, last?.state]);

  const start = (question: string): void => {
    if (question.trim() === '' || isRunning) return;
    setText('');
    void ask(ontology, question.trim());
    field.current?.focus();
  };
  return (
    <div class="ask">
      <div class="turns" ref={list} role="log" aria-label={texts.ask.conversation} tabIndex={0}>
        {turns.length === 0 && <Start ontology={ontology} choose={start} />}
        {turns.map((turn) => (
          <TurnView key={turn.id} ontology={ontology} turn={turn} />
        ))}
      </div>
      <form
        class="composer"
        onSubmit={(e) => {
          e.preventDefault();
          start(text);
        }}
      >
        <label>
          <span class="hidden">{texts.ask.question}</span>
          <textarea
            ref={field}
            rows={2}
            value={text}
            maxLength={16_000}
            placeholder={texts.ask.question}
            onInput={(e) => setText(e.currentTarget.value)}
            onKeyDown={(e) => {
              if (e.key !== 'Enter' || e.shiftKey || e.isComposing) return;
              e.preventDefault();
              start(text);
            }}
          />
        </label>
        {isRunning ? (
          <button type="button" onClick={() => cancel(ontology)}>
            {texts.cancel}
          </button>
        ) : (
          <button type="submit" class="primary" disabled={text.trim() === ''}>
            {texts.ask.ask}
          </button>
        )}
        {turns.length > 0 && (
          <button type="button" onClick={() => clear(ontology)}>
            {texts.ask.fresh}
          </button>
        )}
      </form>
    </div>
  );
}

/** The empty conversation: what to do, and questions that are known to be answered well. */
function Start({ ontology, choose }: { readonly ontology: string; choose(question: string): void }) {
  const questions = useAnswer(() => proposals(ontology), [ontology]).answer ?? [];
  return (
    <section class="start">
      <h1>{texts.ask.title}</h1>
      <p>{texts.ask.intro}</p>
      {questions.length > 0 && (
        <>
          <h2>{texts.ask.examples}</h2>
          <ul>
            {questions.map((question) => (
              <li key={question}>
                <button type="button" onClick={() => choose(question)}>
                  {question}
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
