/** OWL and R2RML of other tools: what they say is a model whose queries have the rows of SQL written by hand, and every other axiom is listed. */
import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RDF } from '../../src/cli/exchange/rdf.ts';
import { modelOfScripts, scriptOf } from '../../src/cli/exchange/script-model.ts';
import { loadNodeParser } from '../../src/cli/node-parser.ts';
import { createSqlReader } from '../../src/language/expressions.ts';
import type { Graph } from '../../src/ontology/graph.ts';
import { planSelect } from '../../src/planner/index.ts';
import { memoryDatabase } from '../support/databases/memory.ts';

const PREFIXES = `
  @prefix : <http://uni.example/ns#> . @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
  @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
  @prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix rr: <http://www.w3.org/ns/r2rml#> .`;

const OWL = `${PREFIXES}
  <http://uni.example/ns> a owl:Ontology ; rdfs:comment "A university" .
  :Person a owl:Class ; rdfs:label "human being"@en, "Mensch"@de ; rdfs:comment "Whoever is here" .
  :Student a owl:Class ; rdfs:subClassOf :Person .
  :Employee a owl:Class ; owl:equivalentClass [ a owl:Class ; owl:unionOf ( :Teacher :Clerk ) ] .
  :Teacher a owl:Class ; rdfs:subClassOf owl:Thing ; owl:disjointWith :Student .
  :Clerk a owl:Class .
  :Course a owl:Class .
  :HardCourse a owl:Class ; owl:equivalentClass [ owl:intersectionOf ( :Course
    [ a owl:Restriction ; owl:onProperty :credits ; owl:someValuesFrom [ a rdfs:Datatype ; owl:onDatatype xsd:int ; owl:withRestrictions ( [ xsd:minInclusive 6 ] ) ] ] ) ] .
  :Graduate a owl:Class ; owl:equivalentClass [ owl:intersectionOf ( :Person [ a owl:Restriction ; owl:onProperty :name ; owl:hasValue "Ann" ] ) ] .
  :Plan a owl:Class ; owl:equivalentClass [ a owl:Restriction ; owl:onProperty :takes ; owl:minCardinality 3 ] .
  :Unit a owl:Class .
  :name a owl:DatatypeProperty ; rdfs:domain [ a owl:Class ; owl:unionOf ( :Person :Employee :Unit ) ] ; rdfs:range xsd:string ; skos:altLabel "called" .
  :phone a owl:DatatypeProperty ; rdfs:domain :Person ; rdfs:range xsd:string .
  :credits a owl:DatatypeProperty ; rdfs:domain :Course ; rdfs:range xsd:int .
  :knows a owl:ObjectProperty , owl:SymmetricProperty ; rdfs:domain :Person ; rdfs:range :Person ; rdfs:comment "Each other" .
  :bestFriend a owl:ObjectProperty ; rdfs:subPropertyOf :knows ; rdfs:domain :Person ; rdfs:range :Person .
  :partOf a owl:ObjectProperty , owl:TransitiveProperty ; rdfs:domain :Unit ; rdfs:range :Unit ; owl:inverseOf :hasPart .
  :hasPart a owl:ObjectProperty .
  :takes a owl:ObjectProperty ; rdfs:domain :Student ; rdfs:range :Course .
  :taught a owl:ObjectProperty ; rdfs:domain :Course ; rdfs:range :Teacher .
  :uncle owl:propertyChainAxiom ( :knows :knows ) .`;

