package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Renewal;
import io.idempotency.store.Scheduler;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.jdbc.DedicatedConnections.Use;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Which calls of the store do not wait for the work of the application. */
class DedicatedConnectionsTests {

	private static final Duration AT_ONCE = Duration.ofMillis(1);

	private final H2Database database = H2Database.withTable();

	private final Counting application = new Counting(this.database.dataSource());

	private final Counting dedicated = new Counting(this.database.dataSource());

	private final TransactionTemplate transaction = new TransactionTemplate(
			new DataSourceTransactionManager(this.application));

	private volatile boolean applicationHasConnection;

	private final JdbcIdempotencyStore store = store(3);

	@AfterEach
	void unbind() {
		TransactionSynchronizationManager.unbindResourceIfPossible("session");
	}

	private DedicatedConnections connections(int size) {
		return new DedicatedConnections(this.dedicated, size, () -> this.applicationHasConnection);
	}

	private JdbcIdempotencyStore store(int size) {
		JdbcIdempotencyStore created = new JdbcIdempotencyStore(this.application, connections(size),
				JdbcIdempotencyStore.DEFAULT_TABLE_NAME, Duration.ofSeconds(5), Duration.ofSeconds(10));
		// The database is asked once what it is.
		created.purge(1);
		this.application.taken = 0;
		return created;
	}

	private static ClaimRequest request() {
		return ClaimRequest.of(IdempotencyKey.of("pay", Caller.GLOBAL, String.valueOf(System.nanoTime())),
				Duration.ofSeconds(30), Duration.ofHours(1));
	}

	private void expect(int ofTheApplication, int ofTheStore, Runnable call) {
		this.application.taken = 0;
		this.dedicated.taken = 0;
		call.run();
		assertThat(this.application.taken).as("of the application").isEqualTo(ofTheApplication);
		assertThat(this.dedicated.taken).as("dedicated").isEqualTo(ofTheStore);
	}

	private Claim claim(JdbcIdempotencyStore any) {
		return ((ClaimResult.Acquired) any.claim(request())).claim();
	}

	@Test
	void usualCallsTakeConnectionsOfTheApplication() {
		expect(2, 0, () -> {
			Claim claim = claim(this.store);
			this.store.release(claim.key(), claim.id());
		});
		expect(1, 0, () -> this.store.purge(10));
	}

	@Test
	void renewalsTakeTheirOwn() {
		Claim claim = claim(this.store);
		Renewal renewal = new Renewal(claim.key(), claim.id(), Duration.ofSeconds(30));
		expect(0, 2, () -> {
			assertThat(this.store.renew(claim.key(), claim.id(), Duration.ofSeconds(30))).isTrue();
			assertThat(this.store.renewAll(List.of(renewal))).isEmpty();
		});
	}

	@Test
	void callsOfAThreadThatHoldsAConnectionTakeTheirOwn() {
		expect(1, 2, () -> this.transaction.executeWithoutResult((status) -> {
			Claim claim = claim(this.store);
			this.store.release(claim.key(), claim.id());
		}));
	}

	@Test
	void joiningCallsTakeNone() {
		expect(1, 0,
				() -> this.transaction
					.executeWithoutResult((status) -> assertThat(this.store.joining().orElseThrow().claim(request()))
						.isInstanceOf(ClaimResult.Acquired.class)));
	}

	/** Nothing shows whether a session that is open for a whole request holds one. */
	@Test
	void callsOfAThreadThatMayHoldAConnectionTakeTheirOwnWhereTheApplicationHasNoneToSpare() {
		TransactionSynchronizationManager.bindResource("session", new Object());
		expect(0, 1, () -> claim(this.store));
		this.applicationHasConnection = true;
		expect(1, 0, () -> claim(this.store));
	}

	@Test
	void callsOfTheThreadsOfTheLibraryTakeTheirOwn() throws Exception {
		try (Scheduler scheduler = Scheduler.system()) {
			expect(0, 1,
					() -> CompletableFuture.runAsync(() -> claim(this.store), scheduler.threads("test", 1))
						.orTimeout(1, TimeUnit.MINUTES)
						.join());
			expect(1, 0,
					() -> CompletableFuture.runAsync(() -> this.store.purge(1), scheduler.threads("test", 1))
						.orTimeout(1, TimeUnit.MINUTES)
						.join());
		}
	}

