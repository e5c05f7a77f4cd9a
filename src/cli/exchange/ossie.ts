/** The format of Apache Ossie: a core document in two versions, an ontology document and a mapping document, in YAML. */
import { stringify } from 'yaml';
import { fileName } from '../export.ts';
import type { Format } from './exchange.ts';
import { CoreExport, oldCore } from './ossie-export.ts';
import { importOssie } from './ossie-import.ts';
import { OntologyExport } from './ossie-ontology.ts';
import { readDocuments } from './ossie-read.ts';

const yaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

export const OSSIE: Format = {
  endings: ['.yaml', '.yml', '.json'],
  write: async (source) => {
    const [core, ontology] = [new CoreExport(source), new OntologyExport(source)];
    const document = core.document();
    const [model] = document.semantic_model;
    if (model === undefined) throw new Error('a core document has a model');
    const name = fileName(source.name);
    const files = [
      { name: `${name}.ossie.yaml`, text: yaml(document) },
      { name: `${name}.ontology.yaml`, text: yaml(ontology.document()) },
      { name: `${name}.mapping.yaml`, text: yaml(ontology.mapping(model)) },
      { name: `${name}.ossie-0.1.yaml`, text: yaml(oldCore(document)) },
    ];
    return { files, losses: [...core.losses, ...ontology.losses] };
  },
  read: async (files, reader) => importOssie(readDocuments(files), reader),
};
