/**
 * The part of an ontology that a question may be about: lists of names and tags, from the agent and from the call (docs/design/mcp.md#the-scope-of-a-question).
 * Pure.
 */
import type { QuestionModel, Subject } from '../service.ts';

/** Folded names. An empty list allows nothing. */
export type NameList = 'all' | readonly string[];

/** A tag, with a value or (null) with any value. */
export interface TagTest {
  readonly tag: string;
  readonly value: string | null;
}

export interface Scope {
  readonly concepts: NameList;
  /** Names of views and cubes. */
  readonly views: NameList;
  /** A subject must have at least one tag of each list. Without lists, tags do not matter. */
  readonly tags: readonly (readonly TagTest[])[];
  /** Whether logic concepts are left out. */
  readonly withoutLogic?: true;
}

/** The lists as an agent or a call specifies them. */
export interface ScopeLists {
  readonly concepts_list?: readonly string[] | undefined;
  readonly views_list?: readonly string[] | undefined;
  readonly include_tags?: readonly string[] | undefined;
}

/** Names and tags are case-insensitive, like all names. */
const fold = (text: string): string => text.trim().toLowerCase();

const namesOf = (list: readonly string[] | undefined): readonly string[] => [...new Set((list ?? []).map(fold))].filter((n) => n !== '');

/** Absent, empty or with `*`: all. Only `none`: nothing; next to names it is ignored. */
function nameList(list: readonly string[] | undefined): NameList {
  const names = namesOf(list);
  if (names.length === 0 || names.includes('*')) return 'all';
  return names.filter((n) => n !== 'none');
}

function tagTest(text: string): TagTest {
  const at = text.indexOf('=');
  return at < 0 ? { tag: text, value: null } : { tag: text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
}

/** The scope of lists of names and of tags (`tag` or `tag=value`). */
export function scopeOf({ concepts_list, views_list, include_tags }: ScopeLists): Scope {
  const tags = namesOf(include_tags);
  // `none` is not a tag, so no subject has it
  const tests = tags.includes('*') ? [] : tags.map(tagTest);
  return { concepts: nameList(concepts_list), views: nameList(views_list), tags: tests.length === 0 ? [] : [tests] };
}

const inBoth = (a: NameList, b: NameList): NameList => (a === 'all' ? b : b === 'all' ? a : a.filter((name) => b.includes(name)));

/** The intersection of two scopes: a call can narrow the options of an agent, but not widen them. */
export const narrowed = (a: Scope, b: Scope): Scope => ({
  concepts: inBoth(a.concepts, b.concepts),
  views: inBoth(a.views, b.views),
  tags: [...a.tags, ...b.tags],
});

/** The subjects in a scope, in the model's order. */
export function subjectsIn({ subjects }: Pick<QuestionModel, 'subjects'>, scope: Scope): readonly Subject[] {
  const concepts = listed(scope.concepts);
  const views = listed(scope.views);
  return subjects.filter(
    (s) => !(s.isLogic && scope.withoutLogic) && (s.kind === 'concept' ? concepts : views)(s.name) && scope.tags.every((tests) => bears(s, tests)),
  );
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
