/** The results of a run: a line for each question, and the totals. */
import type { Kind, Outcome } from './outcome.ts';

/** The totals of a run. */
export interface Totals {
  readonly questions: number;
  readonly byKind: Readonly<Record<Kind, number>>;
  /** The share of questions with the expected result: right or declined. */
  readonly accuracy: number;
  /** The share of answered questions whose SQL reads the right concept or view first. */
  readonly concept: number | null;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly milliseconds: { readonly median: number; readonly longest: number; readonly sum: number };
}

const KINDS: readonly Kind[] = ['right', 'declined', 'refused', 'wrong', 'failed'];
const isGood = ({ kind }: Pick<Outcome, 'kind'>): boolean => kind === 'right' || kind === 'declined';

export function totalsOf(outcomes: readonly Outcome[]): Totals {
  const sum = (of: (o: Outcome) => number): number => outcomes.reduce((n, o) => n + of(o), 0);
  const times = outcomes.map((o) => o.milliseconds).sort((a, b) => a - b);
  const placed = outcomes.filter((o) => o.concept !== null && o.question.concept !== null);
  return {
    questions: outcomes.length,
    byKind: Object.fromEntries(KINDS.map((kind) => [kind, outcomes.filter((o) => o.kind === kind).length])) as Record<Kind, number>,
    accuracy: outcomes.length === 0 ? 0 : outcomes.filter(isGood).length / outcomes.length,
    concept: placed.length === 0 ? null : placed.filter((o) => o.concept?.toLowerCase() === o.question.concept?.toLowerCase()).length / placed.length,
    calls: sum((o) => o.calls),
    inputTokens: sum((o) => o.inputTokens),
    outputTokens: sum((o) => o.outputTokens),
    milliseconds: { median: times[Math.floor(times.length / 2)] ?? 0, longest: times.at(-1) ?? 0, sum: sum((o) => o.milliseconds) },
  };
}

const percent = (part: number): string => `${(100 * part).toFixed(1)} %`;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** The line of a finished question. */
export function lineOf(outcome: Outcome): string {
  const { question, kind, why, milliseconds, inputTokens, outputTokens, tries } = outcome;
  const tokens = inputTokens + outputTokens;
  const cost = tokens === 0 ? '' : `  ${tokens} tokens${tries > 1 ? `, ${tries} tries` : ''}`;
  return `${kind.padEnd(9)} ${question.id.padEnd(36)} ${seconds(milliseconds).padStart(7)}${cost}${why === '' ? '' : `  ${why.split('\n')[0]?.slice(0, 200)}`}`;
}

/** The totals, the questions that went wrong without an error, and the accuracy by tag, as lines. */
export function reportOf(outcomes: readonly Outcome[], oracle: boolean): readonly string[] {
  const totals = totalsOf(outcomes);
  const { byKind } = totals;
  const lines = [
    '',
    `${totals.questions} questions: ${KINDS.map((kind) => `${byKind[kind]} ${kind}`).join(', ')}`,
    oracle
      ? `checks passed and rows as they should be: ${percent(totals.accuracy)}`
      : `accuracy ${percent(totals.accuracy)}, silent errors ${percent(byKind.wrong / Math.max(1, totals.questions))}`,
  ];
  const { median, longest, sum } = totals.milliseconds;
  lines.push(`time: median ${seconds(median)}, longest ${seconds(longest)}, together ${seconds(sum)}`);
  if (oracle) return lines;
  if (totals.concept !== null) lines.push(`the right concept or view is read first: ${percent(totals.concept)}`);
  lines.push(`answered questions took ${totals.calls} calls of the model, ${totals.inputTokens} tokens in, ${totals.outputTokens} out`);
  const tags = [...new Set(outcomes.flatMap((o) => o.question.tags))].sort();
  lines.push('', '| Tag | Questions | As they should be |', '|---|---:|---:|');
  for (const tag of tags) {
    const tagged = outcomes.filter((o) => o.question.tags.includes(tag));
    lines.push(`| ${tag} | ${tagged.length} | ${tagged.filter(isGood).length} |`);
  }
  for (const { question, sql, why } of outcomes.filter((o) => o.kind === 'wrong')) {
    lines.push('', `${question.id}: ${question.question}`, `  ${why}`, `  given: ${sql}`, `  gold:  ${question.gold}`);
  }
  return lines;
}

/** The content of `--json`. */
export const jsonOf = (outcomes: readonly Outcome[], about: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify(
    {
      ...about,
      totals: totalsOf(outcomes),
      questions: outcomes.map(({ question, ...rest }) => ({
        id: question.id,
        question: question.question,
        caller: question.caller ?? null,
        gold: question.gold,
        ...rest,
      })),
    },
    null,
    2,
  )}\n`;
