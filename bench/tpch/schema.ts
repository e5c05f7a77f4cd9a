/** The eight tables of TPC-H with their keys and the usual indexes on foreign keys. Texts of fixed size are stored as varchar. */
import type { ScaleSizes } from './sizes.ts';

/** A table to be loaded, and the statements to run after its rows are loaded. */
export interface Table {
  readonly name: string;
  readonly create: string;
  readonly indexes: readonly string[];
  /** Its rows in the text format of COPY, in pieces of some 64 kB. */
  readonly rows: (sizes: ScaleSizes) => Iterable<string>;
}

/** Name, columns and indexes; generate.ts has the rows. */
export const TABLES = {
  region: {
    create: 'CREATE TABLE tpch.region (r_regionkey integer NOT NULL, r_name varchar(25) NOT NULL, r_comment varchar(152))',
    indexes: ['ALTER TABLE tpch.region ADD PRIMARY KEY (r_regionkey)'],
  },
  nation: {
    create: 'CREATE TABLE tpch.nation (n_nationkey integer NOT NULL, n_name varchar(25) NOT NULL, n_regionkey integer NOT NULL, n_comment varchar(152))',
    indexes: ['ALTER TABLE tpch.nation ADD PRIMARY KEY (n_nationkey)', 'CREATE INDEX ON tpch.nation (n_regionkey)'],
  },
  supplier: {
    create: `CREATE TABLE tpch.supplier (s_suppkey integer NOT NULL, s_name varchar(25) NOT NULL, s_address varchar(40) NOT NULL, s_nationkey integer NOT NULL,
      s_phone varchar(15) NOT NULL, s_acctbal numeric(15,2) NOT NULL, s_comment varchar(101) NOT NULL)`,
    indexes: ['ALTER TABLE tpch.supplier ADD PRIMARY KEY (s_suppkey)', 'CREATE INDEX ON tpch.supplier (s_nationkey)'],
  },
  part: {
    create: `CREATE TABLE tpch.part (p_partkey integer NOT NULL, p_name varchar(55) NOT NULL, p_mfgr varchar(25) NOT NULL, p_brand varchar(10) NOT NULL,
      p_type varchar(25) NOT NULL, p_size integer NOT NULL, p_container varchar(10) NOT NULL, p_retailprice numeric(15,2) NOT NULL, p_comment varchar(23) NOT NULL)`,
    indexes: ['ALTER TABLE tpch.part ADD PRIMARY KEY (p_partkey)'],
  },
  partsupp: {
    create: `CREATE TABLE tpch.partsupp (ps_partkey integer NOT NULL, ps_suppkey integer NOT NULL, ps_availqty integer NOT NULL, ps_supplycost numeric(15,2) NOT NULL,
      ps_comment varchar(199) NOT NULL)`,
    indexes: ['ALTER TABLE tpch.partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey)', 'CREATE INDEX ON tpch.partsupp (ps_suppkey)'],
  },
  customer: {
    create: `CREATE TABLE tpch.customer (c_custkey integer NOT NULL, c_name varchar(25) NOT NULL, c_address varchar(40) NOT NULL, c_nationkey integer NOT NULL,
      c_phone varchar(15) NOT NULL, c_acctbal numeric(15,2) NOT NULL, c_mktsegment varchar(10) NOT NULL, c_comment varchar(117) NOT NULL)`,
    indexes: ['ALTER TABLE tpch.customer ADD PRIMARY KEY (c_custkey)', 'CREATE INDEX ON tpch.customer (c_nationkey)'],
  },
  orders: {
    create: `CREATE TABLE tpch.orders (o_orderkey bigint NOT NULL, o_custkey integer NOT NULL, o_orderstatus varchar(1) NOT NULL, o_totalprice numeric(15,2) NOT NULL,
      o_orderdate date NOT NULL, o_orderpriority varchar(15) NOT NULL, o_clerk varchar(15) NOT NULL, o_shippriority integer NOT NULL, o_comment varchar(79) NOT NULL)`,
    indexes: ['ALTER TABLE tpch.orders ADD PRIMARY KEY (o_orderkey)', 'CREATE INDEX ON tpch.orders (o_custkey)', 'CREATE INDEX ON tpch.orders (o_orderdate)'],
  },
  lineitem: {
    create: `CREATE TABLE tpch.lineitem (l_orderkey bigint NOT NULL, l_partkey integer NOT NULL, l_suppkey integer NOT NULL, l_linenumber integer NOT NULL,
      l_quantity numeric(15,2) NOT NULL, l_extendedprice numeric(15,2) NOT NULL, l_discount numeric(15,2) NOT NULL, l_tax numeric(15,2) NOT NULL,
      l_returnflag varchar(1) NOT NULL, l_linestatus varchar(1) NOT NULL, l_shipdate date NOT NULL, l_commitdate date NOT NULL, l_receiptdate date NOT NULL,
      l_shipinstruct varchar(25) NOT NULL, l_shipmode varchar(10) NOT NULL, l_comment varchar(44) NOT NULL)`,
    indexes: [
      'ALTER TABLE tpch.lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber)',
      'CREATE INDEX ON tpch.lineitem (l_partkey, l_suppkey)',
      'CREATE INDEX ON tpch.lineitem (l_suppkey)',
      'CREATE INDEX ON tpch.lineitem (l_shipdate)',
    ],
  },
} as const satisfies Record<string, Omit<Table, 'name' | 'rows'>>;

export type TableName = keyof typeof TABLES;
