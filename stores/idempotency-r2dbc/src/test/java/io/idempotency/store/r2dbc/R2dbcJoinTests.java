package io.idempotency.store.r2dbc;

import java.time.Duration;
import java.util.function.Function;

import io.idempotency.it.store.Requests;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.NoTransactionToJoinException;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.transaction.reactive.TransactionalOperator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The form of the store that joins the transaction of its subscriber. */
class R2dbcJoinTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource
	void recordCommitsWithTheTransaction(R2dbcIdempotencyStoreTests.Server server) {
		run(server, (there) -> {
			ClaimRequest request = Requests.claim();
			assertThat(there.inTransaction(there.claimAndComplete(request))).isTrue();
			assertThat(there.store.claim(Requests.claim(request.key())).block(PATIENCE))
				.isInstanceOf(ClaimResult.Completed.class);
			return null;
		});
	}

	@Test
	void conflictThatTheDriverDoesNotClassifyIsAConcurrencyFailure() {
		assertThat(JoinedConnections.lost("claim", new R2dbcNonTransientResourceException("changed", "HY000", 1020)))
			.hasCauseInstanceOf(ConcurrencyFailureException.class);
	}

	@ParameterizedTest
	@EnumSource
	void recordIsRolledBackWithTheTransaction(R2dbcIdempotencyStoreTests.Server server) {
		run(server, (there) -> {
			ClaimRequest request = Requests.claim();
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> there.inTransaction(there.claimAndComplete(request)
					.then(Mono.error(new IllegalStateException("It fails on purpose")))));
			assertThat(there.store.claim(Requests.claim(request.key())).block(PATIENCE))
				.isInstanceOf(ClaimResult.Acquired.class);
			return null;
		});
	}

	@ParameterizedTest
	@EnumSource
	void releaseInTheTransactionLeavesNothing(R2dbcIdempotencyStoreTests.Server server) {
		run(server, (there) -> {
			ClaimRequest request = Requests.claim();
			assertThat(there.inTransaction(
					there.joining.claim(request).then(there.joining.release(request.key(), request.claimId()))))
				.isTrue();
			assertThat(there.store.claim(Requests.claim(request.key())).block(PATIENCE))
				.isInstanceOf(ClaimResult.Acquired.class);
			return null;
		});
	}

	/** As it does for a claim that hangs in its commit. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void releaseWaitsForAClaimThatNobodySees(R2dbcIdempotencyStoreTests.Server server) {
		run(server, (there) -> {
			ClaimRequest request = Requests.claim();
			R2dbcIdempotencyStore soon = new R2dbcIdempotencyStore(there.database.connections(), null,
					R2dbcIdempotencyStore.DEFAULT_TABLE_NAME, Duration.ofSeconds(1), Duration.ofSeconds(1));
			Mono<Boolean> release = soon.release(request.key(), request.claimId());
			assertThat(there.inTransaction(there.joining.claim(request)
				.then(release)
				.onErrorResume(IdempotencyStoreException.class, (hidden) -> Mono.just(false)))).isFalse();
			assertThat(release.block(PATIENCE)).isTrue();
			assertThat(there.store.claim(Requests.claim(request.key())).block(PATIENCE))
				.isInstanceOf(ClaimResult.Acquired.class);
			return null;
		});
	}

	@ParameterizedTest
	@EnumSource
	void otherTransactionsAreNoneToJoin(R2dbcIdempotencyStoreTests.Server server) {
		run(server, (there) -> {
			Mono<ClaimResult> claim = there.joining.claim(Requests.claim());
			assertThatExceptionOfType(NoTransactionToJoinException.class).isThrownBy(() -> claim.block(PATIENCE));
			TransactionalOperator other = TransactionalOperator
				.create(new R2dbcTransactionManager(there.database.connections()));
			assertThatExceptionOfType(NoTransactionToJoinException.class)
				.isThrownBy(() -> other.transactional(claim).block(PATIENCE));
			return null;
		});
	}

	/** Whether it stays usable is for the claim to say. */
	@ParameterizedTest
	@EnumSource
	void claimWaitsForAnotherTransactionNoLongerThanItMay(R2dbcIdempotencyStoreTests.Server server) {
		run(server, (there) -> {
			ClaimRequest first = Requests.claim();
			Sinks.Empty<Void> gate = Sinks.empty();
			Sinks.Empty<Void> claimed = Sinks.empty();
			Disposable open = there.operator
				.transactional(
						there.claimAndComplete(first).doOnNext((done) -> claimed.tryEmitEmpty()).then(gate.asMono()))
				.subscribe();
			claimed.asMono().block(PATIENCE);
			ClaimRequest second = Requests.claim(first.key());
			assertThat(there.operator.execute((transaction) -> {
				transaction.setRollbackOnly();
				return there.joining.claim(alone(second, true));
			}).blockLast(PATIENCE)).isInstanceOf(ClaimResult.InProgress.class);
			ClaimRequest other = Requests.claim();
			assertThat(there.inTransaction(there.joining.claim(alone(second, false))
				.doOnNext((result) -> assertThat(result).isInstanceOf(ClaimResult.InProgress.class))
				.then(there.claimAndComplete(other)))).isTrue();
			assertThat(there.store.claim(Requests.claim(other.key())).block(PATIENCE))
				.isInstanceOf(ClaimResult.Completed.class);
			gate.tryEmitEmpty();
			assertThat(there.inTransaction(there.joining.claim(alone(second, true))))
				.isInstanceOf(ClaimResult.Completed.class);
			// Its commit is seen on another connection before it is on its own.
			await().until(open::isDisposed);
			return null;
		});
	}

	private static ClaimRequest alone(ClaimRequest request, boolean alone) {
		return request.withNewTransaction(alone);
	}

	private static void run(R2dbcIdempotencyStoreTests.Server server, Function<There, @Nullable Void> test) {
		TestDatabase database = server.newDatabase().withTable();
		ConnectionPool pool = database.pool(4);
		try {
			R2dbcIdempotencyStore store = new R2dbcIdempotencyStore(pool, null,
					R2dbcIdempotencyStore.DEFAULT_TABLE_NAME, Duration.ofSeconds(1), PATIENCE);
			test.apply(new There(database, store, store.joining().orElseThrow(),
					TransactionalOperator.create(new R2dbcTransactionManager(pool))));
			// The driver of MySQL gives its connection back after the value.
			await().untilAsserted(() -> assertThat(pool.getMetrics().orElseThrow().acquiredSize()).isZero());
		}
		finally {
			pool.dispose();
		}
	}

	/** A database, its store and its transactions. */
	private record There(TestDatabase database, R2dbcIdempotencyStore store, ReactiveIdempotencyStore joining,
			TransactionalOperator operator) {

		<T> T inTransaction(Mono<T> work) {
			return this.operator.transactional(work).block(PATIENCE);
		}

		Mono<Boolean> claimAndComplete(ClaimRequest request) {
			return this.joining.claim(alone(request, false))
				.flatMap((result) -> this.joining.complete(Requests.result(((ClaimResult.Acquired) result).claim())));
		}

	}

}
