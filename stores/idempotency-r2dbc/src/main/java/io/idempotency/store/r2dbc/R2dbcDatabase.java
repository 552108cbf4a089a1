package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.Dialects;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.Dialect.Timeouts;
import io.idempotency.store.sql.SqlStep;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionMetadata;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcTimeoutException;
import io.r2dbc.spi.Wrapped;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/**
 * The database behind a store: the source of its connections, and its dialect. The
 * dialect is found on the first connection that a call needs, so creating a store
 * connects to nothing.
 * <p>
 * No operation here can be cancelled: after a cancellation, a pool may lose a connection,
 * and a statement that was already sent is applied nevertheless. A caller stops waiting
 * when its time is over. A connection that arrives later is closed.
 */
final class R2dbcDatabase {

	private static final Logger logger = LoggerFactory.getLogger(R2dbcDatabase.class);

	/**
	 * One dedicated thread for all stores. Blocking callers also wait on threads of
	 * {@link Schedulers#parallel()}, and a pool validates connections on that of
	 * {@link Schedulers#single()}. The thread ends when it is idle, so it does not
	 * outlive a close.
	 */
	static final Scheduler TIMERS = Schedulers.fromExecutorService(timers());

	private static final long CARE_NANOS = TimeUnit.MINUTES.toNanos(1);

	/**
	 * No further connections are requested while so many are delayed, because they would
	 * not arrive in time.
	 */
	private static final int MAX_LATE = 256;

	private final ConnectionFactory connections;

	private final String tableName;

	private final Timeouts timeouts;

	private final @Nullable Scheduler threads;

	private final AtomicBoolean trying = new AtomicBoolean();

	private volatile AtomicInteger late = new AtomicInteger();

	/** The statements with PostgreSQL parameters, some dozens. */
	private final Map<String, String> numbered = new ConcurrentHashMap<>();

	private volatile @Nullable Dialect dialect;

	/** Until when a table may be locked, by {@link System#nanoTime()}; zero at first. */
	private volatile long lockedUntil;

