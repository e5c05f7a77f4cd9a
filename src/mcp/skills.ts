/**
 * Skills: instructions for agents as resources `skill://...`, with the methods skills/list and skills/get (extension io.modelcontextprotocol/skills, SEP-2640;
 * https://github.com/modelcontextprotocol/ext-skills).
 */
import { type McpServer, ProtocolError, ResourceTemplate } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { SvcError } from '../errors.ts';
import { describeModel } from '../llm/describe.ts';
import { listOntologies, ontologyOf } from '../service.ts';
import { readingRequest, type Session } from './call.ts';
import { checkAnAnswer, modelADatabase, queryThisGraph, type SkillText } from './skill-texts.ts';

/** The name of the extension among the capabilities. */
export const SKILLS = 'io.modelcontextprotocol/skills';

const INVALID_PARAMS = -32602;
const NOT_FOUND = -32002;
/** The tokens of a model in a skill. */
const MODEL_TOKENS = 4_000;
/** The ontologies that a list has a skill for; those of others are found by their URI. */
const MOST_LISTED = 10;
const TTL_MS = 60_000;

interface Skill {
  readonly uri: string;
  readonly skill: SkillText;
}

const fileOf = (path: string): string => `skill://${path}/SKILL.md`;
const graphUri = (ontology: string): string => fileOf(`${encodeURIComponent(ontology)}/query-this-graph`);

/** The skills that are the same for all ontologies. */
const general = (product: string): readonly Skill[] => [modelADatabase(product), checkAnAnswer(product)].map((skill) => ({ uri: fileOf(skill.name), skill }));

/** The skill of an ontology; undefined if the caller may query nothing of it. @throws SvcError 503 */
async function ofGraph(session: Session, name: string, signal: AbortSignal): Promise<Skill | undefined> {
  try {
    const ontology = ontologyOf(session.caller, session.target, name);
    const description = { request: readingRequest(session, signal), ontology, about: [], maxTokens: MODEL_TOKENS, namesOnly: true };
    const { text, isCut } = await describeModel(description);
    return { uri: graphUri(ontology), skill: queryThisGraph(session.runtime.config.product, ontology, text, isCut) };
  } catch (error) {
    if (error instanceof SvcError && error.status < 500) return undefined;
    throw error;
  }
}

/** The ontologies to list: that of the connection, or else the first ones that the caller sees. */
function listed(session: Session, signal: AbortSignal): readonly string[] {
  const { ontology, agent } = session.target;
  if (ontology !== null) return [ontology];
  const names = listOntologies(readingRequest(session, signal));
  return (agent === undefined ? names : names.filter((name) => agent.ontologies.includes(name))).slice(0, MOST_LISTED);
}

/** Finds a skill by the URI of its SKILL.md. @throws SvcError 503 */
async function find(session: Session, uri: string, signal: AbortSignal): Promise<Skill | undefined> {
  const known = general(session.runtime.config.product).find((s) => s.uri === uri);
  if (known !== undefined) return known;
  const encoded = /^skill:\/\/([^/]+)\/query-this-graph\/SKILL\.md$/.exec(uri)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return await ofGraph(session, decodeURIComponent(encoded), signal);
  } catch (error) {
    // the escapes of a URI may be none
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** The entry of a skill: its frontmatter, and its only file with size and digest. */
async function entryOf({ uri, skill: { name, description, text } }: Skill) {
  const bytes = new TextEncoder().encode(text);
  const digest = [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].map((b) => b.toString(16).padStart(2, '0')).join('');
  return { uri, frontmatter: { name, description }, resources: [{ uri, digest: `sha256:${digest}`, size: bytes.length }] };
}

/** What a caller sees is its own, so that no cache may share it. */
const CACHING = { resultType: 'complete', ttlMs: TTL_MS, cacheScope: 'private' } as const;

const faultOf = (error: unknown): ProtocolError =>
  error instanceof ProtocolError ? error : new ProtocolError(-32603, error instanceof SvcError ? error.message : 'The service failed to answer this request');

/** Registers the methods and the resources. Skills are not in resources/list, which lists the models. */
export function addSkills(server: McpServer, session: Session): void {
  server.server.setRequestHandler('skills/list', { params: z.looseObject({ cursor: z.string().optional() }) }, async (_params, context) => {
    try {
      const { signal } = context.mcpReq;
      const graphs = await Promise.all(listed(session, signal).map((name) => ofGraph(session, name, signal)));
      const skills = [...graphs.filter((s) => s !== undefined), ...general(session.runtime.config.product)];
      return { skills: await Promise.all(skills.map(entryOf)), ...CACHING };
    } catch (error) {
      throw faultOf(error);
    }
  });
  server.server.setRequestHandler('skills/get', { params: z.looseObject({ uri: z.string() }) }, async ({ uri }, context) => {
    try {
      const found = await find(session, uri, context.mcpReq.signal);
      if (found === undefined) throw new ProtocolError(INVALID_PARAMS, 'There is no such skill');
      return { skill: await entryOf(found), ...CACHING };
    } catch (error) {
      throw faultOf(error);
    }
  });
  const config = { title: 'A skill', description: 'Instructions for agents; skills/list lists them', mimeType: 'text/markdown' };
  for (const [name, path] of [
    ['skill', 'skill://{skill}/SKILL.md'],
    ['skill-of-graph', 'skill://{ontology}/{skill}/SKILL.md'],
  ] as const)
    server.registerResource(name, new ResourceTemplate(path, { list: undefined }), config, async (uri, _variables, context) => {
      try {
        const found = await find(session, uri.href, context.mcpReq.signal);
        if (found === undefined) throw new ProtocolError(NOT_FOUND, 'There is no such skill');
        return { contents: [{ uri: found.uri, mimeType: 'text/markdown', text: found.skill.text }] };
      } catch (error) {
        throw faultOf(error);
      }
    });
}
