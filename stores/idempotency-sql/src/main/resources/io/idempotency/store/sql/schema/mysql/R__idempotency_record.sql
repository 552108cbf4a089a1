-- Records of idempotent calls. May be run again. Times are microseconds since 1970, UTC.
CREATE TABLE IF NOT EXISTS idempotency_record (
	key_hash      binary(32)    NOT NULL,
	operation     varchar(255)  NOT NULL,
	state         char(1)       NOT NULL,
	claim_id      binary(16)    NOT NULL,
	fence         bigint        NOT NULL,
	fingerprint   varbinary(64) NOT NULL,
	lease_until   bigint        NOT NULL,
	kept_until    bigint        NOT NULL,
	purge_after   bigint        NOT NULL,
	token_until   bigint        NOT NULL,
	attempts      bigint        NOT NULL,
	result_format varchar(32),
	result_body   longblob,
	origin        varchar(114),
	PRIMARY KEY (key_hash),
	INDEX idempotency_record_purge_after (purge_after)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4;