	private static ScheduledExecutorService timers() {
		ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1, (task) -> {
			Thread thread = new Thread(task, "idempotency-r2dbc-1");
			thread.setDaemon(true);
			return thread;
		});
		timers.setRemoveOnCancelPolicy(true);
		timers.setKeepAliveTime(1, TimeUnit.SECONDS);
		timers.allowCoreThreadTimeOut(true);
		return timers;
	}

	R2dbcDatabase(ConnectionFactory connections, String tableName, Timeouts timeouts) {
		this.connections = connections;
		this.tableName = Dialects.requireTableName(tableName);
		this.timeouts = timeouts;
		// The driver of H2 works on the thread of its caller.
		this.threads = isOf("H2") ? Schedulers.boundedElastic() : null;
	}

	private boolean isOf(String driver) {
		return this.connections.getMetadata().getName().equalsIgnoreCase(driver);
	}

	Timeouts timeouts() {
		return this.timeouts;
	}

	/**
	 * Returns the bound on the waits of statements that are separate transactions.
	 */
	LockWait lockWait(Dialect dialect, Duration bound) {
		boolean careful = this.lockedUntil != 0 && this.lockedUntil - System.nanoTime() > 0;
		return careful ? dialect.carefulLockWait(bound) : dialect.ownLockWait(bound);
	}

	/**
	 * Executes work on a separate connection. The wait for a connection does not count as
	 * time of the work. A statement that exceeds its time loses its connection. If
	 * connecting is slow, the next calls would otherwise wait longer and exceed their
	 * time too.
	 */
	<T> Mono<T> session(String what, Duration most, Function<Dialect, LockWait> bound,
			Function<R2dbcSession, Mono<T>> work) {
		// A pool passes a connection on, on the thread that returns it.
		return apart(Mono.defer(() -> onThreads(connect(what, most)))
			.flatMap((connection) -> session(what, connection, most, bound, work)));
	}

	/**
	 * Makes a call that cannot be cancelled, and that is not subscribed to on a thread
	 * that must not block.
	 */
	private <T> Mono<T> apart(Mono<T> call) {
		Mono<T> detached = Mono.create(
				(sink) -> call.subscribe(sink::success, sink::error, sink::success, Context.of(sink.contextView())));
		return (this.threads != null) ? detached.subscribeOn(this.threads) : detached;
	}

	/**
	 * Executes work on the connection of the subscriber's transaction. The connection
	 * stays with that transaction. If a statement is still in progress at the end, the
	 * connection is closed, so that the transaction can end.
	 */
	<T> Mono<T> joined(String what, Duration most, Function<Dialect, LockWait> bound,
			Function<R2dbcSession, Mono<T>> work) {
		return apart(JoinedConnections.current(what, this.connections)
			.flatMap((connection) -> joined(what, connection, most, bound, work)));
	}

	private <T> Mono<T> joined(String what, Connection connection, Duration most, Function<Dialect, LockWait> bound,
			Function<R2dbcSession, Mono<T>> work) {
		R2dbcSession session = session(connection, most, bound, true);
		return Mono.defer(() -> work.apply(session))
			.onErrorResume(R2dbcException.class,
					(failure) -> session.isLost(failure)
						.flatMap((lost) -> Mono.error(lost ? JoinedConnections.lost(what, failure)
								: joinedFailure(what, failure, session.classify(failure)))))
			.onErrorMap((failure) -> !(failure instanceof RuntimeException), (failure) -> failure(what, failure))
			.doOnTerminate(() -> giveUp(connection, session));
	}

	private static Throwable joinedFailure(String what, R2dbcException failure, SqlStep.Failure kind) {
		return switch (kind) {
			case ABORTED -> JoinedConnections.aborted(what, failure);
			case READ_ONLY -> new IllegalStateException(
					"The transaction that '" + what + "' joins is read-only, so it cannot store the record. Use a "
							+ "read-write transaction, or set transaction = TransactionMode.SEPARATE",
					failure);
			default -> failure(what, failure);
		};
	}

	private <T> Mono<T> session(String what, Connection connection, Duration most, Function<Dialect, LockWait> bound,
			Function<R2dbcSession, Mono<T>> work) {
		R2dbcSession session;
		try {
			session = session(connection, most, bound, false);
		}
		catch (RuntimeException ex) {
			close(connection);
			return Mono.error(ex);
		}
		return Mono.defer(() -> work.apply(session))
			.onErrorMap((failure) -> failure(what, failure))
			.doOnTerminate(() -> giveBack(connection, session));
	}

	private R2dbcSession session(Connection connection, Duration most, Function<Dialect, LockWait> bound,
			boolean joined) {
		Dialect known = dialect(connection);
		return new R2dbcSession(this, connection, known, bound.apply(known),
				System.nanoTime() + TimeUnit.NANOSECONDS.convert(most), joined);
	}

	/**
	 * Continues on a thread that the driver may block: a timer must not wait for a
	 * database.
	 */
	<T> Mono<T> onThreads(Mono<T> signal) {
		return (this.threads != null) ? signal.publishOn(this.threads) : signal;
	}

	private Dialect dialect(Connection connection) {
		Dialect known = this.dialect;
		if (known == null) {
			ConnectionMetadata metadata = connection.getMetadata();
			// The MySQL driver returns the version comment of the server instead of a
			// product name.
			String product = isOf("MySQL") ? "mysql" : metadata.getDatabaseProductName();
			known = Dialects.find(product, metadata.getDatabaseVersion(), this.tableName, this.timeouts);
			this.dialect = known;
		}
		return known;
	}

	/** PostgreSQL has numbers where others have question marks. */
	String numbered(String text) {
		return this.numbered.computeIfAbsent(text, (marked) -> {
			StringBuilder numbered = new StringBuilder(marked.length() + 32);
			int number = 0;
			for (int i = 0; i < marked.length(); i++) {
				char c = marked.charAt(i);
				numbered.append((c == '?') ? "$" + ++number : Character.toString(c));
			}
			return numbered.toString();
		});
	}

	/**
	 * Connects, unless too many connections are delayed. In that case, one call at a time
	 * still connects. If it succeeds, the delayed connections count as lost, because they
	 * may never arrive.
	 */
	private Mono<Connection> connect(String what, Duration most) {
		AtomicInteger late = this.late;
		if (late.get() < MAX_LATE) {
			return connect(what, most, late);
		}
		if (!this.trying.compareAndSet(false, true)) {
			return Mono.error(unreached(what, new R2dbcTimeoutException("Too many connections are delayed")));
		}
		return connect(what, most, late).doOnSuccess((connection) -> this.late = new AtomicInteger())
			.doOnTerminate(() -> this.trying.set(false));
	}

	/** A connection that arrives too late is closed. */
	private Mono<Connection> connect(String what, Duration most, AtomicInteger late) {
		return Mono.create((sink) -> {
			AtomicBoolean over = new AtomicBoolean();
			Disposable timer = TIMERS.schedule(() -> giveUp(what, over, sink, late), TimeUnit.NANOSECONDS.convert(most),
					TimeUnit.NANOSECONDS);
			Mono.defer(() -> Mono.from(this.connections.create())).subscribe((connection) -> {
				timer.dispose();
				if (over.compareAndSet(false, true)) {
					sink.success(connection);
				}
				else {
					late.decrementAndGet();
					close(connection);
				}
			}, (failure) -> {
				timer.dispose();
				if (over.compareAndSet(false, true)) {
					sink.error(unreached(what, failure));
				}
				else {
					late.decrementAndGet();
				}
			});
		});
	}

	private static void giveUp(String what, AtomicBoolean over, MonoSink<Connection> sink, AtomicInteger late) {
		late.incrementAndGet();
		if (over.compareAndSet(false, true)) {
			sink.error(unreached(what, new R2dbcTimeoutException("No connection was available in time")));
		}
		else {
			late.decrementAndGet();
		}
	}

	/**
	 * Returns the connection to the pool. If a statement is still in progress, the
	 * connection that the pool wraps is closed, so that the pool opens another one.
	 */
	private void giveBack(Connection connection, R2dbcSession session) {
		giveUp(connection, session);
		close(connection);
	}

	private void giveUp(Connection connection, R2dbcSession session) {
		if (session.isLate()) {
			this.lockedUntil = System.nanoTime() + CARE_NANOS;
			Connection inner = connection;
			while (inner instanceof Wrapped<?> wrapped && wrapped.unwrap() instanceof Connection wrappedOne) {
				inner = wrappedOne;
			}
			if (inner != connection) {
				close(inner);
			}
		}
	}

	private static void close(Connection connection) {
		// The work is complete already, or its failure is about to be reported.
		Mono.defer(() -> Mono.from(connection.close())).subscribe((nothing) -> {
		}, (failure) -> logger.debug("A connection could not be closed", failure));
	}

	private static StoreNotReachedException unreached(String what, Throwable failure) {
		return new StoreNotReachedException("No connection is available for '" + what + "': " + describe(failure),
				failure);
	}

	private static Throwable failure(String what, Throwable failure) {
		return (failure instanceof IdempotencyStoreException || failure instanceof IdempotencyConfigurationException
				|| failure instanceof Error) ? failure
						: new IdempotencyStoreException(
								"The database failed to execute '" + what + "': " + describe(failure), failure);
	}

	/** Describes a failure without its message, because the message may hold a key. */
	private static String describe(Throwable failure) {
		String type = failure.getClass().getSimpleName();
		return (failure instanceof R2dbcException ex)
				? type + ", SQL state " + ex.getSqlState() + ", code " + ex.getErrorCode() : type;
	}

}
