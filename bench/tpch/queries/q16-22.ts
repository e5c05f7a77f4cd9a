import type { Query } from './query.ts';

export const Q16_TO_22: readonly Query[] = [
  {
    number: 16,
    title: 'Parts/supplier relationship',
    values: { brand: 'Brand#45', type: 'MEDIUM POLISHED', sizes: '49, 14, 23, 45, 19, 3, 36, 9' },
    sql: `SELECT "of_part[part].brand" AS brand, "of_part[part].part_type" AS type, "of_part[part].size" AS size, COUNT(DISTINCT supplier_key) AS supplier_cnt
FROM dsvc.partsupp
WHERE "of_part[part].brand" <> ':brand' AND "of_part[part].part_type" NOT LIKE ':type%' AND "of_part[part].size" IN (:sizes)
  AND supplier_key NOT IN (SELECT supplier_key FROM svc.bad_supplier)
GROUP BY 1, 2, 3
ORDER BY supplier_cnt DESC, brand, type, size`,
    byHand: `SELECT p_brand AS brand, p_type AS type, p_size AS size, COUNT(DISTINCT ps_suppkey) AS supplier_cnt
FROM tpch.partsupp, tpch.part
WHERE p_partkey = ps_partkey AND p_brand <> ':brand' AND p_type NOT LIKE ':type%' AND p_size IN (:sizes)
  AND ps_suppkey NOT IN (SELECT s_suppkey FROM tpch.supplier WHERE s_comment LIKE '%Customer%Complaints%')
GROUP BY p_brand, p_type, p_size
ORDER BY supplier_cnt DESC, p_brand, p_type, p_size`,
  },
  {
    number: 17,
    title: 'Small-quantity-order revenue',
    values: { brand: "= 'Brand#23'", container: "= 'MED BOX'" },
    small: { brand: "LIKE 'Brand#2_'", container: "LIKE 'MED %'" },
    sql: `SELECT SUM(l.extended_price) / 7.0 AS avg_yearly
FROM dsvc.lineitem l
WHERE l."item[part].brand" :brand AND l."item[part].container" :container
  AND l.quantity < (SELECT 0.2 * AVG(o.quantity) FROM svc.lineitem o WHERE o.part_key = l.part_key)`,
    byHand: `SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly
FROM tpch.lineitem, tpch.part
WHERE p_partkey = l_partkey AND p_brand :brand AND p_container :container
  AND l_quantity < (SELECT 0.2 * AVG(l_quantity) FROM tpch.lineitem WHERE l_partkey = p_partkey)`,
  },
  {
    number: 18,
    title: 'Large volume customer',
    values: { quantity: '300' },
    small: { quantity: '230' },
    sql: `SELECT "placed_by[customer].name" AS c_name, customer_key, order_key, order_date, total_price, SUM("has_line[lineitem].quantity") AS quantity
FROM dsvc.order
WHERE order_key IN (SELECT order_key FROM svc.lineitem GROUP BY order_key HAVING SUM(quantity) > :quantity)
GROUP BY c_name, customer_key, order_key, order_date, total_price
ORDER BY total_price DESC, order_date
LIMIT 100`,
    byHand: `SELECT c_name, c_custkey AS customer_key, o_orderkey AS order_key, o_orderdate AS order_date, o_totalprice AS total_price, SUM(l_quantity) AS quantity
FROM tpch.customer, tpch.orders, tpch.lineitem
WHERE o_orderkey IN (SELECT l_orderkey FROM tpch.lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > :quantity)
  AND c_custkey = o_custkey AND o_orderkey = l_orderkey
GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
ORDER BY o_totalprice DESC, o_orderdate
LIMIT 100`,
  },
  {
    number: 19,
    title: 'Discounted revenue',
    values: { one: "= 'Brand#12'", two: "= 'Brand#23'", three: "= 'Brand#34'", low: '1', middle: '10', high: '20' },
    small: { one: "LIKE 'Brand#1_'", two: "LIKE 'Brand#2_'", three: "LIKE 'Brand#3_'" },
    sql: `SELECT SUM("measure.revenue") AS revenue
FROM dsvc.lineitem
WHERE ("item[part].brand" :one AND "item[part].container" IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
       AND quantity >= :low AND quantity <= :low + 10 AND "item[part].size" BETWEEN 1 AND 5
       AND ship_mode IN ('AIR', 'AIR REG') AND ship_instructions = 'DELIVER IN PERSON')
   OR ("item[part].brand" :two AND "item[part].container" IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
       AND quantity >= :middle AND quantity <= :middle + 10 AND "item[part].size" BETWEEN 1 AND 10
       AND ship_mode IN ('AIR', 'AIR REG') AND ship_instructions = 'DELIVER IN PERSON')
   OR ("item[part].brand" :three AND "item[part].container" IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
       AND quantity >= :high AND quantity <= :high + 10 AND "item[part].size" BETWEEN 1 AND 15
       AND ship_mode IN ('AIR', 'AIR REG') AND ship_instructions = 'DELIVER IN PERSON')`,
    byHand: `SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM tpch.lineitem, tpch.part
WHERE (p_partkey = l_partkey AND p_brand :one AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
       AND l_quantity >= :low AND l_quantity <= :low + 10 AND p_size BETWEEN 1 AND 5
       AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')
   OR (p_partkey = l_partkey AND p_brand :two AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
       AND l_quantity >= :middle AND l_quantity <= :middle + 10 AND p_size BETWEEN 1 AND 10
       AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')
   OR (p_partkey = l_partkey AND p_brand :three AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
       AND l_quantity >= :high AND l_quantity <= :high + 10 AND p_size BETWEEN 1 AND 15
       AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')`,
  },
  {
    number: 20,
    title: 'Potential part promotion',
    values: { colour: 'forest', date: '1994-01-01', nation: 'CANADA' },
    small: { colour: '%o' },
    sql: `SELECT name, address
FROM dsvc.supplier
WHERE "located_in[nation].name" = ':nation'
  AND supplier_key IN (SELECT supplier_key FROM dsvc.partsupp ps
                       WHERE "of_part[part].name" LIKE ':colour%'
                         AND available_quantity > (SELECT 0.5 * SUM(l.quantity) FROM svc.lineitem l
                                                   WHERE l.part_key = ps.part_key AND l.supplier_key = ps.supplier_key
                                                     AND l.ship_date >= DATE ':date' AND l.ship_date < DATE ':date' + INTERVAL '1 year'))
ORDER BY name`,
    byHand: `SELECT s_name AS name, s_address AS address
FROM tpch.supplier, tpch.nation
WHERE s_suppkey IN (SELECT ps_suppkey FROM tpch.partsupp
                    WHERE ps_partkey IN (SELECT p_partkey FROM tpch.part WHERE p_name LIKE ':colour%')
                      AND ps_availqty > (SELECT 0.5 * SUM(l_quantity) FROM tpch.lineitem
                                         WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND l_shipdate >= DATE ':date'
                                           AND l_shipdate < DATE ':date' + INTERVAL '1 year'))
  AND s_nationkey = n_nationkey AND n_name = ':nation'
ORDER BY s_name`,
  },
  {
    number: 21,
    title: 'Suppliers who kept orders waiting',
    values: { nation: 'SAUDI ARABIA' },
    sql: `SELECT "shipped_by[supplier].name" AS s_name, COUNT(*) AS numwait
FROM dsvc.late_line l1
WHERE "of_order[order].status" = 'F' AND "shipped_by[supplier].located_in[nation].name" = ':nation'
  AND EXISTS (SELECT * FROM svc.lineitem l2 WHERE l2.order_key = l1.order_key AND l2.supplier_key <> l1.supplier_key)
  AND NOT EXISTS (SELECT * FROM svc.late_line l3 WHERE l3.order_key = l1.order_key AND l3.supplier_key <> l1.supplier_key)
GROUP BY s_name
ORDER BY numwait DESC, s_name
LIMIT 100`,
    alternatives: [
      `SELECT "shipped_by[supplier].name" AS s_name, COUNT(*) AS numwait
FROM dsvc.lineitem l1
WHERE "of_order[order].status" = 'F' AND receipt_date > commit_date AND "shipped_by[supplier].located_in[nation].name" = ':nation'
  AND EXISTS (SELECT 1 FROM svc.lineitem l2 WHERE l2.order_key = l1.order_key AND l2.supplier_key <> l1.supplier_key)
  AND NOT EXISTS (SELECT 1 FROM svc.lineitem l3 WHERE l3.order_key = l1.order_key AND l3.supplier_key <> l1.supplier_key AND l3.receipt_date > l3.commit_date)
GROUP BY s_name
ORDER BY numwait DESC, s_name
LIMIT 100`,
    ],
    byHand: `SELECT s_name, COUNT(*) AS numwait
FROM tpch.supplier, tpch.lineitem l1, tpch.orders, tpch.nation
WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate
  AND EXISTS (SELECT * FROM tpch.lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
  AND NOT EXISTS (SELECT * FROM tpch.lineitem l3
                  WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate)
  AND s_nationkey = n_nationkey AND n_name = ':nation'
GROUP BY s_name
ORDER BY numwait DESC, s_name
LIMIT 100`,
  },
  {
    number: 22,
    title: 'Global sales opportunity',
    values: { codes: "'13', '31', '23', '29', '30', '18', '17'" },
    sql: `SELECT country_code, COUNT(customer_key) AS numcust, SUM(account_balance) AS totacctbal
FROM dsvc.customer
WHERE country_code IN (:codes) AND "placed[order].order_key" IS NULL
  AND account_balance > (SELECT AVG(account_balance) FROM svc.customer WHERE account_balance > 0.00 AND country_code IN (:codes))
GROUP BY country_code
ORDER BY country_code`,
    alternatives: [
      `SELECT country_code, COUNT(*) AS numcust, SUM(account_balance) AS totacctbal
FROM dsvc.customer
WHERE country_code IN (:codes) AND "placed[order].order_key" IS NULL
  AND account_balance > (SELECT AVG(account_balance) FROM svc.customer WHERE account_balance > 0.00 AND country_code IN (:codes))
GROUP BY country_code
ORDER BY country_code`,
      `SELECT country_code, COUNT(*) AS numcust, SUM(account_balance) AS totacctbal
FROM dsvc.customer c
WHERE country_code IN (:codes) AND NOT EXISTS (SELECT 1 FROM svc.order o WHERE o.customer_key = c.customer_key)
  AND account_balance > (SELECT AVG(account_balance) FROM svc.customer WHERE account_balance > 0.00 AND country_code IN (:codes))
GROUP BY country_code
ORDER BY country_code`,
    ],
    byHand: `SELECT country_code, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
FROM (SELECT substring(c_phone FROM 1 FOR 2) AS country_code, c_acctbal
      FROM tpch.customer
      WHERE substring(c_phone FROM 1 FOR 2) IN (:codes)
        AND c_acctbal > (SELECT AVG(c_acctbal) FROM tpch.customer WHERE c_acctbal > 0.00 AND substring(c_phone FROM 1 FOR 2) IN (:codes))
        AND NOT EXISTS (SELECT * FROM tpch.orders WHERE o_custkey = c_custkey)) AS custsale
GROUP BY country_code
ORDER BY country_code`,
  },
];
