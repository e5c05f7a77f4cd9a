/** Texts and names in SQL, and members by name. Pure. */

/** A text as an SQL literal. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
/** A name as an SQL identifier. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A member by a name that users choose: `constructor` is not a member of an empty object. */
export const memberOf = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined => (Object.hasOwn(object, name) ? object[name] : undefined);
