/** The conversation about each ontology: questions and their answers, in the memory of the page only. */
import { signal } from '@preact/signals';
import { printed } from '../api/exact.ts';
import { examples } from '../api/examples.ts';
import type { Failure } from '../api/http.ts';
import { Latest } from '../api/latest.ts';
import { memberOf } from '../api/names.ts';
import { type Row, Rows } from '../api/rows.ts';
import { onOtherUser } from '../api/session.ts';
import { callTool } from './mcp.ts';

/** One way to understand a question. */
export interface Reading {
  readonly reading: string;
  readonly sql: string;
}

export interface Turn {
  readonly id: number;
  readonly question: string;
  readonly state: 'running' | 'answered' | 'unclear' | 'failed' | 'cancelled';
  /** What the service did so far. */
  readonly steps: readonly string[];
  /** The ways to understand the question, if it has several. */
  readonly readings: readonly Reading[];
  /** The one that the user chose. */
  readonly reading: string | null;
  readonly answer: string;
  readonly sql: string;
  readonly rows: Rows | null;
  readonly warnings: readonly string[];
  readonly failure: Failure | null;
}

interface Answered {
  readonly status: 'answered' | 'clarify';
  readonly readings?: readonly Reading[];
  readonly answer: string;
  readonly sql: string;
  readonly rows?: readonly Row[];
  readonly warnings?: readonly string[];
}

const MOST_ROWS = 500;
/** How many earlier questions go with a question, and their length. */
const EARLIER = 3;
const NOTE = 4_000;

/** The turns by ontology, oldest first. */
export const conversations = signal<Readonly<Record<string, readonly Turn[]>>>({});
const running = new Map<string, Latest>();
let next = 1;

onOtherUser(() => {
  for (const latest of running.values()) latest.forget();
  running.clear();
  conversations.value = {};
});

export const turnsOf = (ontology: string): readonly Turn[] => memberOf(conversations.value, ontology) ?? [];

function put(ontology: string, turns: readonly Turn[]): void {
  conversations.value = { ...conversations.value, [ontology]: turns };
}

function change(ontology: string, id: number, to: Partial<Turn>): void {
  put(
    ontology,
    turnsOf(ontology).map((t) => (t.id === id ? { ...t, ...to } : t)),
  );
}

const FRESH = { steps: [], answer: '', sql: '', rows: null, warnings: [], failure: null } as const;

/** Asks a question. */
export function ask(ontology: string, question: string): Promise<void> {
  const id = next++;
  put(ontology, [...turnsOf(ontology), { ...FRESH, id, question, state: 'running', readings: [], reading: null }]);
  return answer(ontology, id);
}

/** Answers a question again, as one of its readings; null: as it was asked. */
export function askAs(ontology: string, id: number, reading: string | null): Promise<void> {
  change(ontology, id, { ...FRESH, state: 'running', reading });
  return answer(ontology, id);
}

/** Ends the question that is being answered. */
export const cancel = (ontology: string): void => running.get(ontology)?.cancel();

/** Forgets the conversation. */
export function clear(ontology: string): void {
  running.get(ontology)?.forget();
  put(ontology, []);
}

async function answer(ontology: string, id: number): Promise<void> {
  const turns = turnsOf(ontology);
  const turn = turns.find((t) => t.id === id);
  if (turn === undefined) return;
  put(
    ontology,
    turns.map((t) => (t.id !== id && t.state === 'running' ? { ...t, state: 'cancelled' } : t)),
  );
  const latest = running.get(ontology) ?? new Latest();
  running.set(ontology, latest);
  const note = earlier(turns.filter((t) => t.id < id));
  const args = {
    ontology,
    prompt: turn.question,
    show_result_set: true,
    max_limit: MOST_ROWS,
    on_ambiguity: 'ask',
    ...(turn.reading === null ? {} : { reading: turn.reading }),
    ...(note === '' ? {} : { note }),
  };
  const onStep = (step: string): void => change(ontology, id, { steps: [...(turnsOf(ontology).find((t) => t.id === id)?.steps ?? []), step] });
  await latest.ask(
    (signal) => callTool<Answered>('ask_question', args, { signal, onStep: (step) => signal.aborted || onStep(step) }),
    ({ status, readings = [], answer: text, sql, warnings = [], rows = [] }) =>
      change(ontology, id, status === 'clarify' ? { state: 'unclear', readings } : { state: 'answered', answer: text, sql, warnings, rows: rowsOf(rows) }),
    (failure) => change(ontology, id, failure === null ? { state: 'cancelled' } : { state: 'failed', failure }),
  );
}

function rowsOf(values: readonly Row[]): Rows {
  const rows = new Rows();
  rows.add(values.map((row) => printed(row)));
  return rows;
}

/** The earlier questions as a text for the model, because a question may refer to them. */
function earlier(turns: readonly Turn[]): string {
  const answered = turns.filter((t) => t.state === 'answered').slice(-EARLIER);
  if (answered.length === 0) return '';
  const lines = answered.map((t) => `Question: ${t.question}\n${t.reading === null ? '' : `Meant as: ${t.reading}\n`}SQL: ${t.sql}`);
  return `Earlier in this conversation, which the question may refer to:\n${lines.join('\n')}`.slice(0, NOTE);
}

/** Verified questions, to begin with. Empty if they cannot be read. */
export const proposals = async (ontology: string): Promise<readonly string[]> =>
  (await examples(ontology, 6).catch(() => [])).map((example) => example.question);