	@Test
	void singleConnectionServesRenewalsAndCalls() {
		JdbcIdempotencyStore small = store(1);
		Claim claim = claim(small);
		expect(1, 1, () -> this.transaction.executeWithoutResult((status) -> claim(small)));
		expect(0, 1, () -> small.renew(claim.key(), claim.id(), Duration.ofSeconds(30)));
	}

	@Test
	void keepsOneConnectionForRenewals() throws Exception {
		DedicatedConnections three = connections(3);
		three.open(Use.CALL, AT_ONCE);
		three.open(Use.CALL, AT_ONCE);
		assertThatExceptionOfType(SQLTransientConnectionException.class).isThrownBy(() -> three.open(Use.CALL, AT_ONCE))
			.withMessageContaining("No dedicated connection was available within 1 ms");
		assertThat(three.open(Use.RENEWAL, AT_ONCE)).isNotNull();
		three.released(Use.RENEWAL);
		assertThatExceptionOfType(SQLTransientConnectionException.class)
			.isThrownBy(() -> three.open(Use.CALL, AT_ONCE));
		three.released(Use.CALL);
		assertThat(three.open(Use.CALL, AT_ONCE)).isNotNull();
	}

	@Test
	void waitingCallGetsReleasedConnection() throws Exception {
		DedicatedConnections two = connections(2);
		two.open(Use.CALL, AT_ONCE);
		CompletableFuture<Connection> waiting = CompletableFuture.supplyAsync(() -> {
			try {
				return two.open(Use.CALL, Duration.ofMinutes(1));
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		});
		two.released(Use.CALL);
		assertThat(waiting.get(1, TimeUnit.MINUTES)).isNotNull();
	}

	@Test
	void interruptEndsTheWait() throws Exception {
		DedicatedConnections two = connections(2);
		two.open(Use.CALL, AT_ONCE);
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(SQLTransientConnectionException.class)
			.isThrownBy(() -> two.open(Use.CALL, Duration.ofMinutes(1)))
			.withMessageContaining("Interrupted");
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void failedConnectionsAreReleased() {
		this.dedicated.fails = true;
		this.transaction.executeWithoutResult((status) -> {
			for (int i = 0; i < 4; i++) {
				assertThatExceptionOfType(StoreNotReachedException.class).isThrownBy(() -> claim(this.store))
					.withStackTraceContaining("too many clients");
			}
			this.dedicated.fails = false;
			for (int i = 0; i < 4; i++) {
				expect(0, 1, () -> claim(this.store));
			}
		});
	}

	/** The clock of H2 would stand still on the connection of the caller. */
	@Test
	void lookOfACallerTakesItsOwn() {
		expect(1, 1, () -> this.transaction.executeWithoutResult((status) -> look()));
	}

	/** It would be too early for what the caller wants to read later. */
	@Test
	void lookDoesNotFixTheViewOfTheCaller() {
		TransactionTemplate strict = new TransactionTemplate(this.transaction.getTransactionManager());
		for (int isolation : new int[] { TransactionDefinition.ISOLATION_READ_UNCOMMITTED,
				TransactionDefinition.ISOLATION_REPEATABLE_READ, TransactionDefinition.ISOLATION_SERIALIZABLE }) {
			strict.setIsolationLevel(isolation);
			expect(1, 1, () -> strict.executeWithoutResult((status) -> look()));
		}
	}

	private void look() {
		assertThat(this.store.find(request().key(), Fingerprint.NONE)).isEmpty();
	}

	@Test
	void thereIsAtLeastOne() {
		assertThatIllegalArgumentException().isThrownBy(() -> connections(0)).withMessageContaining("not 0");
	}

	/** Counts the connections that are taken. */
	private static final class Counting extends DelegatingDataSource {

		volatile int taken;

		volatile boolean fails;

		Counting(DataSource target) {
			super(target);
		}

		@Override
		public Connection getConnection() throws SQLException {
			if (this.fails) {
				throw new SQLTransientConnectionException("too many clients");
			}
			this.taken++;
			return super.getConnection();
		}

	}

}
