package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.SqlStep;
import io.idempotency.store.sql.SqlStep.Sql;
import io.idempotency.store.sql.Dialect.Timeouts;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcTimeoutException;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What takes longer than a call may. */
class R2dbcTimeLimitTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration SHORT = Duration.ofSeconds(1);

	private static final int MANY = 300;

	private final ConnectionFactory h2 = TestDatabase.h2().connections();

	/** Its first connection loads the driver, which takes more than a short time. */
	@BeforeEach
	void connectForTheFirstTime() {
		Connection first = Objects.requireNonNull(Mono.from(this.h2.create()).block(PATIENCE));
		Flux.from(first.close()).blockLast(PATIENCE);
	}

	/** The driver of H2 does its work before it has told that it is subscribed to. */
	@Test
	void statementThatBlocksItsSubscriberIsGivenUp() {
		CountDownLatch goesOn = new CountDownLatch(1);
		R2dbcDatabase database = database(withAnswers((answer) -> Mono.fromCallable(() -> {
			goesOn.await();
			return true;
		}).thenMany(answer)));
		try {
			Mono<Long> work = database.session("work", SHORT, (dialect) -> LockWait.NONE,
					R2dbcTimeLimitTests::selectOne);
			assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> work.block(PATIENCE))
				.withStackTraceContaining("The database did not respond in time");
		}
		finally {
			goesOn.countDown();
		}
	}

	/** Else a good connection was closed, which may be that of a transaction. */
	@Test
	void statementThatAnswersInTheLastMomentIsNotLate() {
		Sinks.Empty<Void> answers = Sinks.empty();
		R2dbcDatabase database = database(
				withAnswers((answer) -> Flux.from(answer).delayUntil((result) -> answers.asMono())));
		Schedulers.onScheduleHook("last moment", (task) -> {
			if (Thread.currentThread().getName().startsWith("idempotency-r2dbc")) {
				answers.tryEmitEmpty();
			}
			return task;
		});
		try {
			Mono<Boolean> isLateOnlyIfItFails = database.session("work", SHORT, (dialect) -> LockWait.NONE,
					(session) -> selectOne(session).map((one) -> !session.isLate())
						.onErrorResume(R2dbcTimeoutException.class, (failure) -> Mono.just(session.isLate())));
			assertThat(isLateOnlyIfItFails.block(PATIENCE)).isTrue();
		}
		finally {
			Schedulers.resetOnScheduleHook("last moment");
		}
	}

	/**
	 * Else a call that has waited for its connection is late, and its connection closed,
	 * so that the next calls wait, too.
	 */
	@Test
	void waitForAConnectionTakesNoTimeFromTheStatement() {
		Duration time = Duration.ofSeconds(3);
		ConnectionFactory connections = withAnswers(
				(answer) -> Flux.from(answer).delaySequence(time.dividedBy(3).multipliedBy(2)));
		R2dbcDatabase database = database(TroubledConnections.proxy(ConnectionFactory.class,
				(method, args) -> !method.getName().equals("create") ? method.invoke(this.h2, args)
						: Mono.delay(time.dividedBy(5).multipliedBy(2)).then(Mono.from(connections.create()))));
		Mono<Long> work = database.session("work", time, (dialect) -> LockWait.NONE, R2dbcTimeLimitTests::selectOne);
		assertThat(work.block(PATIENCE)).isOne();
	}

	/** A pool may lose them without a signal. */
	@Test
	void connectionsThatNeverComeDoNotCountForEver() {
		AtomicBoolean lost = new AtomicBoolean(true);
		AtomicInteger asked = new AtomicInteger();
		R2dbcDatabase database = database(TroubledConnections.proxy(ConnectionFactory.class, (method, args) -> {
			if (method.getName().equals("create")) {
				asked.incrementAndGet();
				return lost.get() ? Mono.never() : this.h2.create();
			}
			return method.invoke(this.h2, args);
		}));
		assertThat(connected(database, SHORT)).isZero();
		assertThat(connected(database, SHORT)).isZero();
		assertThat(asked).as("asked").hasValueLessThan(2 * MANY);
		lost.set(false);
		Mono<Boolean> one = connect(database, PATIENCE);
		assertThat(one.block(PATIENCE)).isTrue();
		assertThat(connected(database, PATIENCE)).isEqualTo(MANY);
	}

	private static long connected(R2dbcDatabase database, Duration most) {
		return Flux.range(0, MANY)
			.flatMap((i) -> connect(database, most).onErrorReturn(StoreNotReachedException.class, false), MANY)
			.filter((connected) -> connected)
			.count()
			.blockOptional(PATIENCE)
			.orElseThrow();
	}

	private static Mono<Boolean> connect(R2dbcDatabase database, Duration most) {
		return database.session("connect", most, (dialect) -> LockWait.NONE, (session) -> Mono.just(true));
	}

	private static Mono<Long> selectOne(R2dbcSession session) {
		return session
			.verb((verbs) -> SqlStep.query(Sql.of("SELECT 1"), (row) -> row.number(1), (rows) -> SqlStep.done(1L)));
	}

	private static R2dbcDatabase database(ConnectionFactory connections) {
		return new R2dbcDatabase(connections, R2dbcIdempotencyStore.DEFAULT_TABLE_NAME,
				new Timeouts(PATIENCE, PATIENCE));
	}

	/** Connections whose statements answer otherwise. */
	private ConnectionFactory withAnswers(UnaryOperator<Publisher<Result>> answers) {
		return TroubledConnections.proxy(ConnectionFactory.class,
				(method, args) -> !method.getName().equals("create") ? method.invoke(this.h2, args)
						: Mono.from(this.h2.create()).map((connection) -> withAnswers(connection, answers)));
	}

	private static Connection withAnswers(Connection connection, UnaryOperator<Publisher<Result>> answers) {
		return TroubledConnections.proxy(Connection.class, (method, args) -> !method.getName().equals("createStatement")
				? method.invoke(connection, args) : withAnswers(connection.createStatement((String) args[0]), answers));
	}

	private static Statement withAnswers(Statement statement, UnaryOperator<Publisher<Result>> answers) {
		return TroubledConnections.proxy(Statement.class, (method, args) -> !method.getName().equals("execute")
				? method.invoke(statement, args) : answers.apply(Flux.from(statement.execute()).cast(Result.class)));
	}

}
