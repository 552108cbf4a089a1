package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.it.store.Requests;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoreNotReachedException;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Connections and the table. */
class R2dbcIdempotencyStoreTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final String TABLE = R2dbcIdempotencyStore.DEFAULT_TABLE_NAME;

	@ParameterizedTest
	@EnumSource
	void poolOfOneServesManyCallers(Server server) {
		ConnectionPool pool = server.newDatabase().withTable().pool(1);
		try {
			List<ClaimResult> results = Flux.range(0, 100)
				.flatMap((i) -> store(pool, PATIENCE).claim(Requests.claim()), 100)
				.collectList()
				.block(PATIENCE);
			assertThat(results).hasSize(100).hasOnlyElementsOfType(ClaimResult.Acquired.class);
			assertAllAreGivenBack(pool);
		}
		finally {
			pool.dispose();
		}
	}

	@ParameterizedTest
	@EnumSource
	void cancelledCallsGiveTheirConnectionsBack(Server server) {
		ConnectionPool pool = server.newDatabase().withTable().pool(2);
		try {
			R2dbcIdempotencyStore store = store(pool, PATIENCE);
			for (int i = 0; i < 100; i++) {
				store.claim(Requests.claim()).subscribe().dispose();
			}
			assertThat(store.claim(Requests.claim()).block(PATIENCE)).isInstanceOf(ClaimResult.Acquired.class);
			assertAllAreGivenBack(pool);
		}
		finally {
			pool.dispose();
		}
	}

	@ParameterizedTest
	@EnumSource
	void connectionThatComesTooLateIsGivenBack(Server server) {
		ConnectionPool pool = server.newDatabase().withTable().pool(1);
		try {
			Connection held = Objects.requireNonNull(pool.create().block(PATIENCE));
			assertThatExceptionOfType(StoreNotReachedException.class)
				.isThrownBy(() -> store(pool, Duration.ofMillis(200)).claim(Requests.claim()).block(PATIENCE))
				.withStackTraceContaining("No connection was available in time");
			Flux.from(held.close()).blockLast(PATIENCE);
			assertThat(store(pool, PATIENCE).claim(Requests.claim()).block(PATIENCE))
				.isInstanceOf(ClaimResult.Acquired.class);
			assertAllAreGivenBack(pool);
		}
		finally {
			pool.dispose();
		}
	}

	/** Else many new calls would keep the claims of running ones from being renewed. */
	@ParameterizedTest
	@EnumSource
	void reservedConnectionsKeepClaimsAndNewCallsTakeTheOthers(Server server) {
		TestDatabase database = server.newDatabase().withTable();
		ConnectionPool pool = database.pool(1);
		ConnectionPool reserved = database.pool(1);
		try {
			IdempotencyStore store = new R2dbcIdempotencyStore(pool, reserved, TABLE, Duration.ofSeconds(5), PATIENCE)
				.blocking();
			Connection heldReserved = Objects.requireNonNull(reserved.create().block(PATIENCE));
			ClaimRequest claim = Requests.claim();
			assertThat(store.claim(claim)).isInstanceOf(ClaimResult.Acquired.class);
			Flux.from(heldReserved.close()).blockLast(PATIENCE);
			Connection held = Objects.requireNonNull(pool.create().block(PATIENCE));
			assertThat(store.renew(claim.key(), claim.claimId(), Requests.LONG)).isTrue();
			assertThat(store.renewAll(List.of(new Renewal(claim.key(), claim.claimId(), Requests.LONG)))).isEmpty();
			assertThat(store.release(claim.key(), claim.claimId())).isTrue();
			Flux.from(held.close()).blockLast(PATIENCE);
		}
		finally {
			pool.dispose();
			reserved.dispose();
		}
	}

	/** Neither their answers nor the time-outs may wait for the threads that wait. */
	@ParameterizedTest
	@EnumSource
	void threadsOfTheTimersMayWait(Server server) {
		ConnectionPool pool = server.newDatabase().withTable().pool(1);
		try {
			IdempotencyStore store = store(pool, PATIENCE).blocking();
			assertThat(onTimers(() -> store.claim(Requests.claim()))).hasOnlyElementsOfType(ClaimResult.Acquired.class);
			Connection held = Objects.requireNonNull(pool.create().block(PATIENCE));
			IdempotencyStore hasty = store(pool, Duration.ofMillis(200)).blocking();
			assertThat(onTimers(() -> Assertions.catchThrowable(() -> hasty.claim(Requests.claim()))))
				.hasOnlyElementsOfType(StoreNotReachedException.class);
			Flux.from(held.close()).blockLast(PATIENCE);
			assertAllAreGivenBack(pool);
		}
		finally {
			pool.dispose();
		}
	}

	/** As often as there are threads, on one of them: one turn is that thread's own. */
	private static <T> List<T> onTimers(Supplier<T> call) {
		return Objects.requireNonNull(
				Mono.fromCallable(() -> Stream.generate(call).limit(Schedulers.DEFAULT_POOL_SIZE + 1L).toList())
					.subscribeOn(Schedulers.parallel())
					.block(PATIENCE));
	}

	/**
	 * The driver of H2 blocks, and no timer of the JVM may wait for it.
	 */
	@ParameterizedTest
	@EnumSource
	void stormOfCancelsTimeoutsAndFailuresLosesNoConnection(Server server) {
		TestDatabase database = server.newDatabase().withTable();
		TroubledConnections connections = new TroubledConnections(database.connections(), database.slowStatement());
		ConnectionPool pool = TestDatabase.pool(connections, 4);
		try {
			R2dbcIdempotencyStore store = store(pool, Duration.ofMillis(300));
			Random random = new Random(30);
			List<IdempotencyKey> keys = Stream.generate(Requests::key).limit(20).toList();
			AtomicInteger answers = new AtomicInteger();
			AtomicInteger failures = new AtomicInteger();
			Flux.range(0, 600).flatMap((i) -> {
				Mono<Boolean> call = store.claim(Requests.claim(keys.get(random.nextInt(keys.size()))))
					.flatMap((result) -> (result instanceof ClaimResult.Acquired acquired)
							? store.complete(Requests.result(acquired.claim())) : Mono.just(false))
					.doOnNext((answer) -> answers.incrementAndGet())
					.doOnError((failure) -> failures.incrementAndGet())
					.onErrorComplete(IdempotencyStoreException.class);
				return (i % 3 == 0) ? call.take(Duration.ofMillis(random.nextInt(30))) : call;
			}, 64).blockLast(PATIENCE);
			assertThat(answers).hasPositiveValue();
			assertThat(failures).hasPositiveValue();
			assertAllAreGivenBack(pool);
			assertThat(pool.getMetrics().orElseThrow().allocatedSize()).isLessThanOrEqualTo(4);
			if (server == Server.H2) {
				assertThat(connections.onTimers()).isEmpty();
			}
		}
		finally {
			pool.dispose();
		}
	}

	@ParameterizedTest
	@EnumSource
	void tableIsMadeOnceAndMissedBefore(Server server) {
		R2dbcSchema schema = new R2dbcSchema(server.newDatabase().connections(), TABLE);
		assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(schema::verify)
			.withMessageContaining("is probably missing")
			.satisfies((ex) -> assertThat(ex.action()).contains("idempotency.jdbc.initialize-schema"));
		schema.create();
		schema.create();
		schema.verify();
		assertThat(schema.isEmbedded()).isEqualTo(server == Server.H2);
	}

	@ParameterizedTest
	@EnumSource
	void tableWithoutItsKeyFailsTheStart(Server server) {
		TestDatabase database = server.newDatabase().withTable();
		database.jdbc().jdbc().execute("create table keyless as select * from " + TABLE);
		assertThatExceptionOfType(IdempotencyConfigurationException.class)
			.isThrownBy(() -> new R2dbcSchema(database.connections(), "keyless").verify())
			.withMessageContaining("no primary key on key_hash");
	}

	@ParameterizedTest
	@EnumSource
	void expiredRecordsArePurged(Server server) {
		TestDatabase database = server.newDatabase().withTable();
		R2dbcIdempotencyStore store = store(database.pool(2), PATIENCE);
		for (int i = 0; i < 5; i++) {
			store.claim(Requests.claim(Requests.key(), Requests.SHORT, Requests.SHORT)).block(PATIENCE);
		}
		store.claim(Requests.claim()).block(PATIENCE);
		assertThat(store.purge(3).block(PATIENCE)).isEqualTo(3);
		assertThat(store.purge(3).block(PATIENCE)).isEqualTo(2);
		assertThat(store.purge(3).block(PATIENCE)).isZero();
	}

	private static R2dbcIdempotencyStore store(ConnectionPool pool, Duration storeTimeout) {
		return new R2dbcIdempotencyStore(pool, null, TABLE, Duration.ofSeconds(5), storeTimeout);
	}

	private static void assertAllAreGivenBack(ConnectionPool pool) {
		Awaitility.await()
			.atMost(PATIENCE)
			.untilAsserted(() -> assertThat(pool.getMetrics().orElseThrow()).satisfies((metrics) -> {
				assertThat(metrics.pendingAcquireSize()).isZero();
				assertThat(metrics.acquiredSize()).isZero();
			}));
	}

	enum Server {

		H2, POSTGRESQL, MARIADB, MARIADB_AS_MYSQL;

		TestDatabase newDatabase() {
			return switch (this) {
				case H2 -> TestDatabase.h2();
				case POSTGRESQL -> TestDatabase.postgreSql();
				case MARIADB -> TestDatabase.mariaDb();
				case MARIADB_AS_MYSQL -> TestDatabase.mariaDbAsMySql();
			};
		}

	}

}
