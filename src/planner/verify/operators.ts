/** PostgreSQL's operators, from pg_operator of PostgreSQL 15 to 18. A test compares each overload with the catalog. */

/** All operators except the ones below are immutable. */
const OPERATORS: ReadonlySet<string> = new Set(
  `!! !~ !~* !~~ !~~* # ## #- #> #>> % & && &< &<| &> * *< *<= *<> *= *> *>= + - -> ->> -|- / < <-> << <<= <<| <= <> <@ <^ = > >= >> >>= >^
   ? ?# ?& ?- ?-| ?| ?|| @ @-@ @> @? @@ @@@ ^ ^@ | |&> |/ |>> || ||/ ~ ~* ~<=~ ~<~ ~= ~>=~ ~>~ ~~ ~~*`.split(/\s+/),
);

/** Operators with an overload that is not immutable -> what the result depends on. */
export const DEPENDENT_OPERATORS: ReadonlyMap<string, string> = new Map([
  ...['<', '<=', '<>', '=', '>', '>=', '+', '-'].map((name) => [name, 'the time zone of the session, between times with and without one'] as const),
  ['||', 'how values are written as text'],
  ['@@', 'the default configuration of text search, where a text is searched'],
]);

/** True for an operator of the list. @param name undefined if it is qualified by another schema */
export const isOperator = (name: string | undefined): boolean => name !== undefined && OPERATORS.has(name);

/** The names of all accepted operators, for tests. */
export const operatorNames = (): ReadonlySet<string> => OPERATORS;