const R2RML = `${PREFIXES}
  <#people> rr:logicalTable [ rr:tableName "u.people" ] ; rr:subjectMap [ rr:template "http://uni.example/p/{no}" ; rr:class :Person ] ;
    rr:predicateObjectMap [ rr:predicate :name ; rr:objectMap [ rr:column "nm" ] ] ,
      [ rr:predicate :bestFriend ; rr:objectMap [ rr:template "http://uni.example/p/{friend}" ] ] .
  <#students> rr:logicalTable [ rr:sqlQuery "SELECT no, since FROM u.students;" ] ; rr:subjectMap [ rr:template "http://uni.example/p/{no}" ; rr:class :Student ] ;
    rr:predicateObjectMap [ rr:predicate :since ; rr:objectMap [ rr:column "since" ; rr:datatype xsd:date ] ] .
  <#phones> rr:logicalTable [ rr:tableName "u.phones" ] ; rr:subjectMap [ rr:template "http://uni.example/p/{person}" ] ;
    rr:predicateObjectMap [ rr:predicate :phone ; rr:objectMap [ rr:column "number" ] ] .
  <#knows> rr:logicalTable [ rr:tableName "u.knows" ] ; rr:subjectMap [ rr:template "http://uni.example/p/{a}" ] ;
    rr:predicateObjectMap [ rr:predicate :knows ; rr:objectMap [ rr:template "http://uni.example/p/{b}" ] ] .
  <#teachers> rr:logicalTable [ rr:sqlQuery "SELECT * FROM u.staff WHERE teaches" ] ; rr:subjectMap [ rr:template "http://uni.example/staff/{id}" ; rr:class :Teacher ] ;
    rr:predicateObjectMap [ rr:predicate :name ; rr:objectMap [ rr:column "nm" ] ] .
  <#clerks> rr:logicalTable [ rr:sqlQuery "SELECT * FROM u.staff WHERE NOT teaches" ] ; rr:subjectMap [ rr:template "http://uni.example/staff/{id}" ; rr:class :Clerk ] ;
    rr:predicateObjectMap [ rr:predicate :name ; rr:objectMap [ rr:column "nm" ] ] .
  <#courses> rr:logicalTable [ rr:tableName "u.courses" ] ; rr:subjectMap [ rr:template "http://uni.example/course/{unit}/{code}" ; rr:class :Course ] ;
    rr:predicateObjectMap [ rr:predicate :credits ; rr:objectMap [ rr:column "cr" ] ] ,
      [ rr:predicate :taught ; rr:objectMap [ rr:parentTriplesMap <#teachers> ; rr:joinCondition [ rr:child "teacher" ; rr:parent "id" ] ] ] .
  <#takes> rr:logicalTable [ rr:tableName "u.takes" ] ; rr:subjectMap [ rr:template "http://uni.example/p/{student}" ] ;
    rr:predicateObjectMap [ rr:predicate :takes ; rr:objectMap [ rr:template "http://uni.example/course/{unit}/{code}" ] ] .
  <#units> rr:logicalTable [ rr:tableName "u.units" ] ; rr:subjectMap [ rr:template "http://uni.example/unit/{code}" ; rr:class :Unit ] ;
    rr:predicateObjectMap [ rr:predicate :name ; rr:objectMap [ rr:column "\\"Name\\"" ] ] ,
      [ rr:predicate :partOf ; rr:objectMap [ rr:template "http://uni.example/unit/{upper}" ] ] .
  <#guests1> rr:logicalTable [ rr:sqlQuery "SELECT no, nm FROM u.people WHERE no > 2" ] ; rr:subjectMap [ rr:template "http://uni.example/guest/p{no}" ; rr:class :Guest ] ;
    rr:predicateObjectMap [ rr:predicate :title ; rr:objectMap [ rr:column "nm" ] ] .
  <#guests2> rr:logicalTable [ rr:sqlQuery "SELECT id AS no, nm FROM u.staff" ] ; rr:subjectMap [ rr:template "http://uni.example/guest/s{no}" ; rr:class :Guest ] ;
    rr:predicateObjectMap [ rr:predicate :title ; rr:objectMap [ rr:column "nm" ] ] .
  <#visits1> rr:logicalTable [ rr:sqlQuery "SELECT * FROM u.visits WHERE kind = 'p'" ] ; rr:subjectMap [ rr:template "http://uni.example/visit/{id}" ; rr:class :Visit ] ;
    rr:predicateObjectMap [ rr:predicate :by ; rr:objectMap [ rr:template "http://uni.example/guest/p{guest}" ] ] .
  <#visits2> rr:logicalTable [ rr:sqlQuery "SELECT * FROM u.visits WHERE kind = 's'" ] ; rr:subjectMap [ rr:template "http://uni.example/visit/{id}" ; rr:class :Visit ] ;
    rr:predicateObjectMap [ rr:predicate :by ; rr:objectMap [ rr:template "http://uni.example/guest/s{guest}" ] ] .`;

