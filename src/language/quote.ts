/** Quotes texts and names for use in statements. */

/** 'text', with quotes doubled. The service requires standard_conforming_strings = on. */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** "name", with quotes doubled. */
export const quoteDouble = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `name`, with back-quotes doubled. */
export const quoteBack = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
