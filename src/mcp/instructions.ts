/** The instructions that the server sends to a model at the start of a session. */
export const instructions = (
  product: string,
): string => `${product} answers questions over knowledge graphs in SQL: concepts with properties, relationships and measures over relational tables.

Work in this order: list_ontologies (which graph), then describe_knowledge_graph (its concepts, properties, relationships), search_values if a filter needs the exact spelling of a value, then generate_sql or query_data to have the server's language model write the SQL, or write it yourself, then execute_sql.

Read dsvc.concept for relationship paths, which replace JOINs: SELECT \`name\`, \`works_for[company].name\` FROM dsvc.person. An error names the nearest valid name: fix the call and repeat it. \`truncated\` means that rows were omitted: aggregate or filter instead of fetching all.`;