const TABLES = `CREATE SCHEMA u;
  CREATE TABLE u.people (no int PRIMARY KEY, nm text, friend int);
  INSERT INTO u.people VALUES (1, 'Ann', 2), (2, 'Bob', NULL), (3, 'Cy', 1), (4, 'Di', NULL);
  CREATE TABLE u.students (no int PRIMARY KEY, since date);
  INSERT INTO u.students VALUES (1, '2020-10-01'), (3, '2021-10-01');
  CREATE TABLE u.phones (person int, number text);
  INSERT INTO u.phones VALUES (1, '11'), (1, '12'), (2, '21'), (4, NULL);
  CREATE TABLE u.knows (a int, b int);
  INSERT INTO u.knows VALUES (1, 2), (2, 3), (3, 2), (4, 1);
  CREATE TABLE u.staff (id int PRIMARY KEY, nm text, teaches boolean);
  INSERT INTO u.staff VALUES (1, 'Tim', true), (2, 'Una', true), (3, 'Vic', false);
  CREATE TABLE u.courses (unit text, code int, cr int, teacher int, PRIMARY KEY (unit, code));
  INSERT INTO u.courses VALUES ('m', 1, 3, 1), ('m', 2, 9, 1), ('p', 1, 6, 2), ('p', 2, NULL, NULL);
  CREATE TABLE u.takes (student int, unit text, code int);
  INSERT INTO u.takes VALUES (1, 'm', 1), (1, 'p', 1), (3, 'm', 1), (3, 'm', 1);
  CREATE TABLE u.visits (id int PRIMARY KEY, guest int, kind text);
  INSERT INTO u.visits VALUES (1, 3, 'p'), (2, 3, 's'), (3, 1, 's'), (4, 1, 'p');
  CREATE TABLE u.units (code text PRIMARY KEY, "Name" text, upper text);
  INSERT INTO u.units VALUES ('u', 'University', NULL), ('s', 'Science', 'u'), ('m', 'Mathematics', 's'), ('p', 'Physics', 's');`;

const parser = await loadNodeParser();
let db: PGlite;
let graph: Graph;
let losses: readonly string[];
beforeAll(async () => {
  db = await memoryDatabase();
  await db.exec(TABLES);
  const files = [
    { path: 'uni.ttl', text: OWL },
    { path: 'r2rml.ttl', text: R2RML },
  ];
  const imported = await RDF.read(files, createSqlReader(parser, 'svc'));
  losses = imported.losses;
  graph = modelOfScripts([{ path: 'imported', text: scriptOf(imported.model, imported.name, 'svc', imported.statements) }], imported.name, parser, 'svc').graph;
});
afterAll(() => db?.close());

const values = (rows: readonly { readonly row: Readonly<Record<string, unknown>> }[]): string[] =>
  rows.map(({ row }) => JSON.stringify(Object.values(row))).sort();

