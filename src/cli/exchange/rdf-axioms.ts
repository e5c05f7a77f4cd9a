/** The triples of RDF documents. Those that were understood are marked, so that the others can be listed. */
import { DataFactory, type Literal, type NamedNode, Parser, type Quad, Store, type Term, Util } from 'n3';
import { Failure } from '../failure.ts';
import { expand, NAMESPACES, type Name, named, term } from './rdf-terms.ts';

/** Parses files in Turtle, TriG, N-Triples or N-Quads. @throws Failure for a syntax error, with its line */
export function parseRdf(files: readonly { readonly path: string; readonly text: string }[]): Store {
  const store = new Store();
  for (const { path, text } of files) {
    if (/^\s*(<\?xml|<rdf:RDF)/i.test(text)) throw new Failure(`${path} is RDF/XML; convert it to Turtle first, for example with riot or rapper`);
    try {
      for (const q of new Parser({ baseIRI: `file:///${encodeURIComponent(path)}` }).parse(text))
        store.addQuad(DataFactory.quad(q.subject, q.predicate, q.object));
    } catch (e) {
      throw new Failure(`${path} is not Turtle: ${e instanceof Error ? e.message : ''}`);
    }
  }
  return store;
}

const key = (q: Quad): string => JSON.stringify([q.subject.id, q.predicate.id, q.object.id]);

/** Reads triples and marks them as understood. */
export class Axioms {
  readonly #store: Store;
  readonly #taken = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The objects of a subject, marked as understood. */
  take(subject: Term | string, predicate: Name): Term[] {
    const quads = this.#store.getQuads(typeof subject === 'string' ? named(subject) : subject, term(predicate), null, null);
    for (const q of quads) this.#taken.add(key(q));
    return quads.map((q) => q.object);
  }

  /** The objects of a subject, not marked. */
  look(subject: Term | string, predicate: Name): Term[] {
    return this.#store.getObjects(typeof subject === 'string' ? named(subject) : subject, term(predicate), null);
  }

  /** Marks one triple. */
  mark(subject: Term | string, predicate: Name, object: Term): void {
    for (const q of this.#store.getQuads(typeof subject === 'string' ? named(subject) : subject, term(predicate), object, null)) this.#taken.add(key(q));
  }

  /** Marks a node without a name and all below it. */
  markBelow(node: Term): void {
    if (!Util.isBlankNode(node)) return;
    for (const q of this.#store.getQuads(node, null, null, null)) {
      if (this.#taken.has(key(q))) continue;
      this.#taken.add(key(q));
      this.markBelow(q.object);
    }
  }

  /** Marks all triples of a named subject, and the nodes without a name below it. */
  markAll(subject: string): void {
    for (const q of this.#store.getQuads(named(subject), null, null, null)) {
      this.#taken.add(key(q));
      this.markBelow(q.object);
    }
  }

  /** A text: in English, or without a language, before others. Texts in other languages stay unmarked. */
  text(subject: Term | string, ...predicates: readonly Name[]): string | undefined {
    for (const p of predicates) {
      const texts = this.look(subject, p).filter((o): o is Literal => o.termType === 'Literal');
      const found = ['', 'en'].flatMap((language) => texts.filter((t) => t.language === language || t.language.startsWith(`${language}-`)))[0] ?? texts[0];
      if (found === undefined) continue;
      this.mark(subject, p, found);
      return found.value;
    }
    return undefined;
  }

  iris(subject: Term | string, predicate: Name): string[] {
    return this.take(subject, predicate).flatMap((o) => (o.termType === 'NamedNode' ? [o.value] : []));
  }

  has(subject: Term | string, predicate: Name, object: Name): boolean {
    return this.look(subject, predicate).some((o) => o.value === expand(object));
  }

  /** The members of a list, marked as understood. */
  list(head: Term | undefined): Term[] {
    const members: Term[] = [];
    for (let at = head; at !== undefined && at.value !== expand('rdf:nil'); ) {
      const [first] = this.take(at, 'rdf:first');
      if (first === undefined || members.length > 100_000) break;
      members.push(first);
      [at] = this.take(at, 'rdf:rest');
    }
    return members;
  }

  /** The subjects with a type, marked. Nodes without a name are left out. */
  typed(...types: readonly Name[]): string[] {
    const found = types.flatMap((t) =>
      this.#store.getSubjects(term('rdf:type'), term(t), null).flatMap((s) => {
        if (s.termType !== 'NamedNode') return [];
        this.mark(s, 'rdf:type', term(t));
        return [s.value];
      }),
    );
    return [...new Set(found)];
  }

  subjects(predicate: Name, object: Term | null = null): Term[] {
    return this.#store.getSubjects(term(predicate), object, null);
  }

  /** What was not understood: a line for each triple of a named subject, with the nodes without a name that it leads to. */
  left(): string[] {
    const isLeft = (q: Quad): boolean => !this.#taken.has(key(q));
    return this.#store
      .getQuads(null, null, null, null)
      .filter((q) => isLeft(q) && (q.subject.termType !== 'BlankNode' || this.#store.countQuads(null, null, q.subject, null) === 0))
      .map((q) => `${short(q.subject)} ${short(q.predicate)} ${this.#shown(q.object, 0)}`);
  }

  #shown(object: Term, depth: number): string {
    if (object.termType !== 'BlankNode' || depth > 8) return short(object);
    if (this.look(object, 'rdf:first').length > 0)
      return `(${this.list(object)
        .map((m) => this.#shown(m, depth + 1))
        .join(' ')})`;
    const inside = this.#store.getQuads(object, null, null, null).map((q) => `${short(q.predicate)} ${this.#shown(q.object, depth + 1)}`);
    return `[ ${inside.join('; ')} ]`;
  }
}

/** A term as Turtle writes it, with the usual prefixes. */
export function short(t: Term): string {
  if (t.termType === 'Literal') return JSON.stringify(t.value) + (t.language === '' ? '' : `@${t.language}`);
  if (t.termType !== 'NamedNode') return t.value;
  if (t.value === expand('rdf:type')) return 'a';
  const found = Object.entries(NAMESPACES).find(([, iri]) => t.value.startsWith(iri));
  return found ? `${found[0]}:${t.value.slice(found[1].length)}` : `<${(t as NamedNode).value}>`;
}
