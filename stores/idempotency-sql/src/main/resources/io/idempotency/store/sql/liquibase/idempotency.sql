--liquibase formatted sql

--changeset idempotency:idempotency_record-postgresql-1 dbms:postgresql
CREATE TABLE IF NOT EXISTS idempotency_record (
	fence         bigint       NOT NULL,
	lease_until   bigint       NOT NULL,
	kept_until    bigint       NOT NULL,
	token_until   bigint       NOT NULL,
	attempts      bigint       NOT NULL,
	key_hash      bytea        NOT NULL,
	claim_id      bytea        NOT NULL,
	fingerprint   bytea        NOT NULL,
	state         char(1)      NOT NULL,
	operation     varchar(255) NOT NULL,
	result_format varchar(32),
	origin        varchar(114),
	result_body   bytea,
	PRIMARY KEY (key_hash)
);

CREATE INDEX IF NOT EXISTS idempotency_record_kept_until ON idempotency_record (kept_until);

--changeset idempotency:idempotency_record-h2-1 dbms:h2
CREATE TABLE IF NOT EXISTS idempotency_record (
	key_hash      binary(32)          NOT NULL,
	operation     varchar(255)        NOT NULL,
	state         char(1)             NOT NULL,
	claim_id      binary(16)          NOT NULL,
	fence         bigint              NOT NULL,
	fingerprint   binary varying(64)  NOT NULL,
	lease_until   bigint              NOT NULL,
	kept_until    bigint              NOT NULL,
	token_until   bigint              NOT NULL,
	attempts      bigint              NOT NULL,
	result_format varchar(32),
	result_body   binary large object,
	origin        varchar(114),
	PRIMARY KEY (key_hash)
);

CREATE INDEX IF NOT EXISTS idempotency_record_kept_until ON idempotency_record (kept_until);

--changeset idempotency:idempotency_record-mysql-1 dbms:mysql
CREATE TABLE IF NOT EXISTS idempotency_record (
	key_hash      binary(32)    NOT NULL,
	operation     varchar(255)  NOT NULL,
	state         char(1)       NOT NULL,
	claim_id      binary(16)    NOT NULL,
	fence         bigint        NOT NULL,
	fingerprint   varbinary(64) NOT NULL,
	lease_until   bigint        NOT NULL,
	kept_until    bigint        NOT NULL,
	token_until   bigint        NOT NULL,
	attempts      bigint        NOT NULL,
	result_format varchar(32),
	result_body   longblob,
	origin        varchar(114),
	PRIMARY KEY (key_hash),
	INDEX idempotency_record_kept_until (kept_until)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4;

--changeset idempotency:idempotency_record-mariadb-1 dbms:mariadb
CREATE TABLE IF NOT EXISTS idempotency_record (
	key_hash      binary(32)    NOT NULL,
	operation     varchar(255)  NOT NULL,
	state         char(1)       NOT NULL,
	claim_id      binary(16)    NOT NULL,
	fence         bigint        NOT NULL,
	fingerprint   varbinary(64) NOT NULL,
	lease_until   bigint        NOT NULL,
	kept_until    bigint        NOT NULL,
	token_until   bigint        NOT NULL,
	attempts      bigint        NOT NULL,
	result_format varchar(32),
	result_body   longblob,
	origin        varchar(114),
	PRIMARY KEY (key_hash),
	INDEX idempotency_record_kept_until (kept_until)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4;
