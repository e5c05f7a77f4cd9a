/** What the parts of an import of OWL share. */
import { z } from 'zod';
import { fold } from '../../ontology/names.ts';
import { Failure } from '../failure.ts';
import type { Draft } from './draft.ts';
import type { Axioms } from './rdf-axioms.ts';
import type { TriplesMap } from './rdf-maps.ts';
import { expand, localName, type Name, term } from './rdf-terms.ts';

/** The documents, and what has been read of them. */
export interface RdfContext {
  readonly axioms: Axioms;
  readonly draft: Draft;
  readonly maps: readonly TriplesMap[];
  /** Whether this service wrote the documents. */
  readonly isOwn: boolean;
  readonly concepts: Map<string, string>;
  readonly properties: Map<string, string>;
  readonly relationships: Map<string, { readonly concept: string; readonly name: string }[]>;
}

/** The description and the tags of an object. */
export function describedBy({ axioms }: RdfContext, iri: string, name: string): { readonly description: string | null; readonly tags: Record<string, string> } {
  const label = axioms.text(iri, 'rdfs:label', 'skos:prefLabel');
  const comment = axioms.text(iri, 'rdfs:comment', 'skos:definition');
  const others = axioms.look(iri, 'skos:altLabel').filter((o) => o.termType === 'Literal' && (o.language === '' || o.language.startsWith('en')));
  for (const o of others) axioms.mark(iri, 'skos:altLabel', o);
  const words = (text: string): string => fold(text).replace(/[\s_]+/g, ' ');
  const synonyms = [...new Set([...(label === undefined || words(label) === words(name) ? [] : [label]), ...others.map((o) => o.value).sort()])];
  const exact = axioms.text(iri, 'kg:tags');
  return {
    description: comment ?? null,
    tags: {
      ...(synonyms.length === 0 ? {} : { synonyms: synonyms.join(', ') }),
      ...(exact === undefined ? {} : textMap(exact, `kg:tags of ${localName(iri)}`)),
    },
  };
}

const TEXT_MAP = z.record(z.string(), z.string());

/** Reads a JSON object of texts. @throws Failure */
export function textMap(json: string, what: string): Record<string, string> {
  try {
    return TEXT_MAP.parse(JSON.parse(json));
  } catch {
    throw new Failure(`${what} is not a JSON object of texts`);
  }
}

/** Classes of a domain or range: a class, or a union of classes. Undefined for anything else. */
export function classesOf({ axioms, concepts }: RdfContext, subject: string, predicate: Name): readonly string[] {
  const found: string[] = [];
  for (const o of axioms.look(subject, predicate)) {
    const members = o.termType === 'BlankNode' ? axioms.look(o, 'owl:unionOf') : [];
    if (o.termType === 'NamedNode' && (concepts.has(o.value) || o.value === expand('owl:Thing'))) {
      axioms.mark(subject, predicate, o);
      found.push(...(concepts.has(o.value) ? [concepts.get(o.value) ?? ''] : []));
    } else if (members[0] !== undefined) {
      axioms.mark(subject, predicate, o);
      axioms.mark(o, 'rdf:type', term('owl:Class'));
      axioms.mark(o, 'owl:unionOf', members[0]);
      found.push(...axioms.list(members[0]).flatMap((m) => concepts.get(m.value) ?? []));
    }
  }
  return found;
}
