/**
 * The part of an ontology that a question may be about: lists of names and tags, of the agent and of the call (docs/design/mcp.md#the-scope-of-a-question).
 * Pure.
 */
import type { QuestionModel, Subject } from '../service.ts';

/** Folded names; an empty list: none. */
export type NameList = 'all' | readonly string[];

/** `value` null: whatever the tag says. */
export interface TagTest {
  readonly tag: string;
  readonly value: string | null;
}

export interface Scope {
  readonly concepts: NameList;
  /** Of views and cubes. */
  readonly views: NameList;
  /** Of each list a subject must bear at least one tag; no list: tags do not matter. */
  readonly tags: readonly (readonly TagTest[])[];
}

/** Lists as an agent or a call gives them. */
export interface ScopeLists {
  readonly concepts_list?: readonly string[] | undefined;
  readonly views_list?: readonly string[] | undefined;
  readonly include_tags?: readonly string[] | undefined;
}

/** Names and tags are compared without case, as names are everywhere. */
const fold = (text: string): string => text.trim().toLowerCase();

const namesOf = (list: readonly string[] | undefined): readonly string[] => [...new Set((list ?? []).map(fold))].filter((n) => n !== '');

/** Left out, empty or with `*`: all. `none` alone: none; beside names it says nothing. */
function nameList(list: readonly string[] | undefined): NameList {
  const names = namesOf(list);
  if (names.length === 0 || names.includes('*')) return 'all';
  return names.filter((n) => n !== 'none');
}

function tagTest(text: string): TagTest {
  const at = text.indexOf('=');
  return at < 0 ? { tag: text, value: null } : { tag: text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
}

/** What lists of names and of tags (`tag` or `tag=value`) leave. */
export function scopeOf({ concepts_list, views_list, include_tags }: ScopeLists): Scope {
  const tags = namesOf(include_tags);
  // `none` is no tag: nothing bears it
  const tests = tags.includes('*') ? [] : tags.map(tagTest);
  return { concepts: nameList(concepts_list), views: nameList(views_list), tags: tests.length === 0 ? [] : [tests] };
}

const inBoth = (a: NameList, b: NameList): NameList => (a === 'all' ? b : b === 'all' ? a : a.filter((name) => b.includes(name)));

/** What both leave: the options of an agent and the arguments of a call, which narrow and never widen. */
export const narrowed = (a: Scope, b: Scope): Scope => ({
  concepts: inBoth(a.concepts, b.concepts),
  views: inBoth(a.views, b.views),
  tags: [...a.tags, ...b.tags],
});

/** The subjects that a scope leaves, in the model's order. */
export function subjectsIn({ subjects }: Pick<QuestionModel, 'subjects'>, scope: Scope): readonly Subject[] {
  const concepts = listed(scope.concepts);
  const views = listed(scope.views);
  return subjects.filter((s) => (s.kind === 'concept' ? concepts : views)(s.name) && scope.tags.every((tests) => bears(s, tests)));
}

function listed(list: NameList): (name: string) => boolean {
  if (list === 'all') return () => true;
  const names = new Set(list);
  return (name) => names.has(fold(name));
}

function bears({ tags }: Subject, tests: readonly TagTest[]): boolean {
  const borne = new Map(Object.entries(tags).map(([tag, value]) => [fold(tag), fold(value)]));
  return tests.some(({ tag, value }) => borne.has(tag) && (value === null || borne.get(tag) === value));
}
