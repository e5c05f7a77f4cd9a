/** The RDF formats: an ontology in OWL, its mappings in R2RML, its shapes in SHACL, as Turtle. */
import { fileName } from '../export.ts';
import type { Format } from './exchange.ts';
import { parseRdf } from './rdf-axioms.ts';
import { importRdf } from './rdf-import.ts';
import { OwlExport } from './rdf-owl.ts';
import { R2rml } from './rdf-r2rml.ts';
import { shaclOf } from './rdf-shacl.ts';
import { Iris } from './rdf-terms.ts';

export const RDF: Format = {
  endings: ['.ttl', '.nt', '.nq', '.trig', '.owl', '.rdf'],
  write: async (source) => {
    const iris = new Iris(
      source.name,
      source.graph.concepts.map((c) => c.name),
    );
    const maps = new R2rml(source.graph, iris);
    const owl = new OwlExport(source, iris, maps);
    const name = fileName(source.name);
    const files = [
      { name: `${name}.owl.ttl`, text: owl.document() },
      { name: `${name}.r2rml.ttl`, text: maps.document() },
      { name: `${name}.shacl.ttl`, text: shaclOf(source, iris) },
    ];
    return { files, losses: owl.losses };
  },
  read: async (files, reader) => importRdf(parseRdf(files), reader),
};
