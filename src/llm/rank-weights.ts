/** The weights by which rank.ts scores the subjects of an ontology for a question. */
import type { Field } from './rank-index.ts';

/** Where a word's weight is half of what it may be at most. */
export const HALF = 2;
export const NAME = 1.5;
/** For the name that the question asks for; if it names nothing so, for the first name in it. */
export const ASKED_FOR = 0.8;
export const FIRST = 0.4;
/** A name by which the answer is grouped. */
export const GROUPED = 0.7;
/** A name inside a longer name (`order` in `order line`). */
export const WITHIN = 0.4;
/** The last word of a name (`model` of `bike model`), where that word is nothing else's name. */
export const TAIL = 0.45;
/** The words of a name, apart. */
export const APART = 0.45;
/** Of a second place in the question. */
export const NEXT_NAME = 0.35;
export const NEXT_COLUMN = 0.6;
export const COLUMN: Readonly<Partial<Record<Field, number>>> = { measure: 0.5, column: 0.3, 'column synonym': 0.25, relationship: 0.15 };
/** For what has the column that is asked for, where no name is: `the revenue by product`. */
export const ASKED_COLUMN: Readonly<Partial<Record<Field, number>>> = { measure: 0.8, column: 0.4, 'column synonym': 0.4 };
export const VALUE = 0.9;
/** What a subject is given of the score of what its relationships lead to, of its parent, of its child. */
export const FROM_TARGET = 0.15;
export const FROM_PARENT = 0.1;
/** The same of a parent that lacks what the question names and the child has as a column or in its condition (`customers born before 1950`). */
export const FROM_LACKING_PARENT = 0.8;
export const FROM_CHILD = 0.2;
/** A view against the concepts that it is made of, unless it is named. */
export const VIEW = 0.9;
/** How sure the words of a name must be for it to be asked for, and to be named. */
export const SURE = 0.6;
export const NAMED = 0.8;
/** How many reasons the model gets for a subject, and for how many subjects. */
export const MOST_REASONS = 5;
export const REASONED = 40;
