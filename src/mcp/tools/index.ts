/** The ten tools, in the order in which they are listed. This is also the order in which a question uses them. */
import { askQuestion } from './ask-question.ts';
import { describeKnowledgeGraph } from './describe-knowledge-graph.ts';
import { executeSql } from './execute-sql.ts';
import { generateSql } from './generate-sql.ts';
import { identifyConcept } from './identify-concept.ts';
import { listAgents } from './list-agents.ts';
import { listDatasources } from './list-datasources.ts';
import { listOntologies } from './list-ontologies.ts';
import { queryData } from './query-data.ts';
import { searchValues } from './search-values.ts';
import type { Tool } from './tool.ts';

export const TOOLS: readonly Tool[] = [
  listOntologies,
  describeKnowledgeGraph,
  searchValues,
  executeSql,
  queryData,
  askQuestion,
  generateSql,
  identifyConcept,
  listAgents,
  listDatasources,
];
