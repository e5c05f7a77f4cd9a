/** Answers with the OpenAPI documents, which need a credential and have an ETag. */
import { notFound } from '../errors.ts';
import { getOntology, type ServiceRequest } from '../service.ts';
import { conditional } from './conditional.ts';
import type { AppContext } from './context.ts';
import { type DocumentBase, serviceDocument } from './openapi.ts';
import { type DescribedOntology, ontologyDocument } from './openapi-ontology.ts';

const baseOf = (c: AppContext, product: string, release: string): DocumentBase => ({ product, release, url: c.env.runtime.config.publicUrl });

/** The document of the service, which depends only on the settings. */
let kept: { readonly key: string; readonly text: string } | undefined;

/** Answers with the document of the service. */
export function sendServiceDocument(c: AppContext, product: string, release: string): Promise<Response> {
  const base = baseOf(c, product, release);
  const key = JSON.stringify(base);
  if (kept?.key !== key) kept = { key, text: JSON.stringify(serviceDocument(base)) };
  return conditional(c, kept.text);
}

/** Answers with the document of an ontology. @param file `<ontology>.json` @throws SvcError 404 `unknown_path`, `unknown_ontology`; 503 */
export async function sendOntologyDocument(c: AppContext, product: string, release: string, request: ServiceRequest, file: string): Promise<Response> {
  if (!file.endsWith('.json')) throw notFound('unknown_path', 'This path does not exist');
  const { name, version, detail } = await getOntology(request, file.slice(0, -'.json'.length));
  c.set('version', version);
  return conditional(c, JSON.stringify(ontologyDocument(baseOf(c, product, release), name, detail as DescribedOntology)));
}
