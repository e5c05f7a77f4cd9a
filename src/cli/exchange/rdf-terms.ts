/** IRIs and Turtle: what the RDF documents of an ontology share. */
import { DataFactory, type Literal, type NamedNode, type Term, Writer } from 'n3';
import { fold } from '../../ontology/names.ts';

/** Namespaces by prefix. `kg` has what the standard vocabularies cannot say. */
export const NAMESPACES = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  owl: 'http://www.w3.org/2002/07/owl#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  rr: 'http://www.w3.org/ns/r2rml#',
  sh: 'http://www.w3.org/ns/shacl#',
  kg: 'urn:kg:vocabulary#',
} as const;

/** The IRI of a prefixed name such as `owl:Class`. */
export function expand(name: `${keyof typeof NAMESPACES}:${string}`): string {
  const at = name.indexOf(':');
  return NAMESPACES[name.slice(0, at) as keyof typeof NAMESPACES] + name.slice(at + 1);
}
export type Name = Parameters<typeof expand>[0];

const node = (iri: string): NamedNode => DataFactory.namedNode(iri);
export const term = (name: Name): NamedNode => node(expand(name));
export const named = node;
export const text = (value: string): Literal => DataFactory.literal(value);
export const number = (value: number): Literal => DataFactory.literal(String(value), term('xsd:integer'));
export const truth = (value: boolean): Literal => DataFactory.literal(String(value), term('xsd:boolean'));

/** An object: a term, a list, or a node without a name. */
export type Value = Term | { readonly list: readonly Value[] } | { readonly pairs: readonly Pair[] };
export type Pair = readonly [predicate: Name | NamedNode, object: Value];

/** Writes Turtle, in the order in which it is given. */
export class Turtle {
  readonly #writer: Writer;

  constructor(base: string, prefixes: readonly (keyof typeof NAMESPACES)[]) {
    this.#writer = new Writer({ prefixes: { '': base, ...Object.fromEntries(prefixes.map((p) => [p, NAMESPACES[p]])) } });
  }

  add(subject: string, pairs: readonly Pair[]): void {
    for (const [predicate, object] of pairs) this.#writer.addQuad(node(subject), this.#predicate(predicate), this.#object(object) as NamedNode);
  }

  #predicate = (p: Name | NamedNode): NamedNode => (typeof p === 'string' ? term(p) : p);
  #object(value: Value): Term {
    if ('list' in value) return this.#writer.list(value.list.map((v) => this.#object(v) as NamedNode)) as unknown as Term;
    if ('pairs' in value)
      return this.#writer.blank(
        value.pairs.map(([p, o]) => ({ predicate: this.#predicate(p), object: this.#object(o) as NamedNode })) as never,
      ) as unknown as Term;
    return value;
  }

  toString(): string {
    let written = '';
    this.#writer.end((_, result) => {
      written = result;
    });
    return written;
  }
}

/** Escapes a name for an IRI. A dot separates a concept from its relationship. */
const escaped = (name: string): string => encodeURIComponent(name).replaceAll('.', '%2E').replaceAll("'", '%27');

/** The IRIs of the objects of an ontology. */
export class Iris {
  readonly base: string;
  readonly ontology: string;
  readonly #concepts: ReadonlySet<string>;

  constructor(ontology: string, concepts: readonly string[]) {
    this.ontology = `urn:kg:${escaped(ontology)}`;
    this.base = `${this.ontology}#`;
    this.#concepts = new Set(concepts.map(fold));
  }

  concept = (name: string): string => this.base + escaped(name);
  /** A property with the name of a concept has another IRI than the concept. */
  property = (name: string): string => this.base + (this.#concepts.has(fold(name)) ? 'property/' : '') + escaped(name);
  relationship = (concept: string, name: string): string => `${this.base}${escaped(concept)}.${escaped(name)}`;
  inverse = (concept: string, name: string): string => `${this.base}inverse/${escaped(concept)}.${escaped(name)}`;
  mapping = (name: string): string => `${this.base}mapping/${escaped(name)}`;
  shape = (name: string): string => `${this.base}shape/${escaped(name)}`;
  /** The template of an object, before its key. */
  object = (concept: string): string => `${this.ontology}/${escaped(concept)}`;
}

/** The last part of an IRI as a name. */
export function localName(iri: string): string {
  const part = iri.split(/[#/]/).findLast((p) => p !== '') ?? '';
  const last = part.slice(part.lastIndexOf(':') + 1);
  try {
    return decodeURIComponent(last) || iri;
  } catch {
    return last;
  }
}

/** Types of the ontology language, without their numbers, as types of XML Schema. */
const XSD: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'int',
  bigint: 'integer',
  smallint: 'short',
  float: 'double',
  double: 'double',
  decimal: 'decimal',
  boolean: 'boolean',
  date: 'date',
  time: 'time',
  timestamp: 'dateTime',
  datetime: 'dateTime',
  timestamptz: 'dateTimeStamp',
};
/** The types that those of XML Schema are read as. */
const OURS: Readonly<Record<string, string>> = {
  int: 'integer',
  integer: 'bigint',
  long: 'bigint',
  nonNegativeInteger: 'bigint',
  positiveInteger: 'bigint',
  negativeInteger: 'bigint',
  nonPositiveInteger: 'bigint',
  unsignedInt: 'bigint',
  unsignedLong: 'decimal',
  unsignedShort: 'integer',
  short: 'smallint',
  byte: 'smallint',
  unsignedByte: 'smallint',
  gYear: 'integer',
  float: 'double',
  double: 'double',
  decimal: 'decimal',
  boolean: 'boolean',
  date: 'date',
  time: 'time',
  dateTime: 'timestamp',
  dateTimeStamp: 'timestamptz',
  string: 'string',
  normalizedString: 'string',
  token: 'string',
  language: 'string',
  Name: 'string',
  NCName: 'string',
  anyURI: 'string',
};

/** The XML Schema type of a property. */
export const xsdOf = (type: string): NamedNode => node(NAMESPACES.xsd + (XSD[type.replace(/\(.*/, '')] ?? 'string'));

/** The type of a property with a range, or undefined if the range is not a type of values. */
export function typeOfRange(iri: string): string | undefined {
  if (iri.startsWith(NAMESPACES.xsd)) return OURS[iri.slice(NAMESPACES.xsd.length)] ?? 'string';
  return iri === expand('rdfs:Literal') || iri === expand('rdf:langString') || iri === expand('rdf:PlainLiteral') ? 'string' : undefined;
}
