/** PostgreSQL's own operators, by name: from pg_operator of PostgreSQL 15 to 18. A test compares each overload with the catalog. */

/** All but those below are immutable. */
const OPERATORS: ReadonlySet<string> = new Set(
  `!! !~ !~* !~~ !~~* # ## #- #> #>> % & && &< &<| &> * *< *<= *<> *= *> *>= + - -> ->> -|- / < <-> << <<= <<| <= <> <@ <^ = > >= >> >>= >^
   ? ?# ?& ?- ?-| ?| ?|| @ @-@ @> @? @@ @@@ ^ ^@ | |&> |/ |>> || ||/ ~ ~* ~<=~ ~<~ ~= ~>=~ ~>~ ~~ ~~*`.split(/\s+/),
);

/** Operators of which an overload is not immutable -> what it depends on. */
export const DEPENDENT_OPERATORS: ReadonlyMap<string, string> = new Map([
  ...['<', '<=', '<>', '=', '>', '>=', '+', '-'].map((name) => [name, 'the time zone of the session, between times with and without one'] as const),
  ['||', 'how values are written as text'],
  ['@@', 'the default configuration of text search, where a text is searched'],
]);

/** `undefined`: the name is qualified by another schema. */
export const isOperator = (name: string | undefined): boolean => name !== undefined && OPERATORS.has(name);

export const operatorNames = (): ReadonlySet<string> => OPERATORS;
