-- For H2 and PostgreSQL. May be run again.
create table if not exists product (
	sku varchar(40) primary key,
	name varchar(100) not null,
	price numeric(10, 2) not null,
	stock integer not null check (stock >= 0)
);

create table if not exists customer_order (
	id bigint generated always as identity primary key,
	order_no varchar(20) not null unique,
	customer varchar(100) not null,
	sku varchar(40) not null references product (sku),
	quantity integer not null,
	amount numeric(10, 2) not null,
	paid numeric(10, 2) default 0 not null,
	refunded numeric(10, 2) default 0 not null,
	status varchar(20) not null,
	created_at timestamp(3) with time zone not null,
	-- The caller's id for this order, null if the shop does not require one. Nulls are not duplicates.
	scheme varchar(20),
	request_id varchar(64),
	unique (scheme, customer, request_id)
);

create table if not exists payment (
	id bigint generated always as identity primary key,
	order_id bigint not null references customer_order (id),
	amount numeric(10, 2) not null,
	status varchar(20) not null
);

create table if not exists refund (
	id bigint generated always as identity primary key,
	order_id bigint not null references customer_order (id),
	reference varchar(60) not null,
	amount numeric(10, 2) not null,
	status varchar(20) not null,
	unique (order_id, reference)
);

-- The cart of a customer; becomes an order once.
create table if not exists cart (
	id bigint generated always as identity primary key,
	scheme varchar(20) not null,
	customer varchar(100) not null,
	request_id varchar(64) not null,
	status varchar(20) not null,
	version integer not null,
	unique (scheme, customer, request_id)
);

-- One row for each removal of items from the stock.
create table if not exists stock_taking (
	customer varchar(100) not null,
	request_id varchar(64) not null,
	sku varchar(40) not null references product (sku),
	quantity integer not null,
	primary key (customer, request_id)
);

-- Profile ids-jdbc: which process numbers its orders with which worker id, when it was last seen (ms, by its own clock,
-- which is in its numbers), and when it was last renewed (ms, by the clock of the database).
create table if not exists order_worker (
	namespace varchar(40) not null,
	machine_id integer not null,
	instance_id varchar(100),
	last_seen bigint not null,
	renewed bigint not null,
	primary key (namespace, machine_id)
);

-- A table of an older version: its workers count as alive for one lease from now.
alter table order_worker add column if not exists renewed bigint
	default cast(extract(epoch from current_timestamp) * 1000 as bigint) not null;

-- Profile ids-segment: the last number that was allocated to a process.
create table if not exists order_segment (
	name varchar(40) primary key,
	last_max_id bigint not null
);

-- Profiles kafka and rabbit: messages that the broker has not confirmed yet, and how often to deliver each.
create table if not exists outbox (
	id varchar(36) primary key,
	order_no varchar(20) not null,
	times integer not null,
	created_at timestamp(6) with time zone not null
);

-- Profiles kafka and rabbit: each delivery of a message, and each of its effects. These tables have no unique keys.
create table if not exists order_event (
	id bigint generated always as identity primary key,
	order_no varchar(20) not null,
	event varchar(20) not null
);
