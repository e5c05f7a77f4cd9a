/** The public interface of the service: the operations that `http/` and `mcp/` call. `service/` implements them; `service/ops/questions.ts` has those of questions in words. */

export type { Turn } from './catalog/history.ts';
export { callerGone, resultTooLarge } from './engine/errors.ts';
export { OPERATORS as FILTER_OPERATORS } from './language/filters.ts';
export { sameName, schemaNamed } from './ontology/names.ts';
export type { NamedRelation } from './planner/index.ts';
export { auditFailure, auditRequest } from './service/audit.ts';
export { type SeenAgent, visibleAgents } from './service/caller/agents.ts';
export { findOntology, outlivesRights, unknownName } from './service/caller/lookup.ts';
export { countedAs, ownerOf } from './service/caller/owner.ts';
export { seesAllRows } from './service/caller/policies.ts';
export { conversationId, type Named, namedBy, ontologyOf, type Target, targetOf } from './service/caller/target.ts';
export type { Example, ExamplesWish } from './service/describe/examples.ts';
export type { QuestionRecord } from './service/describe/history.ts';
export type { Noting } from './service/ops/async.ts';
export type { ClientQuestion, ConversationMessage } from './service/ops/client-history.ts';
export type { Conversation } from './service/ops/conversation.ts';
export { FileError } from './service/ops/file-error.ts';
export type { JobLife } from './service/ops/job-life.ts';
export type { ModelFiles } from './service/ops/model-files.ts';
export { clearCache, conceptRows, getConfig, getOntology, type Listed, listAgents, listOntologies, viewRows } from './service/ops/operations.ts';
export { changesSomething, isReadOnly, wantsFresh } from './service/ops/permitted.ts';
export type { QuestionModel, Subject, SubjectColumn, SubjectRelationship } from './service/ops/question-model.ts';
export type { Check } from './service/ops/ready.ts';
export type { Sample } from './service/ops/sample.ts';
export { type DryRun, dryRun, runScript } from './service/ops/script.ts';
export type { ValueSearch } from './service/ops/search.ts';
export { MAX_BYTES } from './service/read/read.ts';
export { RESULT_BYTES, resultSeconds } from './service/read/results.ts';
export type {
  Answer,
  AsyncJob,
  AsyncPoll,
  AsyncStatements,
  CacheState,
  Permitted,
  RestQuestion,
  ResultWish,
  Runtime,
  Script,
  ServiceRequest,
} from './service/runtime.ts';
export { Spending } from './service/spending.ts';

/** Starts, runs and polls asynchronous statements. The module is loaded with the first of them. */
export const asynchronous = () => import('./service/ops/async.ts');
/** Checks what the service depends on. The module is loaded with the first request that needs it. */
export const ready = () => import('./service/ops/ready.ts');
/** What the alarms of jobs and the cron need; loaded with the first of them. */
export const scheduled = () => import('./service/ops/write-run.ts');
/** Plans and applies model files. The module is loaded with the first request that needs it. */
export const modelFiles = () => import('./service/ops/model-files.ts');
