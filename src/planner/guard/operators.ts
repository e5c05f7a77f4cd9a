/** The operators that a statement may name: all of schema pg_catalog of PostgreSQL 15 to 18. Each depends on its operands only. */
export const ALLOWED_OPERATORS: ReadonlySet<string> = new Set(
  `!! !~ !~* !~~ !~~* # ## #- #> #>> % & && &< &<| &> * *< *<= *<> *= *> *>= + - -> ->> -|- / < <-> << <<= <<| <= <> <@ <^ = > >= >> >>= >^ ?
   ?# ?& ?- ?-| ?| ?|| @ @-@ @> @? @@ @@@ ^ ^@ | |&> |/ |>> || ||/ ~ ~* ~<=~ ~<~ ~= ~>=~ ~>~ ~~ ~~*`.split(/\s+/),
);

/** Words that the grammar writes in the place of an operator's name. */
export const OPERATOR_WORDS: ReadonlySet<string> = new Set(['BETWEEN', 'NOT BETWEEN', 'BETWEEN SYMMETRIC', 'NOT BETWEEN SYMMETRIC']);
