/** The open queries and the history, in this browser only. */
import { effect, signal } from '@preact/signals';
import { memberOf } from '../api/names.ts';
import { credential, historyPlace, keepOver, onOtherUser } from '../api/session.ts';

export interface Sheet {
  readonly id: number;
  readonly text: string;
}

let next = 1;
const sheets = new Map<string, { readonly all: readonly Sheet[]; readonly current: number }>();
/** Changes when sheets change. */
export const sheetsChanged = signal(0);

/** The sheets of an ontology; there is always one. */
export function sheetsOf(ontology: string): { readonly all: readonly Sheet[]; readonly current: Sheet } {
  let kept = sheets.get(ontology);
  if (kept === undefined) {
    const id = next++;
    kept = { all: [{ id, text: '' }], current: id };
    sheets.set(ontology, kept);
  }
  const { all, current } = kept;
  return { all, current: all.find((s) => s.id === current) ?? (all[0] as Sheet) };
}

const keep = (ontology: string, all: readonly Sheet[], current: number): void => {
  sheets.set(ontology, { all, current });
  sheetsChanged.value++;
};

export function openSheet(ontology: string, text = ''): void {
  const { all, current } = sheetsOf(ontology);
  // an empty sheet is used first
  if (text !== '' && current.text.trim() === '') {
    // with a new id, so that the editor shows its text
    const id = next++;
    keep(
      ontology,
      all.map((s) => (s.id === current.id ? { id, text } : s)),
      id,
    );
    return;
  }
  const id = next++;
  keep(ontology, [...all, { id, text }], id);
}

export function chooseSheet(ontology: string, id: number): void {
  keep(ontology, sheetsOf(ontology).all, id);
}

export function closeSheet(ontology: string, id: number): void {
  const { all, current } = sheetsOf(ontology);
  const left = all.filter((s) => s.id !== id);
  if (left.length === 0) {
    sheets.delete(ontology);
    sheetsChanged.value++;
  } else keep(ontology, left, current.id === id ? (left.at(-1) as Sheet).id : current.id);
}

/** Stores the text of a sheet, without a signal: the editor shows it already. */
export function storeText(ontology: string, id: number, text: string): void {
  const { all, current } = sheetsOf(ontology);
  sheets.set(ontology, { all: all.map((s) => (s.id === id ? { ...s, text } : s)), current: current.id });
}

/** A statement that creates a user may contain a password. */
const hasSecret = (sql: string): boolean => /\b(password|secret|token)\b/i.test(sql);

keepOver('sheets', {
  keep: () => [...sheets].map(([ontology, { all }]) => [ontology, all.map((s) => s.text).filter((text) => text.trim() !== '' && !hasSecret(text))]),
  restore(kept) {
    if (!Array.isArray(kept)) return;
    for (const [ontology, texts] of kept as [string, string[]][]) for (const text of texts) openSheet(ontology, text);
  },
});

/** What the user entered for the parameters of statements, by ontology and name. */
export const parameterValues = signal<Readonly<Record<string, Readonly<Record<string, string>>>>>({});

export function setParameter(ontology: string, name: string, value: string): void {
  parameterValues.value = { ...parameterValues.value, [ontology]: { ...memberOf(parameterValues.value, ontology), [name]: value } };
}

const MOST = 100;

interface Past {
  readonly ontology: string;
  readonly sql: string;
}

/** Where the browser stores the history of a user; null for a pasted credential, whose history is in memory only. */
const placeOf = (user: string | null): string | null => (user === null ? null : historyPlace(user));

const readHistory = (place: string | null): readonly Past[] => {
  try {
    const kept: unknown = JSON.parse((place === null ? null : localStorage.getItem(place)) ?? '[]');
    return Array.isArray(kept) ? kept.filter((p): p is Past => typeof p?.ontology === 'string' && typeof p?.sql === 'string') : [];
  } catch {
    return [];
  }
};

/** Statements that the user ran, newest first. */
export const past = signal<readonly Past[]>([]);

let place: string | null = null;
effect(() => {
  if (credential.value === null) return;
  const next = placeOf(credential.value.user);
  if (next === place) return;
  place = next;
  past.value = readHistory(next);
});
onOtherUser(() => {
  sheets.clear();
  parameterValues.value = {};
  past.value = [];
  place = null;
  sheetsChanged.value++;
});

const storeHistory = (all: readonly Past[]): void => {
  past.value = all;
  if (place === null) return;
  try {
    localStorage.setItem(place, JSON.stringify(all));
  } catch {
    // full, or refused by the browser
  }
};

export function remember(ontology: string, sql: string): void {
  if (hasSecret(sql)) return;
  storeHistory([{ ontology, sql }, ...past.value.filter((p) => p.ontology !== ontology || p.sql !== sql)].slice(0, MOST));
}

export const forget = (): void => storeHistory([]);
