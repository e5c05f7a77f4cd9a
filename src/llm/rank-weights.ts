/** The weights that rank.ts uses to score the subjects of an ontology for a question. */
import type { Field } from './rank-index.ts';

/** The weight at which a word has half of its maximum score. */
export const HALF = 2;
export const NAME = 1.5;
/** A bonus for the name that the question asks for, or else for the first name in it. */
export const ASKED_FOR = 0.8;
export const FIRST = 0.4;
/** The factor for a name that only groups the answer. */
export const GROUPED = 0.7;
/** The factor for a name inside a longer name (`order` in `order line`). */
export const WITHIN = 0.4;
/** The factor for the last word of a name (`model` in `bike model`), unless it is the name of something else. */
export const TAIL = 0.45;
/** The factor for the words of a name that are not adjacent. */
export const APART = 0.45;
/** The factor for each further occurrence in the question. */
export const NEXT_NAME = 0.35;
export const NEXT_COLUMN = 0.6;
export const COLUMN: Readonly<Partial<Record<Field, number>>> = { measure: 0.5, column: 0.3, 'column synonym': 0.25, relationship: 0.15 };
/** A bonus for the subject with the column that is asked for, if no name is: `the revenue by product`. */
export const ASKED_COLUMN: Readonly<Partial<Record<Field, number>>> = { measure: 0.8, column: 0.4, 'column synonym': 0.4 };
export const VALUE = 0.9;
/** The share of the score that a subject gets from its relationships' targets, from its parent, and from its child. */
export const FROM_TARGET = 0.15;
export const FROM_PARENT = 0.1;
/** The same from a parent that lacks what the question names and the child has as a column or in its condition (`customers born before 1950`). */
export const FROM_LACKING_PARENT = 0.8;
export const FROM_CHILD = 0.2;
/** The factor for a view relative to the concepts that it reads, unless the question names it. */
export const VIEW = 0.9;
/** The minimum confidence in the words of a name, for it to be asked for, and to be named. */
export const MIN_CONFIDENCE = 0.6;
export const NAMED = 0.8;
/** The maximum number of reasons for a subject, and the number of subjects with reasons. */
export const MAX_REASONS = 5;
export const REASONED = 40;
