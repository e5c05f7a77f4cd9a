/** OWL, R2RML and SHACL: reading what is written gives the model again, and what documents of other tools say. Their rows: test/integration/rdf-import.test.ts. */
import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RDF } from '../../../../src/cli/exchange/rdf.ts';
import { scriptOf } from '../../../../src/cli/exchange/script-model.ts';
import { generated, patience } from '../../../support/generated.ts';
import { sizesOf } from '../../../support/sizes.ts';
import { objectsOf, sourceOf, sources } from './support.ts';

const SIZES = sizesOf('unit/cli/exchange/rdf');

type Source = Parameters<typeof RDF.write>[0];

async function read(files: readonly { readonly name: string; readonly text: string }[], reader: Source['reader']) {
  const imported = await RDF.read(
    files.map(({ name, text }) => ({ path: name, text })),
    reader,
  );
  return { back: sourceOf(scriptOf(imported.model, imported.name, 'svc', imported.statements), imported.name), lost: imported.losses };
}

/** Reading gives the model, and writing that gives the same files. */
async function isFixedPoint(source: Source): Promise<void> {
  const { files } = await RDF.write(source);
  const { back, lost } = await read(files, source.reader);
  expect(lost).toEqual([]);
  expect(objectsOf(back.graph.model)).toEqual(objectsOf(source.graph.model));
  const again = (await RDF.write(back)).files;
  for (const [i, { name, text }] of files.entries()) expect(again[i]?.text, name).toBe(text);
}

const sample = async (path: string, name: string) => sourceOf(await readFile(new URL(`../../../../${path}`, import.meta.url), 'utf8'), name);
const PREFIXES = `@prefix : <http://x.example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix sh: <http://www.w3.org/ns/shacl#> .
  @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix rr: <http://www.w3.org/ns/r2rml#> .`;
const imported = async (text: string) => read([{ name: 'a.ttl', text: PREFIXES + text }], (await sample('bench/tpch/model.kg', 'tpch')).reader);

it.each([
  ['examples/world/model.kg', 'world'],
  ['examples/bikehire/model.kg', 'bikehire'],
  ['bench/tpch/model.kg', 'tpch'],
])('%s is the same after a way through OWL and R2RML', async (path, name) => {
  await isFixedPoint(await sample(path, name));
});

it(
  'generated models are the same after a way through OWL and R2RML',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        sources.filter((s) => s !== null),
        isFixedPoint,
      ),
      generated(SIZES.models, SIZES.models),
    );
  },
  patience(120_000),
);

it('links to objects of a mapping without their key are those of the other mapping', async () => {
  // such a mapping has no triples map, so nothing may join it
  await isFixedPoint(
    sourceOf(`CREATE CONCEPT place (name string, near string, CONSTRAINT beside FOREIGN KEY (near) REFERENCES place (name) INVERSEOF beside_of);
      CREATE CONCEPT city (code string, PRIMARY KEY (code)) INHERITS (place);
      CREATE MAPPING half INTO city AS SELECT a AS near, b AS name FROM t.x; CREATE MAPPING whole INTO city AS SELECT name, near, code FROM t.y`),
  );
});

it('links and several values of objects whose key has no type compare texts, as the key is', async () => {
  const { back } =
    await imported(`:Person a owl:Class . :friend a owl:ObjectProperty ; rdfs:domain :Person ; rdfs:range :Person . :nick a owl:DatatypeProperty ; rdfs:domain :Person .
    <#p> rr:logicalTable [ rr:tableName "s.p" ] ; rr:subjectMap [ rr:template "http://x.example/p/{id}" ; rr:class :Person ] .
    <#f> rr:logicalTable [ rr:tableName "s.f" ] ; rr:subjectMap [ rr:template "http://x.example/p/{a}" ] ;
      rr:predicateObjectMap [ rr:predicate :friend ; rr:objectMap [ rr:template "http://x.example/p/{b}" ] ] .
    <#n> rr:logicalTable [ rr:tableName "s.n" ] ; rr:subjectMap [ rr:template "http://x.example/p/{who}" ] ;
      rr:predicateObjectMap [ rr:predicate :nick ; rr:objectMap [ rr:column "nick" ] ] .`);
  const sql = back.graph.model.mappings.filter((m) => m.kind !== 'concept').map((m) => m.sql);
  expect(sql).toEqual([expect.stringContaining('CAST(a AS text) AS "from1", CAST(b AS text) AS "to1"'), expect.stringContaining('CAST(who AS text) AS "id"')]);
});

