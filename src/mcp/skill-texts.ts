/** The texts of the skills: instructions in the form of the Agent Skills specification (https://agentskills.io/specification). Pure. */

export interface SkillText {
  readonly name: string;
  readonly description: string;
  /** SKILL.md: the frontmatter and the instructions. */
  readonly text: string;
}

/** Writes SKILL.md. JSON texts are YAML texts too. */
const skill = (name: string, description: string, body: string): SkillText => ({
  name,
  description,
  text: `---\nname: ${name}\ndescription: ${JSON.stringify(description)}\n---\n\n${body.trim()}\n`,
});

/** How to query one graph, with its own names. @param model the schema text of what the caller may query @param isCut whether something is left out of it */
export const queryThisGraph = (product: string, ontology: string, model: string, isCut: boolean): SkillText =>
  skill(
    'query-this-graph',
    `How to write SQL over the knowledge graph ${ontology}: its concepts, relationships and measures, and the rules of paths. Use it before execute_sql.`,
    `# Query the knowledge graph ${ontology}

1. Find the concept whose rows the question lists, counts or adds up: the one nearest to the amounts. It is FROM. Reach everything else by paths, not by JOIN.
2. Write one SELECT with the names below, in back-quotes. Read \`d${product}.concept\` for paths and measures, \`v${product}.view\` for a view or cube.
3. Sums over several paths in one SELECT are right: an aggregate counts each row once, whatever other path the query walks. No sub-queries are needed for that.
4. If a filter names a value, look up its spelling with search_values.
5. Check the SQL with execute_sql and \`dry_run\`, then run it${ontology === '' ? '' : ` with \`ontology\` = \`${ontology}\``}. An error names the nearest valid name.
6. If the question can mean two relationships, two dates or two columns that give different rows, ask the user which one is meant.
7. If a name that the answer needs is not in the graph, say so. Do not replace it by something else.

${isCut ? 'The graph is larger than this text. Ask describe_knowledge_graph with include=["model"] and `concepts` for the parts that are not shown.\n\n' : ''}${model}`,
  );

/** How to make a model from tables. */
export const modelADatabase = (product: string): SkillText =>
  skill(
    'model-a-database',
    'How to describe the tables of a PostgreSQL database as a knowledge graph: concepts, keys, relationships, mappings, measures. Use it when tables shall become queryable by their meaning.',
    `# Model a database

A model has concepts (what rows mean), their properties, relationships between concepts, and mappings (which SELECT gives the rows). Write statements, end each with \`;\`, and send them together: a script is applied as a whole or not at all.

1. Read the tables, their keys, foreign keys and comments. \`npm run kg -- introspect <datasource> --schema <schema>\` writes a first model.
2. Name concepts in the singular, by what a row is (\`customer\`, not \`t_cust\`). Give each a PRIMARY KEY and a LABEL, the text by which people know it.
3. One concept for what is one thing in several tables: map each table INTO it. A kind of it (\`vip\` is a customer) INHERITS from it.
4. A foreign key becomes \`CONSTRAINT name FOREIGN KEY (...) REFERENCES ... INVERSEOF ...\`. Name both directions as a sentence reads: customer \`made_order\` order, order \`made_by\` customer. A table with two foreign keys and little else is MULTIREFERENCE with a mapping of links.
5. A relationship from a concept to itself that is followed over many steps (part of, reports to) is TRANSITIVE.
6. An amount that people add up in the same way is a MEASURE. A value that follows from others is a calculated property.
7. Write DESCRIPTIONs where a name does not say it all: units, codes, who enters it. Questions in words are matched with them.
8. Check: \`npm run kg -- validate FILE\`, then \`npm run kg -- validate --ontology NAME --data\`, which finds keys that are not unique and foreign keys without a target.
9. Ask three questions that the users ask, and compare each answer with SQL on the tables.

Statements over MCP need \`?mode=model\` in the URL of the server and EDIT on the ontology. An example:

\`\`\`sql
CREATE ONTOLOGY store;
CREATE CONCEPT customer (customer_no integer, name string, PRIMARY KEY (customer_no), LABEL (name));
CREATE MEASURE revenue decimal AS SELECT SUM(amount);
CREATE CONCEPT sale (sale_no integer, day date, amount decimal, customer_no integer, revenue MEASURE decimal, PRIMARY KEY (sale_no),
  CONSTRAINT made_by FOREIGN KEY (customer_no) REFERENCES customer (customer_no) INVERSEOF made_sale) DESCRIPTION = 'One receipt; amounts in euro';
CREATE MAPPING map_customer INTO customer AS SELECT id AS customer_no, name FROM public.cust;
CREATE MAPPING map_sale INTO sale AS SELECT id AS sale_no, day, amount, cust_id AS customer_no FROM public.sale;
SELECT name, SUM(\`measure.made_sale[sale].revenue\`) AS revenue FROM d${product}.customer GROUP BY name ORDER BY revenue DESC
\`\`\`
`,
  );

/** How to check an answer before it is given. */
export const checkAnAnswer = (product: string): SkillText =>
  skill(
    'check-an-answer',
    'How to check rows from a knowledge graph before you report them: the right concept, nothing counted twice, nothing left out, values spelled as in the data. Use it after execute_sql or query_data.',
    `# Check an answer

1. Read the question again, word by word. Is each condition in the SQL, and is each condition of the SQL in the question? "Customers" is not "orders of customers".
2. Count what the query reads: \`SELECT COUNT(*) FROM d${product}.concept\` with the same WHERE. A sum over more rows than that counts something twice; the graph does not, but a JOIN that you wrote may.
3. If there are no rows, look at the filters one by one. search_values says how a value is spelled; \`IS NULL\` says whether it is missing.
4. Compare the total with the parts: the sum over groups is the sum without GROUP BY. If it is less, a group is NULL or a LIMIT cuts.
5. Take one row, and read it by its \`entity_id\` with the path in the other direction. Both must agree.
6. Dates: is "last year" the calendar year or twelve months? Which of several dates does the question mean? Say what you took.
7. \`truncated\` in the answer means that rows are left out: aggregate, or filter. Do not report a total over a part.
8. Another reading that gives other rows is a question to the user, not a footnote.
9. Report the numbers as they are in the rows, with their unit, the SQL, and what you assumed. Do not compute new totals in your head: write them in SQL. A division of two integers truncates: write x::numeric / NULLIF(y, 0).

Rows that the caller may not see do not exist in any answer. A total is the total of what this user may see; say so if that matters.
`,
  );
