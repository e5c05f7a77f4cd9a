/** CREATE CONCEPT (docs/design/statements-and-versions.md#modelling-statements), after its keyword. */
import { badRequest } from '../../errors.ts';
import type { Transitivity } from '../../ontology/model.ts';
import type { ConceptElement, CreateConcept, Name, TagList } from '../statements.ts';
import { clauses, direction, name, names, pairs, text, type } from './clauses.ts';
import type { Cursor } from './cursor.ts';

const MAX_DEPTH = 32;
const CONSTRAINTS = ['FOREIGN', 'MULTIREFERENCE', 'MULTIVALUE'];

/** `c [( element, ... )] [INHERITS (parent, ...)] [DESCRIPTION [=] 't'] [WITH TAGS (...)] [FROM schema.concept WHERE cond]` */
export function createConcept(c: Cursor, replace: boolean): CreateConcept {
  const concept = name(c, 'the name of the concept');
  const elements = c.seesMark('(') ? c.list(() => element(c)) : [];
  let parents: readonly Name[] = [];
  let description: string | null = null;
  let tags: TagList = [];
  clauses(c, {
    INHERITS: () => {
      parents = names(c, 'the name of a parent');
    },
    DESCRIPTION: () => {
      description = text(c, 'the description in single quotes').text;
    },
    'WITH TAGS': () => {
      tags = pairs(c, 'the name of a tag');
    },
  });
  const logic = c.accept('FROM') ? logicOf(c) : null;
  c.end();
  return { kind: 'create_concept', source: c.source, replace, name: concept, elements, parents, description, tags, logic };
}

function logicOf(c: Cursor): CreateConcept['logic'] {
  const first = name(c, 'the name of a concept');
  const second = c.acceptMark('.') ? name(c, 'the name of a concept') : null;
  c.expect('WHERE');
  const condition = c.rest('a condition');
  return second === null ? { schema: null, concept: first, condition } : { schema: first, concept: second, condition };
}

/** Reads an element. Keywords are also valid names, so the tokens after them decide. */
function element(c: Cursor): ConceptElement {
  const offset = c.offset();
  if (c.sees('PRIMARY') && c.sees('KEY', 1)) {
    c.advance(2);
    return { kind: 'primary_key', offset, names: names(c, 'the name of a property') };
  }
  if (c.sees('LABEL') && c.seesMark('(', 1)) {
    c.advance();
    return { kind: 'label', offset, names: names(c, 'the name of a property') };
  }
  if (c.sees('CONSTRAINT') && beginsConstraint(c)) {
    c.advance();
    return constraint(c);
  }
  const property = name(c, 'the name of a property, `PRIMARY KEY`, `LABEL` or `CONSTRAINT`');
  const kind = c.accept('MEASURE') ? 'measure' : 'property';
  return { kind, name: property, type: type(c) };
}

function beginsConstraint(c: Cursor): boolean {
  if (CONSTRAINTS.some((keyword) => c.sees(keyword, 2))) return true;
  if (c.sees('MEASURE', 1)) return false;
  return c.peek(1)?.kind === 'name' || c.peek(2)?.kind === 'word';
}

function constraint(c: Cursor): ConceptElement {
  const constrained = name(c, 'the name of the relationship');
  if (c.accept('MULTIVALUE')) return { kind: 'multivalue', name: constrained, type: type(c) };
  if (c.accept('MULTIREFERENCE')) {
    const target = name(c, 'the name of a concept');
    return { kind: 'multireference', name: constrained, target, ...traits(c, constrained) };
  }
  c.expect('FOREIGN', 'KEY');
  const source = names(c, 'the name of a property');
  c.expect('REFERENCES');
  const target = name(c, 'the name of a concept');
  const references = names(c, 'the name of a property of that concept');
  return { kind: 'foreign_key', name: constrained, source, target, references, ...traits(c, constrained) };
}

type Traits = Pick<Extract<ConceptElement, { kind: 'multireference' }>, 'inverse' | 'transitive' | 'symmetric' | 'includes' | 'description'>;

/** `[INVERSEOF r2] [TRANSITIVE[(n)]] [SYMMETRIC] [INCLUDES (r3, ...)] [DESCRIPTION [=] 't']` */
function traits(c: Cursor, relationship: Name): Traits {
  let inverse: Name | null = null;
  let transitive: Transitivity = null;
  let symmetric = false;
  let includes: readonly Name[] = [];
  let description: string | null = null;
  clauses(c, {
    INVERSEOF: () => {
      inverse = inverseOf(c, relationship);
    },
    TRANSITIVE: () => {
      transitive = depth(c);
    },
    SYMMETRIC: () => {
      symmetric = true;
    },
    INCLUDES: () => {
      includes = c.list(() => direction(c));
    },
    DESCRIPTION: () => {
      description = text(c, 'the description in single quotes').text;
    },
  });
  return { inverse, transitive, symmetric, includes, description };
}

/** Reads the name of an inverse; null for `~r` of the relationship r itself, since its inverse has that name anyway. */
function inverseOf(c: Cursor, relationship: Name): Name | null {
  const inverse = direction(c);
  if (!inverse.text.startsWith('~')) return inverse;
  if (inverse.text.slice(1).toLowerCase() === relationship.text.toLowerCase()) return null;
  throw badRequest('bad_name', `the inverse of \`${relationship.text}\` cannot be named \`${inverse.text}\``, {
    offset: inverse.offset,
    hint: `Without INVERSEOF it is named \`~${relationship.text}\`. Another name must not begin with ~.`,
  });
}

function depth(c: Cursor): Transitivity {
  if (!c.acceptMark('(')) return 'default';
  const written = c.number(`a depth of 1 to ${MAX_DEPTH}`);
  const value = Number(written.text);
  if (!/^\d+$/.test(written.text) || value < 1 || value > MAX_DEPTH) {
    throw badRequest('bad_depth', `the depth of a transitive relationship must be 1 to ${MAX_DEPTH}`, { offset: written.offset });
  }
  c.expectMark(')');
  return value;
}
