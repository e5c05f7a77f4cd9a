import pg from 'pg';
import type { Answer } from './answer.ts';
import { asFault, cancelled, incomplete } from './fault.ts';
import { RequestFault, type Statement } from './protocol.ts';
import type { SlowReaders } from './slow-readers.ts';
import { type ArrayTypes, toJson } from './values.ts';

const FIRST_USER_OID = 16384;
/** The code of Citus' warning that it cannot find an intermediate result of a statement: it has read no rows instead. */
const LOST_ROWS = 'CIINF';
const ARRAYS = `SELECT a.oid::int8::text, a.typelem::int8::text, e.typdelim::text FROM pg_catalog.pg_type a JOIN pg_catalog.pg_type e ON e.oid = a.typelem
  WHERE a.typoutput = 'pg_catalog.array_out'::pg_catalog.regproc`;
const asText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;

/** The array types of one database, read when first needed and again when an unknown user-defined type occurs. */
export class TypeCatalog {
  #arrays: Map<number, { element: number; delimiter: string }> | undefined;
  #others = new Set<number>();

  get arrays(): ArrayTypes | undefined {
    return this.#arrays;
  }

  /** Whether the values of these fields can be written without a query to the database. */
  knows(types: number[]): boolean {
    return this.#arrays !== undefined && types.every((t) => t < FIRST_USER_OID || this.#arrays?.has(t) || this.#others.has(t));
  }

  /** Reads the array types; given types that are not arrays are remembered as such. */
  async load(client: pg.ClientBase, types: number[] = []): Promise<ArrayTypes> {
    const { rows } = await client.query<[string, string, string]>({ text: ARRAYS, rowMode: 'array' });
    this.#arrays = new Map(rows.map(([oid, element, delimiter]) => [Number(oid), { element: Number(element), delimiter }]));
    for (const type of types) if (!this.#arrays.has(type)) this.#others.add(type);
    return this.#arrays;
  }
}

/** What a statement runs with. */
export interface Running {
  readonly client: pg.ClientBase;
  readonly answer: Answer;
  /** Counts how long the caller keeps the session waiting. */
  readonly readers?: SlowReaders;
  readonly types: TypeCatalog;
  /** Called at once if the answer exceeds its limit, so that the statement does not continue unnecessarily. */
  readonly stop: (why: RequestFault) => void;
  /** Fires when the caller has disconnected. */
  readonly signal?: AbortSignal;
  /** The name of a prepared statement, which is prepared if it is not yet. */
  readonly name?: string | undefined;
  /** Sends the query; by default, to the client. */
  readonly send?: (query: pg.Query) => void;
}

/**
 * Runs one statement by the extended protocol and writes its result object: `{"rowAsArray", "fields", "rows", "command",
 * "rowCount"}`. Rejects with SqlFault if PostgreSQL refuses it, with RequestFault 507 above the answer's limit. Nothing is run once `signal` is aborted.
 * @returns PostgreSQL's command
 */
export async function runStatement(running: Running, statement: Statement, rawText: boolean): Promise<string | undefined> {
  const { client, answer, readers, types, stop, signal, name, send = (query) => void client.query(query) } = running;
  if (!rawText && !types.arrays) await types.load(client);
  // Nothing is sent to a caller who has disconnected.
  if (signal?.aborted) throw cancelled();
  let open = false;
  let rowCount = 0;
  let fault: unknown;
  let later: (string | null)[][] | undefined;
  const writeRow = (row: (string | null)[], fields: pg.FieldDef[]) => {
    const values = row.map((v, i) => (v === null ? 'null' : rawText ? JSON.stringify(v) : toJson(v, fields[i]!.dataTypeID, types.arrays!)));
    const body = statement.arrayMode ? `[${values.join(',')}]` : `{${values.map((v, i) => `${JSON.stringify(fields[i]!.name)}:${v}`).join(',')}}`;
    return answer.write(rowCount++ === 0 ? body : `,${body}`);
  };
  const begin = (fields: pg.FieldDef[]) => {
    open = true;
    answer.write(`{"rowAsArray":${statement.arrayMode},"fields":${JSON.stringify(fields.map(fieldOf))},"rows":[`);
    const oids = fields.map((f) => f.dataTypeID);
    if (!rawText && !types.knows(oids)) later = [];
  };
  // Citus goes on without the rows
  const onNotice = ({ code }: { readonly code?: string | undefined }): void => {
    if (code === LOST_ROWS) fault ??= incomplete();
  };
  client.on('notice', onNotice);
  const result = await new Promise<pg.QueryResultBase>((resolve, reject) => {
    const config = { name, text: statement.query, values: statement.params, rowMode: 'array', types: asText, queryMode: 'extended' };
    const query = new pg.Query(config as pg.QueryConfig) as CopyingQuery;
    // PostgreSQL waits for rows, ignores a cancellation meanwhile, and has discarded the messages after the statement
    query.handleCopyInResponse = ({ stream }) => {
      fault = new RequestFault(400, 'COPY FROM STDIN is not supported', '0A000');
      stream.destroy();
    };
    const onRow = (row: (string | null)[], { fields }: pg.QueryResultBase) => {
      if (fault) return;
      try {
        if (!open) begin(fields);
        if (later) later.push(row);
        else if (!writeRow(row, fields)) pauseUntilDrained(client, answer, readers);
      } catch (error) {
        fault = error;
        stop(error instanceof RequestFault ? error : new RequestFault(500, 'a value of the answer cannot be read'));
      }
    };
    query.on('row', onRow as never);
    query.on('error', (error: unknown) => reject(fault ?? asFault(error)));
    query.on('end', (end: unknown) => (fault ? reject(fault) : resolve(end as pg.QueryResultBase)));
    send(query);
  }).finally(() => client.off('notice', onNotice));
  if (!open) begin(result.fields);
  if (later) {
    // An unknown user-defined type (an array of an enum, say) can only be looked up after the statement, in its transaction.
    await types.load(
      client,
      result.fields.map((f) => f.dataTypeID),
    );
    for (const row of later) writeRow(row, result.fields);
  }
  answer.write(`],"command":${JSON.stringify(result.command ?? '')},"rowCount":${result.rowCount ?? null}}`);
  return result.command;
}

/** A part of `pg`'s queries that its types do not declare. */
type CopyingQuery = pg.Query & { handleCopyInResponse(connection: { readonly stream: { destroy(): void } }): void };

const fieldOf = (f: pg.FieldDef) => ({
  name: f.name,
  dataTypeID: f.dataTypeID,
  tableID: f.tableID,
  columnID: f.columnID,
  dataTypeSize: f.dataTypeSize,
  dataTypeModifier: f.dataTypeModifier,
  format: 'text',
});

function pauseUntilDrained(client: pg.ClientBase, answer: Answer, readers: SlowReaders | undefined): void {
  const { stream } = (client as unknown as { connection: { stream: NodeJS.ReadableStream } }).connection;
  stream.pause();
  void (readers?.drained(answer) ?? answer.drained()).then(() => stream.resume());
}
