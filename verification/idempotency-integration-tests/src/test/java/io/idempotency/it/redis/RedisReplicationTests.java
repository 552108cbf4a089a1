package io.idempotency.it.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.idempotency.it.store.Requests;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.redis.RedisIdempotencyStore;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.store.OwnThread;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * {@code wait-replicas}: a claim or a completion counts only when a replica has it. The
 * tests wait together, each for servers of its own.
 */
@EachRedis
@Execution(ExecutionMode.CONCURRENT)
class RedisReplicationTests {

	private static final Duration WAIT = Duration.ofSeconds(30);

	/** For what cannot be on the replica. */
	private static final Duration SHORT_WAIT = Duration.ofMillis(300);

	/**
	 * A server of version 7.0 takes every command for a write of its connection. Only a
	 * newer one shows whether a repeated verb writes anything to wait for.
	 */
	private final RedisServer master = RedisServer.start(RedisBinary.REDIS_7_4);

	private final RedisServer replica = RedisServer.startReplica(this.master);

	private final TestRedis redis;

	private final RedisConnectionFactory connections;

	private final RedisIdempotencyStore store;

	private final RedisIdempotencyStore impatient;

	RedisReplicationTests(TestRedis redis) {
		this.redis = redis;
		this.connections = redis.connect(this.master.port());
		this.store = new RedisIdempotencyStore(this.connections, "test:", 1, WAIT, RedisClients.PATIENT);
		this.impatient = new RedisIdempotencyStore(this.connections, "test:", 1, SHORT_WAIT, RedisClients.PATIENT);
	}

	@AfterEach
	void stop() throws Exception {
		this.impatient.close();
		this.store.close();
		((DisposableBean) this.connections).destroy();
		this.replica.close();
		this.master.close();
	}

	@Test
	void acceptedWritesAreOnTheReplica() {
		for (int i = 0; i < 50; i++) {
			ClaimRequest request = Requests.claim();
			Claim claim = Requests.acquire(this.store, request);
			assertThat(RedisRecords.state(this.replica, claim)).isEqualTo('R');
			assertThat(this.store.complete(Requests.result(claim))).isTrue();
			assertThat(RedisRecords.state(this.replica, claim)).isEqualTo('D');
		}
	}

	@Test
	void claimThatTheReplicaDoesNotHaveIsReleasedAndFails() {
		Requests.acquire(this.store, Requests.claim());
		this.replica.pause();
		ClaimRequest request = Requests.claim();
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> this.impatient.claim(request))
			.withMessage("Only 0 of 1 Redis replicas have 'claim' after 300 ms");
		assertThat(this.master.command("GET", RedisRecords.key(request.key()))).isNull();
		this.replica.resume();
		assertThat(Requests.acquire(this.store, request).abandoned()).isFalse();
	}

	@Test
	void completionThatTheReplicaDoesNotHaveFailsUntilItHasIt() {
		Claim claim = Requests.acquire(this.store, Requests.claim());
		this.replica.pause();
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> this.impatient.complete(Requests.result(claim)))
			.withMessageContaining("'complete'");
		// Sent once more it finds itself, and must not take that for an answer of the
		// replica.
		assertThatExceptionOfType(IdempotencyStoreException.class)
			.isThrownBy(() -> this.impatient.complete(Requests.result(claim)));
		this.replica.resume();
		assertThat(this.store.complete(Requests.result(claim))).isTrue();
		assertThat(RedisRecords.state(this.replica, claim)).isEqualTo('D');
	}

	/**
	 * What finds itself was written on another connection, and on one that has written
	 * nothing a server waits for nothing.
	 */
	@Test
	void whatFindsItselfWaitsForTheReplicaToo() throws Exception {
		this.replica.pause();
		ClaimRequest once = ClaimRequest.of(Requests.key(), Requests.LONG, Requests.LONG).withType(ClaimType.ONCE);
		ClaimRequest leased = Requests.claim();
		Claim done;
		try (RedisIdempotencyStore careless = new RedisIdempotencyStore(this.connections, "test:", 0, WAIT,
				RedisClients.PATIENT)) {
			Requests.acquire(careless, once);
			Requests.acquire(careless, leased);
			done = Requests.acquire(careless, Requests.claim());
			assertThat(careless.complete(Requests.result(done))).isTrue();
		}
		expectTooFew((fresh) -> fresh.claim(once));
		expectTooFew((fresh) -> fresh.claim(leased));
		expectTooFew((fresh) -> fresh.complete(Requests.result(done)));
		this.replica.resume();
	}

	private void expectTooFew(Consumer<RedisIdempotencyStore> verb) throws Exception {
		RedisConnectionFactory others = this.redis.connect(this.master.port());
		try (RedisIdempotencyStore fresh = new RedisIdempotencyStore(others, "test:", 1, SHORT_WAIT,
				RedisClients.PATIENT)) {
			assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(() -> verb.accept(fresh))
				.withMessageContaining("Only 0 of 1");
		}
		finally {
			((DisposableBean) others).destroy();
		}
	}

	@Test
	void duplicatesAreAnsweredWithoutTheReplica() {
		Claim done = Requests.acquire(this.store, Requests.claim());
		this.store.complete(Requests.result(done));
		Claim running = Requests.acquire(this.store, Requests.claim());
		this.replica.pause();
		assertThat(this.store.claim(Requests.claim(done.key()))).isInstanceOf(ClaimResult.Completed.class);
		assertThat(this.store.claim(Requests.claim(running.key()))).isInstanceOf(ClaimResult.InProgress.class);
		assertThat(this.store.renew(running.key(), running.id(), Duration.ofHours(1))).isTrue();
		assertThat(this.store.release(running.key(), running.id())).isTrue();
		this.replica.resume();
	}

	@Test
	void waitingHoldsUpNobodyElse() throws Exception {
		Requests.acquire(this.store, Requests.claim());
		this.replica.pause();
		ClaimRequest request = Requests.claim();
		CompletableFuture<ClaimResult> waiting = OwnThread.supply(() -> this.store.claim(request));
		await().atMost(Duration.ofSeconds(60))
			.until(() -> this.master.info("clients").getProperty("blocked_clients").trim().equals("1"));
		RedisIdempotencyStore other = new RedisIdempotencyStore(this.connections);
		Requests.acquire(other, Requests.claim());
		assertThat(waiting).isNotDone();
		this.replica.resume();
		assertThat(waiting.get(60, TimeUnit.SECONDS)).isInstanceOf(ClaimResult.Acquired.class);
	}

	@Test
	void verifyIsContentWithEnoughReplicas() {
		this.store.verify();
		assertThat(this.master.info("replication")).containsEntry("connected_slaves", "1");
	}

}
