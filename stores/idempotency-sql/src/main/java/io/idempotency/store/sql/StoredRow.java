package io.idempotency.store.sql;

import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.store.Moment;
import io.idempotency.store.StoredRecord;

/**
 * One row of the table, as a query has read it.
 *
 * @param now the database's clock at the time of the query
 */
record StoredRow(StoredRecord record, long now) {

	/** Creates the value for a key without a row. */
	static StoredRow missing(long now) {
		return new StoredRow(StoredRecord.ABSENT, now);
	}

	boolean isMissing() {
		return this.record == StoredRecord.ABSENT;
	}

	/** Returns the time of the query. */
	Moment moment() {
		return new Moment(this.now, new AtomicLong(this.record.fencingToken()));
	}

	/**
	 * Returns the record, or the absent record if the row has expired and only waits to
	 * be purged.
	 */
	StoredRecord current() {
		return this.record.isLive(moment()) ? this.record : StoredRecord.ABSENT;
	}

}
