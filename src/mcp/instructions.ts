/** The instructions that the server sends to a model at the start of a session. @param hasModel whether the service has a language model of its own */
export const instructions = (
  product: string,
  hasModel: boolean,
): string => `${product} answers questions over knowledge graphs in SQL: concepts with properties, relationships and measures over relational tables.

Work in this order: list_ontologies (which graph), then describe_knowledge_graph with include=["model"] (everything that the SQL needs, in one text), search_values if a filter needs the exact spelling of a value, then write the SQL yourself${hasModel ? ", or have the server's language model write it with generate_sql," : ' (generate_sql and query_data are not available: this server has no language model)'} and run it with execute_sql.${hasModel ? ' query_data does both steps.' : ''}

Read d${product}.concept for relationship paths, which replace JOINs: SELECT \`name\`, \`works_for[company].name\` FROM d${product}.person. An error names the nearest valid name: fix the call and repeat it. \`truncated\` means that something was omitted: aggregate, filter, or ask for single concepts. If an answer has status clarify, ask the user which reading is meant.`;
