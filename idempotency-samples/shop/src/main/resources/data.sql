-- For H2 and PostgreSQL. May be run again: existing rows stay.
insert into product (sku, name, price, stock)
select sku, name, price, stock
from (values
	('sku-1', 'Keyboard', 129.00, 100000),
	('sku-2', 'Brass desk lamp', 89.00, 500),
	('sku-3', 'Dotted notebook', 12.50, 500),
	('sku-4', 'Fountain pen', 34.90, 500),
	('sku-5', 'Felt desk mat', 42.00, 500),
	('sku-6', 'Headphones', 189.00, 200),
	('sku-7', 'Monitor arm', 99.00, 200),
	('sku-8', 'Stoneware mug', 14.00, 500),
	('sku-9', 'Walnut clock', 240.00, 3)) as offered (sku, name, price, stock)
where not exists (select 1 from product);

insert into order_segment (name, last_max_id)
select 'shop.order', 0
where not exists (select 1 from order_segment);
