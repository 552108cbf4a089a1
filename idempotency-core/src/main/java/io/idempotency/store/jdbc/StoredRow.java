package io.idempotency.store.jdbc;

import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.store.record.Moment;
import io.idempotency.store.record.StoredRecord;

/**
 * One row of the table as it was read.
 *
 * @param record the record
 * @param now the database's clock at the reading
 */
record StoredRow(StoredRecord record, long now) {

	/** No row. */
	static StoredRow missing(long now) {
		return new StoredRow(StoredRecord.ABSENT, now);
	}

	boolean isMissing() {
		return this.record == StoredRecord.ABSENT;
	}

	/** When it was read. */
	Moment moment() {
		return new Moment(this.now, new AtomicLong(this.record.fence()));
	}

	/** The record that counts: a row whose time is over only waits to be purged. */
	StoredRecord current() {
		return this.record.isLive(moment()) ? this.record : StoredRecord.ABSENT;
	}

}
