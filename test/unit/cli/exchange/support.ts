/** Models for the tests of formats: generated ones, and how two models are compared. */
import fc from 'fast-check';
import { modelOfScripts, type ScriptModel } from '../../../../src/cli/exchange/script-model.ts';
import { loadNodeParser } from '../../../../src/cli/node-parser.ts';
import { significant, tokenize } from '../../../../src/language/lexer.ts';
import { printConcept, printMapping, printMeasure, printModel, printProperty, printView } from '../../../../src/language/print.ts';
import { EMPTY_MODEL, type Model } from '../../../../src/ontology/model.ts';
import { Cases } from '../../../integration/differential/cases.ts';
import { modelOf } from '../../../integration/differential/ddl.ts';
import type { Case } from '../../../integration/differential/shrink.ts';

const parser = await loadNodeParser();

/** A script as a source of an export. */
export const sourceOf = (script: string, name = 'world'): ScriptModel => modelOfScripts([{ path: 'model.kg', text: script }], name, parser, 'svc');

/** Generated models with descriptions and tags; null for one that the service refuses. */
export const sources = fc
  .tuple(new Cases(1), fc.array(fc.tuple(fc.string(), fc.string()), { maxLength: 4 }))
  .map(([made, texts]: [Case, [string, string][]]) => {
    const model = modelOf(made.world);
    const text = (i: number): string | null => (texts.length === 0 ? null : clean(texts[i % texts.length]?.[0] ?? ''));
    const tags = (i: number): Record<string, string> =>
      texts.length === 0 || i % 3 === 0 ? {} : { synonyms: clean(texts[i % texts.length]?.[1] ?? ''), unit: 'x' };
    const described: Model = {
      ...EMPTY_MODEL,
      ...model,
      description: text(0),
      properties: model.properties.map((p, i) => ({ ...p, description: text(i), tags: tags(i) })),
      measures: model.measures.map((m, i) => ({ ...m, description: text(i + 1), tags: tags(i + 1) })),
      concepts: model.concepts.map((c, i) => ({
        ...c,
        description: text(i),
        tags: tags(i),
        relationships: c.relationships.map((r, j) => ({ ...r, description: text(i + j) })),
      })),
    };
    try {
      return sourceOf(printModel(described, 'world', 'svc'));
    } catch {
      // the generator also makes models that the service refuses
      return null;
    }
  });
const clean = (text: string): string => text.replaceAll('\0', '').toWellFormed();

/** The objects of a model as comparable texts: without the case and the quotes of names, with tags in order. */
export function objectsOf(model: Model): readonly string[] {
  const sorted = <T extends { readonly tags: Readonly<Record<string, string>> }>(o: T): T => ({
    ...o,
    tags: Object.fromEntries(Object.entries(o.tags).sort(([a], [b]) => (a < b ? -1 : 1))),
  });
  const texts = [
    ...model.properties.map((p) => printProperty(sorted(p))),
    ...model.measures.map((m) => printMeasure(sorted(m))),
    ...model.concepts.map((c) => printConcept(sorted(c), model, 'svc')),
    ...model.mappings.map(printMapping),
    ...model.views.map((v) => printView(sorted(v))),
    ...Object.entries(model.config).map(([key, value]) => `${key} ${value}`),
    model.description ?? '',
  ];
  const plain = (text: string): string =>
    significant(tokenize(text))
      .map((t) => (t.kind === 'word' || t.kind === 'name' ? t.value.toLowerCase() : t.kind === 'string' ? `'${t.value}'` : t.value))
      .join(' ');
  return texts.map((t, i) => (i === texts.length - 1 ? t : plain(t))).sort();
}
