package io.idempotency.store.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongFunction;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * The next step of an operation, as data. An engine executes the step and requests the
 * next one, until a result is available. So an operation is written once, for blocking
 * and non-blocking engines.
 *
 * @param <T> the result of the operation
 * @hidden
 */
@Internal
public sealed interface SqlStep<T> {

	/** Returns the step after a failed statement of this step. */
	default SqlStep<T> failed(Failure failure) {
		return new Failed<>();
	}

	/** Returns this step with more steps after its result. */
	<U> SqlStep<U> then(Function<? super T, SqlStep<U>> more);

	/**
	 * Returns this step with another reaction to each failure that would fail the
	 * operation.
	 */
	default SqlStep<T> otherwise(Function<Failure, SqlStep<T>> other) {
		return this;
	}

	private SqlStep<T> after(Failure failure, Function<Failure, SqlStep<T>> other) {
		return (this instanceof Failed) ? other.apply(failure) : otherwise(other);
	}

	static <T> SqlStep<T> done(T answer) {
		return new Done<>(answer);
	}

	/** Queries, and reads at most one row. */
	static <R, T> SqlStep<T> find(Sql sql, Function<Row, R> reader, Function<Optional<R>, SqlStep<T>> next) {
		return new Query<>(sql, reader, (rows) -> next.apply(rows.stream().findFirst()), (failure) -> new Failed<>());
	}

	/** Queries, and reads all rows. */
	static <R, T> SqlStep<T> query(Sql sql, Function<Row, R> reader, Function<List<R>, SqlStep<T>> next) {
		return new Query<>(sql, reader, next, (failure) -> new Failed<>());
	}

	/** Changes rows, and continues with their number. */
	static <T> SqlStep<T> update(Sql sql, LongFunction<SqlStep<T>> next) {
		return new Update<>(sql, false, next, (failure) -> new Failed<>());
	}

	/**
	 * The end of the operation.
	 *
	 * @param <T> the result of the operation
	 */
	record Done<T>(T answer) implements SqlStep<T> {

		@Override
		public <U> SqlStep<U> then(Function<? super T, SqlStep<U>> more) {
			return more.apply(this.answer);
		}

	}

	/**
	 * The failure of the last statement is the failure of the operation.
	 *
	 * @param <T> the result of the operation
	 */
	record Failed<T>() implements SqlStep<T> {

		@Override
		public <U> SqlStep<U> then(Function<? super T, SqlStep<U>> more) {
			return new Failed<>();
		}

	}

	/**
	 * A query.
	 *
	 * @param <R> the type of a row
	 * @param <T> the result of the operation
	 * @param sql the statement
	 * @param next the step after the rows
	 * @param failure the step after a failure
	 */
	record Query<R, T>(Sql sql, Function<Row, R> reader, Function<List<R>, SqlStep<T>> next,
			Function<Failure, SqlStep<T>> failure) implements SqlStep<T> {

		@Override
		public SqlStep<T> failed(Failure failure) {
			return this.failure.apply(failure);
		}

		@Override
		public <U> SqlStep<U> then(Function<? super T, SqlStep<U>> more) {
			return new Query<>(this.sql, this.reader, (rows) -> this.next.apply(rows).then(more),
					(failure) -> failed(failure).then(more));
		}

		@Override
		public SqlStep<T> otherwise(Function<Failure, SqlStep<T>> other) {
			return new Query<>(this.sql, this.reader, (rows) -> this.next.apply(rows).otherwise(other),
					(failure) -> failed(failure).after(failure, other));
		}

	}

