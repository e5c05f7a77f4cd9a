/** Texts and names as they stand in a statement. */

/** 'text', quotes doubled. The texts of this service have standard_conforming_strings on. */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** "name", quotes doubled. */
export const quoteDouble = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `name`, back-quotes doubled. */
export const quoteBack = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