it('what OWL cannot say is printed', async () => {
  const { losses } = await RDF.write(await sample('examples/bikehire/model.kg', 'bikehire'));
  expect(losses).toContain('depth 5 of employee.reports_to: only in kg:depth');
  expect(losses).toContain('condition of late_hire: only in kg:condition, because OWL has no SQL');
  expect(losses).toContain('type decimal(8,2) of salary: only in kg:type');
});

describe('documents of other tools', () => {
  it('a thesaurus is a hierarchy of concepts', async () => {
    const { back, lost } = await imported(`:animal a skos:Concept ; skos:prefLabel "Animal"@en , "Tier"@de ; skos:definition "It moves" .
      :cat a skos:Concept ; skos:prefLabel "Cat" ; skos:altLabel "kitty" ; skos:broader :animal . :dog a skos:Concept . :animal skos:narrower :dog ; skos:related :cat .`);
    expect(back.graph.concept('animal')?.children.map((c) => c.name)).toEqual(['cat', 'dog']);
    expect(back.graph.concept('cat')?.def?.tags).toEqual({ synonyms: 'kitty' });
    expect(back.graph.concept('animal')?.def?.description).toBe('It moves');
    expect(lost).toEqual(['axiom <http://x.example/animal> skos:prefLabel "Tier"@de', 'axiom <http://x.example/animal> skos:related <http://x.example/cat>']);
  });

  it('R2RML without OWL is a model', async () => {
    const { back, lost } =
      await imported(`<#a> rr:logicalTable [ rr:tableName "db.s.orders" ] ; rr:subjectMap [ rr:template "http://x/o/{ID}" ; rr:class :Order ] ;
      rr:predicateObjectMap [ rr:predicate :total ; rr:objectMap [ rr:column "total" ; rr:datatype xsd:decimal ] ] ,
        [ rr:predicate :by ; rr:objectMap [ rr:parentTriplesMap <#b> ; rr:joinCondition [ rr:child "cust" ; rr:parent "no" ] ] ] , [ rr:predicate :kind ; rr:object "web" ] .
      <#b> rr:logicalTable [ rr:sqlQuery "SELECT no FROM s.c" ] ; rr:subjectMap [ rr:template "http://x/c/{no}" ; rr:class :Customer ] .`);
    const order = back.graph.concept('Order');
    expect(order?.key?.properties.map((p) => p.name)).toEqual(['id']);
    expect(order?.relationship('by')[0]).toMatchObject({ kind: 'fk', source: [{ name: 'by_no' }], references: [{ name: 'no' }] });
    expect(back.graph.property('total')?.type).toBe('decimal');
    expect(order?.mappings[0]?.sql).toContain('\'web\' AS "kind"');
    expect(lost).toEqual(['database of db.s.orders: a mapping reads the database of its data source', expect.stringMatching(/^no type is given for/)]);
  });

  it('what a model cannot say is a loss, and the rest is kept', async () => {
    const { back, lost } =
      await imported(`:A a owl:Class ; rdfs:subClassOf :B , [ a owl:Restriction ; owl:onProperty :p ; owl:maxCardinality 1 ] . :B a owl:Class ; rdfs:subClassOf :A .
      :p a owl:DatatypeProperty ; rdfs:domain :A ; rdfs:range xsd:string ; rdfs:subPropertyOf :q . :q a owl:DatatypeProperty ; rdfs:range xsd:string .
      :r a owl:ObjectProperty , owl:SymmetricProperty ; rdfs:domain :A ; rdfs:range :C . :C a owl:Class . :s a owl:ObjectProperty ; rdfs:domain :A .
      :shape a sh:NodeShape ; sh:targetClass :A ; sh:property [ sh:path :p ; sh:minCount 1 ] .`);
    expect(back.graph.concept('A')?.parents.map((c) => c.name)).toEqual(['B']);
    expect(back.graph.concept('A')?.relationship('r')[0]?.target.name).toBe('C');
    expect([...lost].sort()).toEqual([
      'axiom <http://x.example/B> rdfs:subClassOf <http://x.example/A>',
      'axiom <http://x.example/p> rdfs:subPropertyOf <http://x.example/q>',
      'owl:SymmetricProperty of r: it leads from A to C',
      'property q: no class is its domain, so no concept has it',
      'relationship s: no class is its range',
      'shape <http://x.example/shape>: constraints on values have no place in an ontology',
    ]);
  });
});
