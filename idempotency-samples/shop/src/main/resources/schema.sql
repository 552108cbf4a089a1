create table product (
	sku varchar(40) primary key,
	name varchar(100) not null,
	price numeric(10, 2) not null,
	stock integer not null check (stock >= 0)
);

create table customer_order (
	id bigint generated always as identity primary key,
	order_no varchar(20) not null unique,
	customer varchar(100) not null,
	sku varchar(40) not null references product (sku),
	quantity integer not null,
	amount numeric(10, 2) not null,
	paid numeric(10, 2) default 0 not null,
	refunded numeric(10, 2) default 0 not null,
	status varchar(20) not null,
	created_at timestamp(3) with time zone not null
);

create table payment (
	id bigint generated always as identity primary key,
	order_id bigint not null references customer_order (id),
	amount numeric(10, 2) not null,
	status varchar(20) not null
);

create table refund (
	id bigint generated always as identity primary key,
	order_id bigint not null references customer_order (id),
	reference varchar(60) not null,
	amount numeric(10, 2) not null,
	status varchar(20) not null,
	unique (order_id, reference)
);
