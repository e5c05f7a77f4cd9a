/** What the server tells a model at the start of a session. */
export const instructions = (
  product: string,
): string => `${product} answers questions over knowledge graphs in SQL: concepts with properties, relationships and measures over relational tables.

Work in this order: list_ontologies (which graph), then describe_knowledge_graph (its concepts, properties, relationships), search_values where a filter needs a value as it is really written, then generate_sql or query_data where a language model of the server is to write the SQL, or write it yourself, then execute_sql.

Read dsvc.concept for relationship paths, which replace JOINs: SELECT \`name\`, \`works_for[company].name\` FROM dsvc.person. An error names the nearest valid name: mend the call and repeat it. \`truncated\` says that rows were left out: aggregate or filter rather than asking for all.`;
