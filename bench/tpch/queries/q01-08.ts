import type { Query } from './query.ts';

export const Q01_TO_08: readonly Query[] = [
  {
    number: 1,
    title: 'Pricing summary report',
    values: { days: '90' },
    sql: `SELECT return_flag, line_status, SUM(quantity) AS sum_qty, SUM(extended_price) AS sum_base_price, SUM("measure.revenue") AS sum_disc_price,
       SUM("measure.charge") AS sum_charge, AVG(quantity) AS avg_qty, AVG(extended_price) AS avg_price, AVG(discount) AS avg_disc, COUNT(*) AS count_order
FROM dsvc.lineitem
WHERE ship_date <= DATE '1998-12-01' - INTERVAL ':days days'
GROUP BY return_flag, line_status
ORDER BY return_flag, line_status`,
    byHand: `SELECT l_returnflag AS return_flag, l_linestatus AS line_status, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price,
       SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price, SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
       AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, COUNT(*) AS count_order
FROM tpch.lineitem
WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL ':days days'
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus`,
  },
  {
    number: 2,
    title: 'Minimum cost supplier',
    values: { size: '= 15', type: 'BRASS', region: 'EUROPE' },
    small: { size: '> 0' },
    sql: `SELECT "from_supplier[supplier].account_balance" AS s_acctbal, "from_supplier[supplier].name" AS s_name,
       "from_supplier[supplier].located_in[nation].name" AS n_name, part_key, "of_part[part].manufacturer" AS p_mfgr,
       "from_supplier[supplier].address" AS s_address, "from_supplier[supplier].phone" AS s_phone, "from_supplier[supplier].comment" AS s_comment
FROM dsvc.partsupp ps
WHERE "of_part[part].size" :size AND "of_part[part].part_type" LIKE '%:type'
  AND "from_supplier[supplier].located_in[nation].in_region[region].name" = ':region'
  AND supply_cost = (SELECT MIN(o.supply_cost) FROM dsvc.partsupp o
                     WHERE o.part_key = ps.part_key AND o."from_supplier[supplier].located_in[nation].in_region[region].name" = ':region')
ORDER BY s_acctbal DESC, n_name, s_name, part_key
LIMIT 100`,
    byHand: `SELECT s_acctbal, s_name, n_name, p_partkey AS part_key, p_mfgr, s_address, s_phone, s_comment
FROM tpch.part, tpch.supplier, tpch.partsupp, tpch.nation, tpch.region
WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size :size AND p_type LIKE '%:type' AND s_nationkey = n_nationkey
  AND n_regionkey = r_regionkey AND r_name = ':region'
  AND ps_supplycost = (SELECT MIN(ps_supplycost) FROM tpch.partsupp, tpch.supplier, tpch.nation, tpch.region
                       WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
                         AND r_name = ':region')
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey
LIMIT 100`,
  },
  {
    number: 3,
    title: 'Shipping priority',
    values: { segment: 'BUILDING', date: '1995-03-15' },
    sql: `SELECT order_key, SUM("measure.revenue") AS revenue, "of_order[order].order_date" AS order_date, "of_order[order].ship_priority" AS ship_priority
FROM dsvc.lineitem
WHERE "of_order[order].placed_by[customer].market_segment" = ':segment' AND "of_order[order].order_date" < DATE ':date' AND ship_date > DATE ':date'
GROUP BY order_key, "of_order[order].order_date", "of_order[order].ship_priority"
ORDER BY revenue DESC, order_date
LIMIT 10`,
    alternatives: [
      `SELECT order_key, SUM("has_line[lineitem].extended_price" * (1 - "has_line[lineitem].discount")) AS revenue, order_date, ship_priority
FROM dsvc.order
WHERE "placed_by[customer].market_segment" = ':segment' AND order_date < DATE ':date' AND "has_line[lineitem].ship_date" > DATE ':date'
GROUP BY order_key
ORDER BY revenue DESC, order_date
LIMIT 10`,
    ],
    byHand: `SELECT l_orderkey AS order_key, SUM(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate AS order_date, o_shippriority AS ship_priority
FROM tpch.customer, tpch.orders, tpch.lineitem
WHERE c_mktsegment = ':segment' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < DATE ':date' AND l_shipdate > DATE ':date'
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate
LIMIT 10`,
  },
  {
    number: 4,
    title: 'Order priority checking',
    values: { date: '1993-07-01' },
    sql: `SELECT priority, COUNT(order_key) AS order_count
FROM dsvc.order
WHERE order_date >= DATE ':date' AND order_date < DATE ':date' + INTERVAL '3 months' AND "has_line[late_line].order_key" IS NOT NULL
GROUP BY priority
ORDER BY priority`,
    alternatives: [
      `SELECT priority, COUNT(DISTINCT entity_id) AS order_count
FROM dsvc.order
WHERE order_date >= DATE ':date' AND order_date < DATE ':date' + INTERVAL '3 months' AND "has_line[lineitem].commit_date" < "has_line[lineitem].receipt_date"
GROUP BY priority
ORDER BY priority`,
    ],
    byHand: `SELECT o_orderpriority AS priority, COUNT(*) AS order_count
FROM tpch.orders
WHERE o_orderdate >= DATE ':date' AND o_orderdate < DATE ':date' + INTERVAL '3 months'
  AND EXISTS (SELECT * FROM tpch.lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority
ORDER BY o_orderpriority`,
  },
  {
    number: 5,
    title: 'Local supplier volume',
    values: { region: 'ASIA', date: '1994-01-01' },
    sql: `SELECT "shipped_by[supplier].located_in[nation].name" AS n_name, SUM("measure.revenue") AS revenue
FROM dsvc.domestic_line
WHERE "shipped_by[supplier].located_in[nation].in_region[region].name" = ':region'
  AND "of_order[order].order_date" >= DATE ':date' AND "of_order[order].order_date" < DATE ':date' + INTERVAL '1 year'
GROUP BY n_name
ORDER BY revenue DESC`,
    alternatives: [
      `SELECT "shipped_by[supplier].located_in[nation].name" AS n_name, SUM(extended_price * (1 - discount)) AS revenue
FROM dsvc.lineitem
WHERE "shipped_by[supplier].located_in[nation].in_region[region].name" = ':region'
  AND "shipped_by[supplier].nation_key" = "of_order[order].placed_by[customer].nation_key"
  AND "of_order[order].order_date" >= DATE ':date' AND "of_order[order].order_date" < DATE ':date' + INTERVAL '1 year'
GROUP BY n_name
ORDER BY revenue DESC`,
    ],
    byHand: `SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM tpch.customer, tpch.orders, tpch.lineitem, tpch.supplier, tpch.nation, tpch.region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey
  AND n_regionkey = r_regionkey AND r_name = ':region' AND o_orderdate >= DATE ':date' AND o_orderdate < DATE ':date' + INTERVAL '1 year'
GROUP BY n_name
ORDER BY revenue DESC`,
  },
  {
    number: 6,
    title: 'Forecasting revenue change',
    values: { date: '1994-01-01', discount: '0.06', quantity: '24' },
    sql: `SELECT SUM(extended_price * discount) AS revenue
FROM dsvc.lineitem
WHERE ship_date >= DATE ':date' AND ship_date < DATE ':date' + INTERVAL '1 year' AND discount BETWEEN :discount - 0.01 AND :discount + 0.01
  AND quantity < :quantity`,
    byHand: `SELECT SUM(l_extendedprice * l_discount) AS revenue
FROM tpch.lineitem
WHERE l_shipdate >= DATE ':date' AND l_shipdate < DATE ':date' + INTERVAL '1 year' AND l_discount BETWEEN :discount - 0.01 AND :discount + 0.01
  AND l_quantity < :quantity`,
  },
  {
    number: 7,
    title: 'Volume shipping',
    values: { one: 'FRANCE', other: 'GERMANY' },
    sql: `SELECT "shipped_by[supplier].located_in[nation].name" AS supp_nation, "of_order[order].placed_by[customer].lives_in[nation].name" AS cust_nation,
       ship_year, SUM("measure.revenue") AS revenue
FROM dsvc.lineitem
WHERE ((supp_nation = ':one' AND cust_nation = ':other') OR (supp_nation = ':other' AND cust_nation = ':one'))
  AND ship_date BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
GROUP BY supp_nation, cust_nation, ship_year
ORDER BY supp_nation, cust_nation, ship_year`,
    byHand: `SELECT supp_nation, cust_nation, ship_year, SUM(volume) AS revenue
FROM (SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, EXTRACT(YEAR FROM l_shipdate)::integer AS ship_year,
             l_extendedprice * (1 - l_discount) AS volume
      FROM tpch.supplier, tpch.lineitem, tpch.orders, tpch.customer, tpch.nation n1, tpch.nation n2
      WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
        AND ((n1.n_name = ':one' AND n2.n_name = ':other') OR (n1.n_name = ':other' AND n2.n_name = ':one'))
        AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') AS shipping
GROUP BY supp_nation, cust_nation, ship_year
ORDER BY supp_nation, cust_nation, ship_year`,
  },
  {
    number: 8,
    title: 'National market share',
    values: { nation: 'BRAZIL', region: 'AMERICA', type: "= 'ECONOMY ANODIZED STEEL'" },
    small: { type: "LIKE '%STEEL'" },
    sql: `SELECT "of_order[order].order_year" AS o_year,
       SUM(CASE WHEN "shipped_by[supplier].located_in[nation].name" = ':nation' THEN net_price ELSE 0 END) / SUM("measure.revenue") AS mkt_share
FROM dsvc.lineitem
WHERE "of_order[order].placed_by[customer].lives_in[nation].in_region[region].name" = ':region'
  AND "of_order[order].order_date" BETWEEN DATE '1995-01-01' AND DATE '1996-12-31' AND "item[part].part_type" :type
GROUP BY o_year
ORDER BY o_year`,
    byHand: `SELECT o_year, SUM(CASE WHEN nation = ':nation' THEN volume ELSE 0 END) / SUM(volume) AS mkt_share
FROM (SELECT EXTRACT(YEAR FROM o_orderdate)::integer AS o_year, l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation
      FROM tpch.part, tpch.supplier, tpch.lineitem, tpch.orders, tpch.customer, tpch.nation n1, tpch.nation n2, tpch.region
      WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey
        AND n1.n_regionkey = r_regionkey AND r_name = ':region' AND s_nationkey = n2.n_nationkey
        AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31' AND p_type :type) AS all_nations
GROUP BY o_year
ORDER BY o_year`,
  },
];
