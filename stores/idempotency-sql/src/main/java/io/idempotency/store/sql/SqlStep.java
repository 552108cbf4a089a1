package io.idempotency.store.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongFunction;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * What comes next in a verb, as data: a driver carries the move out and asks for the next
 * one, until there is an answer. So a verb is written once, for drivers that block and
 * for those that do not.
 *
 * @param <T> the answer of the verb
 * @hidden
 */
@Internal
public sealed interface SqlStep<T> {

	/** Returns the move after a statement of this move that has failed. */
	default SqlStep<T> failed(Failure failure) {
		return new Failed<>();
	}

	/** Returns this move with more moves after its answer. */
	<U> SqlStep<U> then(Function<? super T, SqlStep<U>> more);

	/** Returns this move with another end of each failure that would fail the verb. */
	default SqlStep<T> otherwise(Function<Failure, SqlStep<T>> other) {
		return this;
	}

	private SqlStep<T> after(Failure failure, Function<Failure, SqlStep<T>> other) {
		return (this instanceof Failed) ? other.apply(failure) : otherwise(other);
	}

	static <T> SqlStep<T> done(T answer) {
		return new Done<>(answer);
	}

	/** Queries, and reads the only row, or none. */
	static <R, T> SqlStep<T> find(Sql sql, Function<Row, R> reader, Function<Optional<R>, SqlStep<T>> next) {
		return new Query<>(sql, reader, (rows) -> next.apply(rows.stream().findFirst()), (failure) -> new Failed<>());
	}

	/** Queries, and reads all rows. */
	static <R, T> SqlStep<T> query(Sql sql, Function<Row, R> reader, Function<List<R>, SqlStep<T>> next) {
		return new Query<>(sql, reader, next, (failure) -> new Failed<>());
	}

	/** Changes rows, and goes on with their number. */
	static <T> SqlStep<T> update(Sql sql, LongFunction<SqlStep<T>> next) {
		return new Update<>(sql, false, next, (failure) -> new Failed<>());
	}

	/**
	 * The verb is over.
	 *
	 * @param <T> the answer of the verb
	 */
	record Done<T>(T answer) implements SqlStep<T> {

		@Override
		public <U> SqlStep<U> then(Function<? super T, SqlStep<U>> more) {
			return more.apply(this.answer);
		}

	}

	/**
	 * The failure of the last statement is the failure of the verb.
	 *
	 * @param <T> the answer of the verb
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
	 * @param <R> what a row is read as
	 * @param <T> the answer of the verb
	 * @param sql the statement
	 * @param next the move after the rows
	 * @param failure the move after a failure
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
	 * @param <T> the answer of the verb
	 * @param key whether the number is the one that the statement gave to
	 * {@code LAST_INSERT_ID}, 0 if no row was changed, and not that of the rows
	 * @param next the move after the change
	 * @param failure the move after a failure
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
	 * Moves that are one transaction, on a connection of our own.
	 *
	 * @param <S> the answer of these moves
	 * @param <T> the answer of the verb
	 * @param next the move after the commit
	 */
	record Transaction<S, T>(SqlStep<S> work, Function<? super S, SqlStep<T>> next) implements SqlStep<T> {

		@Override
		public <U> SqlStep<U> then(Function<? super T, SqlStep<U>> more) {
			return new Transaction<>(this.work, (answer) -> this.next.apply(answer).then(more));
		}

	}

	/**
	 * A short wait for others.
	 *
	 * @param <T> the answer of the verb
	 * @param attempt how often the verb has waited, this time included
	 * @param next the move after the wait; is told whether the time of the call is over,
	 * so that there was no wait
	 */
	record Pause<T>(int attempt, Function<Boolean, SqlStep<T>> next) implements SqlStep<T> {

		@Override
		public <U> SqlStep<U> then(Function<? super T, SqlStep<U>> more) {
			return new Pause<>(this.attempt, (over) -> this.next.apply(over).then(more));
		}

	}

	/**
	 * One row of the answer to a query; columns count from one.
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
	 * The kinds of failures of a statement that the store tells apart.
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
