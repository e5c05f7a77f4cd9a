/** The operations that both faces offer; each is a few lines that join the stages (service/ holds them). */

export { callerGone, resultTooLarge } from './engine/errors.ts';
export { OPERATORS as FILTER_OPERATORS } from './language/filters.ts';
export { sameName } from './ontology/names.ts';
export type { NamedRelation } from './planner/index.ts';
export { type SeenAgent, visibleAgents } from './service/agents.ts';
export { type AsyncJob, type AsyncPoll, type AsyncStatements, asyncRows, ownerOf, pollAsync, runJob, startAsync } from './service/async.ts';
export { auditFailure, auditRequest } from './service/audit.ts';
export { type Example, type ExamplesWish, examplesOf, sameQuestionAs } from './service/examples.ts';
export { type Asked, recordQuestion } from './service/history.ts';
export { findOntology, outlivesRights, unknownName } from './service/lookup.ts';
export { clearCache, conceptRows, getConfig, getOntology, type Listed, listAgents, listOntologies, viewRows } from './service/operations.ts';
export { type QuestionModel, questionModel, type Subject, type SubjectColumn, type SubjectRelationship } from './service/question-model.ts';
export { MAX_BYTES } from './service/read.ts';
export { type CacheState, RESULT_BYTES, type ResultWish, resultSeconds } from './service/results.ts';
export type { Answer, Runtime, ServiceRequest } from './service/runtime.ts';
export { type Sample, sampleRows } from './service/sample.ts';
export { type DryRun, dryRun, runScript, type Script } from './service/script.ts';
export { searchValues, type ValueSearch } from './service/search.ts';
export { Spending } from './service/spending.ts';
