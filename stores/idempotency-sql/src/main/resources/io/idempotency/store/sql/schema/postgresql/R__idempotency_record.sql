-- Records of idempotent calls. May be run again. Times are microseconds since 1970, UTC.
CREATE TABLE IF NOT EXISTS idempotency_record (
	fence         bigint       NOT NULL,
	lease_until   bigint       NOT NULL,
	kept_until    bigint       NOT NULL,
	purge_after   bigint       NOT NULL,
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
) WITH (fillfactor = 80);

CREATE INDEX IF NOT EXISTS idempotency_record_purge_after ON idempotency_record (purge_after);