	/**
	 * A statement that changes rows.
	 *
	 * @param <T> the result of the operation
	 * @param key whether {@code next} receives the number that the statement assigned to
	 * {@code LAST_INSERT_ID}, 0 if no row was changed, instead of the number of rows
	 * @param next the step after the change
	 * @param failure the step after a failure
	 */
	record Update<T>(Sql sql, boolean key, LongFunction<SqlStep<T>> next,
			Function<Failure, SqlStep<T>> failure) implements SqlStep<T> {

		@Override
		public SqlStep<T> failed(Failure failure) {
			return this.failure.apply(failure);
		}

		@Override
		public <U> SqlStep<U> then(Function<? super T, SqlStep<U>> more) {
			return new Update<>(this.sql, this.key, (number) -> this.next.apply(number).then(more),
					(failure) -> failed(failure).then(more));
		}

		@Override
		public SqlStep<T> otherwise(Function<Failure, SqlStep<T>> other) {
			return new Update<>(this.sql, this.key, (number) -> this.next.apply(number).otherwise(other),
					(failure) -> failed(failure).after(failure, other));
		}

	}

	/**
	 * Steps that form one transaction, on a separate connection.
	 *
	 * @param <S> the result of these steps
	 * @param <T> the result of the operation
	 * @param next the step after the commit
	 */
	record Transaction<S, T>(SqlStep<S> work, Function<? super S, SqlStep<T>> next) implements SqlStep<T> {

		@Override
		public <U> SqlStep<U> then(Function<? super T, SqlStep<U>> more) {
			return new Transaction<>(this.work, (answer) -> this.next.apply(answer).then(more));
		}

	}

	/**
	 * A short wait for other calls.
	 *
	 * @param <T> the result of the operation
	 * @param attempt how often the operation has waited, including this time
	 * @param next the step after the wait; receives whether the time of the call is over,
	 * so that the operation did not wait
	 */
	record Pause<T>(int attempt, Function<Boolean, SqlStep<T>> next) implements SqlStep<T> {

		@Override
		public <U> SqlStep<U> then(Function<? super T, SqlStep<U>> more) {
			return new Pause<>(this.attempt, (over) -> this.next.apply(over).then(more));
		}

	}

	/**
	 * One row of a query result. Columns count from one.
	 */
	interface Row {

		@Nullable String text(int column);

		byte @Nullable [] bytes(int column);

		/** Returns the number, which is not {@code NULL}. */
		long number(int column);

		/** Returns the truth value, which is not {@code NULL}. */
		boolean truth(int column);

	}

	/**
	 * The kinds of statement failures that the store distinguishes.
	 */
	enum Failure {

		/** The key has a record already. */
		DUPLICATE_KEY,

		/**
		 * The statement was the victim of a deadlock: it was not applied and can be
		 * repeated.
		 */
		DEADLOCK,

		/**
		 * Another transaction was faster under a strict isolation: the statement can be
		 * repeated.
		 */
		SERIALIZATION,

		/** The wait for the lock of another transaction has reached its bound. */
		LOCK_TIMEOUT,

		/**
		 * A statement of the caller has failed, or the database ended its transaction, so
		 * that the transaction can only be rolled back.
		 */
		ABORTED,

		/** The transaction must not write. */
		READ_ONLY,

		/** Any other failure. */
		OTHER

	}

	/**
	 * One statement with its values.
	 *
	 * @param text the text, with a question mark for each value
	 * @param values the values in the order of the question marks: {@link String},
	 * {@link Long}, {@code byte[]}, or the class of the value that is {@code null}
	 * @param bounded whether the bound on the wait for locks has to be put around the
	 * statement
	 */
	record Sql(String text, List<Object> values, boolean bounded) {

		/** Creates a statement. A list among the values stands for the values in it. */
		public static Sql of(String text, Object... values) {
			List<Object> all = new ArrayList<>();
			for (Object value : values) {
				if (value instanceof List<?> several) {
					all.addAll(several);
				}
				else {
					all.add(value);
				}
			}
			return new Sql(text, all, true);
		}

		/** Returns the statement that bounds its wait itself, or needs no bound. */
		Sql unbounded() {
			return new Sql(this.text, this.values, false);
		}

	}

}
