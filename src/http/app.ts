/** The REST API: the routes under `/<product>/api` and `/<product>/openapi`, and the middleware of all requests. */
import { type Handler, Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { authenticate } from '../auth/authenticate.ts';
import { impersonate } from '../auth/impersonate.ts';
import { badRequest, notFound, SvcError } from '../errors.ts';
import type { Wish } from '../nesting/stage.ts';
import type { Mount } from '../service/exchange.ts';
import {
  type Answer,
  clearCache,
  conceptRows,
  getConfig,
  getOntology,
  listAgents,
  listOntologies,
  modelFiles,
  type ResultWish,
  ready,
  resultSeconds,
  runScript,
  Spending,
  unknownName,
  viewRows,
  wantsFresh,
} from '../service.ts';
import { asSvcError, failure, json, noteSource, raw, success } from './answers.ts';
import { audit } from './audit.ts';
import { drain, readText, requireJson, requireSqlText } from './body.ts';
import { conditional } from './conditional.ts';
import type { AppContext, AppEnv } from './context.ts';
import { cors } from './cors.ts';
import { bodyOf, CONTENT_TYPES, presentationOf, wishOf } from './format.ts';
import { checkHost, checkUrl, requestIdOf } from './guards.ts';
import { permittedBy, queryBody, resultsLimit, wantsAsync } from './input.ts';
import { logRequest } from './log.ts';
import { admitted, mounted } from './mounted.ts';
import { type AddRoute, consoleRoutes, docsRoutes, loginRoutes, oauthRoutes, refuseReadOnly } from './page-routes.ts';
import { addTimes, measure } from './server-timing.ts';

type Route = (c: AppContext) => Promise<Response> | Response;

// what few requests need is loaded by the first of them (docs/design/platform-rules.md#the-script)
const documents = () => import('./openapi-routes.ts');
const docs = () => import('./docs-page.ts');
const questions = () => import('./questions.ts');
const background = () => import('./openapi-async.ts');
const clients = () => import('./clients.ts');

/**
 * Creates the application.
 * @param product PRODUCT_NAME, the first segment of every path
 * @param mounts routes of other protocols
 */
export function createApp(product: string, version: string, mounts: readonly Mount[] = []): Hono<AppEnv> {
  // not strict: paths match with and without a trailing slash
  const app = new Hono<AppEnv>({ strict: false });

  app.use(async (c, next) => {
    const timing = measure(c);
    c.set('requestId', requestIdOf(c.req.raw.headers));
    await next();
    await drain(c);
    addTimes(c, timing);
    timing.answered();
    logRequest(c, timing);
    audit(c, timing.begun);
  });
  app.use(cors());
  app.use(async (c, next) => {
    checkUrl(c.req.url);
    checkHost(c.req.raw.headers, c.req.url, c.env.runtime.config);
    await next();
  });
  app.use(methodNotAllowed({ app, onMethodNotAllowed }));

  const route: AddRoute = (methods, path, effect, ...handlers) => {
    app.on([...methods], [`/${product}${path}`], ...(effect === 'changes' ? [refuseReadOnly] : []), ...handlers);
  };

  serviceRoutes(route, product, version);
  modelRoutes(route);
  rowRoutes(route);
  queryRoutes(route, product);
  questionRoutes(route, product);
  documentRoutes(route, product, version);
  route(['POST'], '/api/get_token', 'changes', async (c) => (await import('./get-token.ts')).getToken(c));
  loginRoutes(route, product);
  consoleRoutes(app, route);
  docsRoutes(app, route);
  for (const mount of mounts) app.all(`/${product}${mount.path}`, mounted(mount));
  oauthRoutes(app, route, product);

  app.notFound((c) => failure(c, notFound('unknown_path', 'This path does not exist')));
  app.onError((error, c) => failure(c, error));
  return app;
}

/** Wraps a route that needs a credential. The body of a POST, if there is one, must be JSON. */
const known =
  (handler: Route): Handler<AppEnv> =>
  async (c) => {
    await identify(c);
    if (c.req.method === 'POST' && (await readText(c)).trim() !== '') requireJson(c.req.raw);
    return handler(c);
  };

/** The service itself: its health, settings and prompts. */
function serviceRoutes(route: AddRoute, product: string, version: string): void {
  route(['GET'], '/api/health', 'reads', (c) => json(c, 200, { status: 'success', name: product, version }));
  route(
    ['GET'],
    '/api/health/ready',
    'reads',
    known(async (c) => {
      const checks = await (await ready()).readiness(request(c));
      const failed = checks.filter((check) => check.state === 'failed').map((check) => check.name);
      if (failed.length === 0) return success(c, { version, checks });
      const body = { status: 'error', data: `The service is not ready: ${failed.join(', ')}`, code: 'not_ready', hint: 'checks has the details', checks };
      return json(c, 503, { ...body, request_id: c.get('requestId') });
    }),
  );
  route(
    ['GET', 'POST'],
    '/api/get_config/:name',
    'reads',
    known((c) => success(c, getConfig(request(c), param(c, 'name')))),
  );
  route(
    ['POST'],
    '/api/llm_prompts/:name',
    'reads',
    known(async (c) => {
      const { PROMPT_NAMES, promptTemplates } = await import('../llm/templates.ts');
      const templates = promptTemplates(param(c, 'name'), product);
      if (templates !== undefined) return success(c, templates);
      throw notFound('unknown_prompt', unknownName('prompt', param(c, 'name'), PROMPT_NAMES), { hint: `There are ${PROMPT_NAMES.join(', ')}` });
    }),
  );
}

/** Ontologies and agents, and changes of models by files. */
function modelRoutes(route: AddRoute): void {
  route(
    ['GET', 'POST'],
    '/api/get_ontologies',
    'reads',
    known((c) => success(c, listOntologies(request(c)))),
  );
  route(
    ['GET', 'POST'],
    '/api/get_agents',
    'reads',
    known(async (c) => success(c, await listAgents(request(c)))),
  );
  route(
    ['GET', 'POST'],
    '/api/clear_cache/:ontology',
    'checked',
    known(async (c) => {
      await clearCache(request(c), param(c, 'ontology'));
      return json(c, 200, { status: 'success' });
    }),
  );
  route(
    ['GET', 'POST'],
    '/api/get_ontology/:ontology',
    'reads',
    known(async (c) => {
      const { version: current, detail } = await getOntology(request(c), param(c, 'ontology'));
      c.set('version', current);
      return conditional(c, JSON.stringify({ status: 'success', data: detail }));
    }),
  );
  for (const path of ['plan', 'apply'] as const)
    route(['POST'], `/api/model/:ontology/${path}`, 'checked', async (c) => {
      await identify(c);
      const text = await readText(c);
      requireJson(c.req.raw);
      const [{ modelFilesBody }, changes] = await Promise.all([import('./schemas.ts'), modelFiles()]);
      return success(c, await changes[`${path}Model` as const](request(c), param(c, 'ontology'), modelFilesBody(text)));
    });
}

/** The rows of concepts and views, which URLs filter. */
function rowRoutes(route: AddRoute): void {
  route(
    ['GET'],
    '/api/q/:ontology/concept/:concept',
    'reads',
    known(async (c) => {
      const wish = wishOf(c.req.raw.headers);
      const { answer, executed } = await conceptRows(request(c, wish), param(c, 'ontology'), param(c, 'concept'), rowsQuery(c, wish));
      return answered(c, answer, wish, '{"status":"success","data":', `,"executed_query":${JSON.stringify(executed)}}`);
    }),
  );
  route(
    ['GET'],
    '/api/q/:ontology/view/:view',
    'reads',
    known(async (c) => {
      const wish = wishOf(c.req.raw.headers);
      const { answer, executed } = await viewRows(request(c, wish), param(c, 'ontology'), param(c, 'view'), rowsQuery(c, wish));
      return answered(c, answer, wish, '{"status":"success","data":', `,"executed_query":${JSON.stringify(executed)}}`);
    }),
  );
}

/** Statements, and the results of asynchronous ones. */
function queryRoutes(route: AddRoute, product: string): void {
  route(['POST'], '/api/query', 'checked', async (c) => {
    await identify(c);
    const text = await readText(c);
    requireJson(c.req.raw);
    const body = queryBody(text);
    c.set('sql', body.query);
    const wish = wishOf(c.req.raw.headers);
    const answer = await runScript(request(c, wish), {
      ontology: body.ontology_name ?? '',
      sql: body.query,
      limit: resultsLimit(c.req.raw.headers),
      datasource: null,
      nested: wish.presentation.nested,
    });
    return answered(c, answer, wish, '{"status":"success","data":', '}');
  });
  route(['POST'], '/openapi/ontology/:ontology/query', 'checked', async (c) => {
    await identify(c);
    const text = await readText(c);
    requireSqlText(c.req.raw);
    if (text.trim() === '') throw badRequest('empty_query', 'The body contains no SQL');
    c.set('sql', text);
    const { headers } = c.req.raw;
    const script = {
      ontology: param(c, 'ontology'),
      sql: text,
      limit: resultsLimit(headers),
      datasource: c.req.query('datasource') ?? null,
    };
    if (wantsAsync(headers)) {
      const presentation = presentationOf(headers);
      return (await background()).beginAsync(c, product, request(c), { ...script, nested: presentation.nested }, presentation);
    }
    const wish = wishOf(headers);
    const answer = await runScript(request(c, wish), { ...script, nested: wish.presentation.nested });
    return answered(c, answer, wish, '', '');
  });

  route(
    ['GET'],
    '/openapi/get-async-results/:id',
    'reads',
    async (c, next) => {
      await identify(c);
      await next();
    },
    async (c, next) => (await import('./schemas.ts')).asyncId(c, next),
    async (c) => (await background()).asyncResult(c, request(c), param(c, 'id')),
  );
}

/** Questions in words, and what clients of other products call. */
function questionRoutes(route: AddRoute, product: string): void {
  for (const kind of ['prompt', 'answer'] as const)
    route(['POST'], `/openapi/execute/${kind}`, 'reads', async (c) => {
      await identify(c);
      return (await questions()).askQuestion(c, product, request(c), kind);
    });
  route(
    ['GET'],
    '/openapi/execute/show_ontologies',
    'reads',
    known(async (c) => (await questions()).showOntologies(c, request(c))),
  );
  route(
    ['GET'],
    '/api/fetch_conversation_history',
    'reads',
    known(async (c) => (await clients()).conversationHistory(c, request(c))),
  );
  route(['POST'], '/api/kb/search', 'reads', async (c) => {
    await identify(c);
    return (await clients()).knowledgeSearch(c, request(c));
  });
  for (const log of ['log_agent', 'log_benchmark'])
    route(['POST'], `-server/${log}/:call`, 'changes', async (c) => {
      const { reportHeaders, report } = await clients();
      await identify(c, reportHeaders(c.req.raw.headers));
      return report(c, request(c), log, param(c, 'call'));
    });
}

/** The OpenAPI documents and the page that shows them. */
function documentRoutes(route: AddRoute, product: string, version: string): void {
  route(
    ['GET'],
    '/api/openapi.json',
    'reads',
    known(async (c) => (await documents()).sendServiceDocument(c, product, version)),
  );
  route(
    ['GET'],
    '/api/openapi/:document',
    'reads',
    known(async (c) => (await documents()).sendOntologyDocument(c, product, version, request(c), param(c, 'document'))),
  );
  route(['GET'], '/api/docs', 'reads', async (c) => (await docs()).docsPage(c, product));
  route(['GET'], '/api/docs/script.js', 'reads', async (c) => (await docs()).docsScript(c));
  route(['GET'], '/api/docs/style.css', 'reads', async (c) => (await docs()).docsStyle(c));
}

/** 405 for a path that supports other methods. `allow` does not list HEAD, which is handled as GET. */
function onMethodNotAllowed(c: AppContext, methods: readonly string[]): Response {
  const allow = methods.filter((method) => method !== 'HEAD').join(', ');
  return failure(c, new SvcError(405, 'method_not_allowed', 'This path does not support this method', { headers: { allow } }));
}

/** Authenticates the request and stores the caller in the context. */
async function identify(c: AppContext, headers: Headers = c.req.raw.headers): Promise<void> {
  const { runtime } = c.env;
  await c.get('timing').during('auth', async () => {
    const caller = await admitted(c, () => authenticate(headers, runtime.config, runtime));
    const other = headers.get('x-api-impersonate-user');
    if (other !== null) c.set('caller', await impersonate(caller, other, runtime));
  });
}

/** Builds the service request. @param wish format of the rows; only for requests whose rows may be cached */
function request(c: AppContext, wish?: Wish) {
  const caller = c.get('caller');
  if (caller === undefined) throw new Error('the route did not authenticate its caller');
  return {
    runtime: c.env.runtime,
    caller,
    requestId: c.get('requestId'),
    spending: new Spending(),
    signal: c.req.raw.signal,
    permitted: permittedBy(c.req.raw.headers),
    knownVersion: c.req.raw.headers.get('x-ontology-version'),
    about: (ontology: string, version: string) => {
      c.set('ontology', ontology);
      c.set('version', version);
    },
    noted: () => c.set('noted', true),
    timing: c.get('timing'),
    asks: (datasource: string) => c.set('datasource', datasource),
    answeredBy: noteSource(c, caller),
    fresh: wantsFresh(c.req.raw.headers),
    dataAsOf: (at: number | undefined) => c.set('dataAsOf', at),
    results: wish && resultWish(c, wish),
  };
}

/** How the request uses the result cache; undefined if the cache is off. */
function resultWish(c: AppContext, wish: Wish): ResultWish | undefined {
  if (resultSeconds(c.env.runtime) === 0) return undefined;
  c.set('cache', 'bypass');
  return {
    form: JSON.stringify(wish),
    bypass: wantsFresh(c.req.raw.headers) || /(^|,)\s*(no-cache|no-store)\s*(,|$)/i.test(c.req.header('cache-control') ?? ''),
    onState: (state) => c.set('cache', state),
  };
}

const param = (c: AppContext, name: string): string => c.req.param(name) ?? '';

/** The query string with the filters, and `results-limit`. */
const rowsQuery = ({ req }: AppContext, { presentation: { nested } }: Wish) => ({
  search: new URL(req.url).search,
  limit: resultsLimit(req.raw.headers),
  nested,
});

/** Sends the answer of a script between `before` and `after`. An error in a stream aborts the answer. */
async function answered(c: AppContext, answer: Answer, wish: Wish, before: string, after: string): Promise<Response> {
  if (answer.kind === 'rows') {
    const sent = answer.rows.done.then(
      ({ rows, bytes }) => {
        c.set('rows', rows);
        if (c.get('bytes') === undefined) c.set('bytes', bytes);
      },
      () => undefined,
    );
    c.set('sent', sent);
  } else if (answer.kind === 'kept') c.set('rows', answer.rows);
  const describeFault = (fault: unknown): object => {
    const { message, code, hint } = asSvcError(fault);
    return { error: message, code, hint, request_id: c.get('requestId') };
  };
  const made = await bodyOf(answer, wish, { before, after }, describeFault);
  const body = typeof made === 'string' ? new TextEncoder().encode(made) : made;
  if ('length' in body) c.set('bytes', body.length);
  const response = raw(c, body, CONTENT_TYPES[wish.format]);
  const cache = c.get('cache');
  if (cache !== undefined) response.headers.set('x-cache', cache);
  return response;
}
