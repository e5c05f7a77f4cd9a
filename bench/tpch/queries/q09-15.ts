import type { Query } from './query.ts';

export const Q09_TO_15: readonly Query[] = [
  {
    number: 9,
    title: 'Product type profit measure',
    values: { colour: 'green' },
    sql: `SELECT "shipped_by[supplier].located_in[nation].name" AS nation, "of_order[order].order_year" AS o_year,
       SUM(net_price - "offer[partsupp].supply_cost" * quantity) AS sum_profit
FROM dsvc.lineitem
WHERE "item[part].name" LIKE '%:colour%'
GROUP BY nation, o_year
ORDER BY nation, o_year DESC`,
    alternatives: [
      `SELECT "shipped_by[supplier].located_in[nation].name" AS nation, "of_order[order].order_year" AS o_year,
       SUM(net_price - "item[part].offered_as[partsupp].supply_cost" * quantity) AS sum_profit
FROM dsvc.lineitem
WHERE "item[part].name" LIKE '%:colour%' AND "item[part].offered_as[partsupp].supplier_key" = supplier_key
GROUP BY nation, o_year
ORDER BY nation, o_year DESC`,
      `SELECT "sold_in[lineitem].shipped_by[supplier].located_in[nation].name" AS nation, "sold_in[lineitem].of_order[order].order_year" AS o_year,
       SUM("sold_in[lineitem].net_price" - "offered_as[partsupp].supply_cost" * "sold_in[lineitem].quantity") AS sum_profit
FROM dsvc.part
WHERE name LIKE '%:colour%' AND "offered_as[partsupp].supplier_key" = "sold_in[lineitem].supplier_key"
GROUP BY nation, o_year
ORDER BY nation, o_year DESC`,
      `SELECT "ships[lineitem].shipped_by[supplier].located_in[nation].name" AS nation, "ships[lineitem].of_order[order].order_year" AS o_year,
       SUM("ships[lineitem].net_price" - "offers[partsupp].supply_cost" * "ships[lineitem].quantity") AS sum_profit
FROM dsvc.supplier
WHERE "ships[lineitem].item[part].name" LIKE '%:colour%' AND "ships[lineitem].part_key" = "offers[partsupp].part_key"
GROUP BY nation, o_year
ORDER BY nation, o_year DESC`,
    ],
    byHand: `SELECT nation, o_year, SUM(amount) AS sum_profit
FROM (SELECT n_name AS nation, EXTRACT(YEAR FROM o_orderdate)::integer AS o_year,
             l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
      FROM tpch.part, tpch.supplier, tpch.lineitem, tpch.partsupp, tpch.orders, tpch.nation
      WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey AND o_orderkey = l_orderkey
        AND s_nationkey = n_nationkey AND p_name LIKE '%:colour%') AS profit
GROUP BY nation, o_year
ORDER BY nation, o_year DESC`,
  },
  {
    number: 10,
    title: 'Returned item reporting',
    values: { date: '1993-10-01' },
    sql: `SELECT "of_order[order].customer_key" AS customer_key, "of_order[order].placed_by[customer].name" AS name, SUM("measure.revenue") AS revenue,
       "of_order[order].placed_by[customer].account_balance" AS acctbal, "of_order[order].placed_by[customer].lives_in[nation].name" AS n_name,
       "of_order[order].placed_by[customer].address" AS address, "of_order[order].placed_by[customer].phone" AS phone,
       "of_order[order].placed_by[customer].comment" AS comment
FROM dsvc.lineitem
WHERE "of_order[order].order_date" >= DATE ':date' AND "of_order[order].order_date" < DATE ':date' + INTERVAL '3 months' AND return_flag = 'R'
GROUP BY 1, 2, 4, 7, 5, 6, 8
ORDER BY revenue DESC
LIMIT 20`,
    byHand: `SELECT c_custkey AS customer_key, c_name AS name, SUM(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal AS acctbal, n_name, c_address AS address,
       c_phone AS phone, c_comment AS comment
FROM tpch.customer, tpch.orders, tpch.lineitem, tpch.nation
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= DATE ':date' AND o_orderdate < DATE ':date' + INTERVAL '3 months'
  AND l_returnflag = 'R' AND c_nationkey = n_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
ORDER BY revenue DESC
LIMIT 20`,
  },
  {
    number: 11,
    title: 'Important stock identification',
    values: { nation: 'GERMANY' },
    small: { scale: '0.05' },
    sql: `SELECT part_key, SUM("measure.stock_value") AS value
FROM dsvc.partsupp
WHERE "from_supplier[supplier].located_in[nation].name" = ':nation'
GROUP BY part_key
HAVING SUM("measure.stock_value") > (SELECT SUM("measure.stock_value") * (0.0001 / :scale) FROM dsvc.partsupp
                                     WHERE "from_supplier[supplier].located_in[nation].name" = ':nation')
ORDER BY value DESC`,
    byHand: `SELECT ps_partkey AS part_key, SUM(ps_supplycost * ps_availqty) AS value
FROM tpch.partsupp, tpch.supplier, tpch.nation
WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = ':nation'
GROUP BY ps_partkey
HAVING SUM(ps_supplycost * ps_availqty) > (SELECT SUM(ps_supplycost * ps_availqty) * (0.0001 / :scale) FROM tpch.partsupp, tpch.supplier, tpch.nation
                                           WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = ':nation')
ORDER BY value DESC`,
  },
  {
    number: 12,
    title: 'Shipping modes and order priority',
    values: { one: 'MAIL', other: 'SHIP', date: '1994-01-01' },
    sql: `SELECT ship_mode, SUM(CASE WHEN "of_order[order].priority" IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high_line_count,
       SUM(CASE WHEN "of_order[order].priority" NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS low_line_count
FROM dsvc.late_line
WHERE ship_mode IN (':one', ':other') AND ship_date < commit_date AND receipt_date >= DATE ':date' AND receipt_date < DATE ':date' + INTERVAL '1 year'
GROUP BY ship_mode
ORDER BY ship_mode`,
    byHand: `SELECT l_shipmode AS ship_mode, SUM(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) AS high_line_count,
       SUM(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) AS low_line_count
FROM tpch.orders, tpch.lineitem
WHERE o_orderkey = l_orderkey AND l_shipmode IN (':one', ':other') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
  AND l_receiptdate >= DATE ':date' AND l_receiptdate < DATE ':date' + INTERVAL '1 year'
GROUP BY l_shipmode
ORDER BY l_shipmode`,
  },
  {
    number: 13,
    title: 'Customer distribution',
    sql: `SELECT c_count, COUNT(*) AS custdist
FROM (SELECT customer_key, COUNT("placed[ordinary_order].order_key") AS c_count FROM dsvc.customer GROUP BY customer_key) AS c_orders
GROUP BY c_count
ORDER BY custdist DESC, c_count DESC`,
    byHand: `SELECT c_count, COUNT(*) AS custdist
FROM (SELECT c_custkey, COUNT(o_orderkey) AS c_count
      FROM tpch.customer LEFT OUTER JOIN tpch.orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
      GROUP BY c_custkey) AS c_orders
GROUP BY c_count
ORDER BY custdist DESC, c_count DESC`,
  },
  {
    number: 14,
    title: 'Promotion effect',
    values: { date: '1995-09-01' },
    sql: `SELECT 100.00 * SUM(CASE WHEN "item[part].part_type" LIKE 'PROMO%' THEN net_price ELSE 0 END) / SUM("measure.revenue") AS promo_revenue
FROM dsvc.lineitem
WHERE ship_date >= DATE ':date' AND ship_date < DATE ':date' + INTERVAL '1 month'`,
    byHand: `SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / SUM(l_extendedprice * (1 - l_discount))
       AS promo_revenue
FROM tpch.lineitem, tpch.part
WHERE l_partkey = p_partkey AND l_shipdate >= DATE ':date' AND l_shipdate < DATE ':date' + INTERVAL '1 month'`,
  },
  {
    number: 15,
    title: 'Top supplier',
    values: { date: '1996-01-01' },
    sql: `WITH revenue AS (
  SELECT supplier_key AS supplier_no, SUM("measure.revenue") AS total_revenue
  FROM dsvc.lineitem
  WHERE ship_date >= DATE ':date' AND ship_date < DATE ':date' + INTERVAL '3 months'
  GROUP BY supplier_key)
SELECT supplier_key, name, address, phone, total_revenue
FROM svc.supplier, revenue
WHERE supplier_key = supplier_no AND total_revenue = (SELECT MAX(total_revenue) FROM revenue)
ORDER BY supplier_key`,
    byHand: `WITH revenue AS (
  SELECT l_suppkey AS supplier_no, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue
  FROM tpch.lineitem
  WHERE l_shipdate >= DATE ':date' AND l_shipdate < DATE ':date' + INTERVAL '3 months'
  GROUP BY l_suppkey)
SELECT s_suppkey AS supplier_key, s_name AS name, s_address AS address, s_phone AS phone, total_revenue
FROM tpch.supplier, revenue
WHERE s_suppkey = supplier_no AND total_revenue = (SELECT MAX(total_revenue) FROM revenue)
ORDER BY s_suppkey`,
  },
];