describe('queries have the rows of SQL by hand', () => {
  it.each([
    ['rows of a class once, with those of its subclass', 'SELECT name FROM svc.Person', 'SELECT nm FROM u.people'],
    ['a subclass with its own columns', 'SELECT no, name, since FROM svc.Student', 'SELECT no::text, nm, since FROM u.students JOIN u.people USING (no)'],
    ['a union', 'SELECT name FROM svc.Employee', 'SELECT nm FROM u.staff'],
    ['an intersection with facets', 'SELECT unit, code FROM svc.HardCourse', 'SELECT unit, code::text FROM u.courses WHERE cr >= 6'],
    ['an intersection with a value', 'SELECT no FROM svc.Graduate', "SELECT no::text FROM u.people WHERE nm = 'Ann'"],
    ['several values', 'SELECT no, phone FROM dsvc.Person WHERE phone IS NOT NULL', 'SELECT person::text, number FROM u.phones WHERE number IS NOT NULL'],
    [
      'a template as a foreign key',
      'SELECT no, "bestFriend[Person].name" FROM dsvc.Person',
      'SELECT p.no::text, f.nm FROM u.people p LEFT JOIN u.people f ON f.no = p.friend',
    ],
    [
      'a symmetric relationship that includes another',
      'SELECT no, "knows[Person].no" AS other FROM dsvc.Person WHERE "knows[Person].no" IS NOT NULL',
      'WITH k AS (SELECT a, b FROM u.knows UNION SELECT no, friend FROM u.people WHERE friend IS NOT NULL) SELECT a::text, b::text FROM k UNION SELECT b::text, a::text FROM k',
    ],
    [
      'a join condition',
      'SELECT unit, code, "taught[Teacher].name" FROM dsvc.Course',
      'SELECT c.unit, c.code::text, s.nm FROM u.courses c LEFT JOIN u.staff s ON s.id = c.teacher',
    ],
    [
      'links of a table',
      'SELECT no, "takes[Course].unit" AS unit, "takes[Course].code" AS code, "takes[Course].credits" AS cr FROM dsvc.Student',
      'SELECT DISTINCT t.student::text, unit, code::text, c.cr FROM u.takes t JOIN u.courses c USING (unit, code)',
    ],
    [
      'objects of several templates, whose columns have the same values',
      'SELECT id, "by[Guest].title" AS title FROM dsvc.Visit',
      "SELECT v.id::text, coalesce(p.nm, s.nm) FROM u.visits v LEFT JOIN u.people p ON kind = 'p' AND p.no = guest AND p.no > 2 LEFT JOIN u.staff s ON kind = 's' AND s.id = guest",
    ],
    [
      'a transitive relationship and its inverse',
      'SELECT name, "hasPart[Unit*5].name" AS part FROM dsvc.Unit WHERE "hasPart[Unit*5].name" IS NOT NULL',
      `WITH RECURSIVE w AS (SELECT upper AS a, code AS b FROM u.units WHERE upper IS NOT NULL UNION SELECT w.a, u.code FROM w JOIN u.units u ON u.upper = w.b)
       SELECT a."Name" AS name, b."Name" AS part FROM w JOIN u.units a ON a.code = w.a JOIN u.units b ON b.code = w.b`,
    ],
  ])('%s', async (_, sql, byHand) => {
    const plan = planSelect({ graph, parser, product: 'svc', activeDatasource: 'main' }, { text: sql, offset: 0 });
    const found = await db.query<{ row: Record<string, unknown> }>(`SELECT row::text::json AS row FROM (${plan.sql}) q(row)`, [...plan.params] as never[]);
    const hand = await db.query<{ row: Record<string, unknown> }>(`SELECT row_to_json(q) AS row FROM (${byHand}) q`);
    expect(hand.rows.length).toBeGreaterThan(0);
    expect(values(found.rows)).toEqual(values(hand.rows));
  });
});

it('each axiom that a model cannot have is listed', () => {
  expect([...losses].sort()).toEqual([
    'axiom <http://uni.example/ns#Person> rdfs:label "Mensch"@de',
    'axiom <http://uni.example/ns#Plan> owl:equivalentClass [ a owl:Restriction; owl:onProperty <http://uni.example/ns#takes>; owl:minCardinality "3" ]',
    'axiom <http://uni.example/ns#Teacher> owl:disjointWith <http://uni.example/ns#Student>',
    'axiom <http://uni.example/ns#uncle> owl:propertyChainAxiom (<http://uni.example/ns#knows> <http://uni.example/ns#knows>)',
    expect.stringMatching(/^no type is given for .*: string is assumed$/),
  ]);
});

it('descriptions and synonyms are kept', () => {
  expect(graph.model.description).toBe('A university');
  expect(graph.concept('Person')?.def).toMatchObject({ description: 'Whoever is here', tags: { synonyms: 'human being' } });
  expect(graph.property('name')?.tags).toEqual({ synonyms: 'called' });
  expect(graph.concept('Unit')?.relationship('partOf')[0]).toMatchObject({ inverseName: 'hasPart', transitive: 'default' });
});

describe('documents that cannot be read', () => {
  it.each([
    ['<rdf:RDF xmlns:rdf="x"/>', /is RDF\/XML; convert it to Turtle first/],
    [':a :b', /is not Turtle: /],
  ])('%s', async (text, message) => {
    await expect(RDF.read([{ path: 'bad.ttl', text }], createSqlReader(parser, 'svc'))).rejects.toThrow(message);
  });
});
