package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Function;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What a call is told, far sooner than a client of its own accord would tell it, and
 * whether it may have been applied.
 */
@Requires(Backend.REDIS)
class RedisStoreTimeoutTests {

	private static final Duration SOON = Duration.ofMillis(500);

	private RedisServer server;

	@BeforeEach
	void start() {
		this.server = RedisServer.start(RedisBinary.REDIS_7_0);
	}

	@AfterEach
	void stop() {
		this.server.close();
	}

	@Nested
	class LettuceThatNobodyTuned {

		@Test
		void everyVerbThatAServerDoesNotAnswerMayHaveBeenApplied() {
			withStore(RedisClients::untunedLettuce, (store) -> {
				Claim claim = awaitClaim(store);
				RedisStoreTimeoutTests.this.server.pause();
				expectDoubt(() -> store.claim(Requests.claim()));
				expectDoubt(() -> store.complete(Requests.result(claim)));
				expectDoubt(() -> store.release(claim.key(), claim.id()));
				expectDoubt(() -> store.renew(claim.key(), claim.id(), Requests.LONG));
				expectDoubt(() -> store.renewAll(List.of(new Renewal(claim.key(), claim.id(), Requests.LONG))));
				expectDoubt(() -> store.issue(IdempotencyKey.ofToken(Caller.GLOBAL, UUID.randomUUID().toString()),
						Requests.LONG));
				RedisStoreTimeoutTests.this.server.resume();
				assertThat(awaitClaim(store).abandoned()).isFalse();
			});
		}

		@Test
		void serverThatStandsStillWhenItIsConnectedToWasNotReached() {
			RedisStoreTimeoutTests.this.server.pause();
			withStore(RedisClients::untunedLettuce, (store) -> {
				expectNotReached(() -> store.claim(Requests.claim()));
				expectNotReached(
						() -> store.renewAll(List.of(new Renewal(Requests.key(), ClaimId.random(), Requests.LONG))));
				RedisStoreTimeoutTests.this.server.resume();
				awaitClaim(store);
			});
		}

		@Test
		void serverThatIsNotThereWasNotReached() {
			RedisStoreTimeoutTests.this.server.kill();
			withStore(RedisClients::untunedLettuce, (store) -> {
				expectNotReached(() -> store.claim(Requests.claim()));
				RedisStoreTimeoutTests.this.server.restart();
				awaitClaim(store);
			});
		}

		/**
		 * Lettuce keeps commands for the time when it is connected again; one that nobody
		 * waits for any more must not be among them.
		 */
		@Test
		void claimThatWaitedForTheConnectionInVainIsNeverSent() {
			withStore(RedisClients::untunedLettuce, (store) -> {
				awaitClaim(store);
				RedisStoreTimeoutTests.this.server.kill();
				awaitDisconnected(store);
				ClaimRequest given = Requests.claim();
				expectNotReached(() -> store.claim(given));
				RedisStoreTimeoutTests.this.server.restart();
				awaitClaim(store);
				assertThat(RedisStoreTimeoutTests.this.server.command("EXISTS", RedisRecords.key(given.key())))
					.isEqualTo(0L);
			});
		}

	}

	@Test
	void lettuceThatRejectsWhileItIsDisconnectedDidNotReachTheServer() {
		withStore(RedisClients::impatientLettuce, (store) -> {
			awaitClaim(store);
			this.server.kill();
			awaitDisconnected(store);
			expectNotReached(() -> store.claim(Requests.claim()));
			expectNotReached(
					() -> store.renewAll(List.of(new Renewal(Requests.key(), ClaimId.random(), Requests.LONG))));
		});
	}

	@Test
	void lettuceWhosePoolIsExhaustedDidNotReachTheServer() {
		RedisConnectionFactory connections = RedisClients.pooledLettuce(this.server.port());
		try (RedisIdempotencyStore store = store(connections)) {
			RedisConnection taken = connections.getConnection();
			taken.ping();
			expectNotReached(() -> store.claim(Requests.claim()));
			taken.close();
			awaitClaim(store);
		}
		finally {
			destroy(connections);
		}
	}

	@Test
	void jedisThatIsNotAnsweredMayHaveBeenHeard() {
		withStore(RedisClients::impatientJedis, (store) -> {
			awaitClaim(store);
			this.server.pause();
			expectDoubt(() -> store.claim(Requests.claim()));
			this.server.resume();
		});
	}

	@Test
	void jedisThatCannotConnectDidNotReachTheServer() {
		this.server.kill();
		withStore(RedisClients::impatientJedis, (store) -> {
			expectNotReached(() -> store.claim(Requests.claim()));
			expectNotReached(
					() -> store.renewAll(List.of(new Renewal(Requests.key(), ClaimId.random(), Requests.LONG))));
		});
	}

	@Test
	void jedisWhosePoolIsExhaustedDidNotReachTheServer() {
		RedisConnectionFactory connections = RedisClients.impatientJedis(this.server.port());
		try (RedisIdempotencyStore store = store(connections)) {
			RedisConnection taken = connections.getConnection();
			// Only now a newer Jedis takes one from the pool.
			taken.openPipeline();
			expectNotReached(() -> store.claim(Requests.claim()));
			expectNotReached(
					() -> store.renewAll(List.of(new Renewal(Requests.key(), ClaimId.random(), Requests.LONG))));
			taken.closePipeline();
			taken.close();
			awaitClaim(store);
		}
		finally {
			destroy(connections);
		}
	}

	private void withStore(Function<Integer, RedisConnectionFactory> client, Consumer<RedisIdempotencyStore> test) {
		RedisConnectionFactory connections = client.apply(this.server.port());
		try (RedisIdempotencyStore store = store(connections)) {
			test.accept(store);
		}
		finally {
			destroy(connections);
		}
	}

	private static RedisIdempotencyStore store(RedisConnectionFactory connections) {
		return new RedisIdempotencyStore(connections, "test:", SOON);
	}

	private static void destroy(RedisConnectionFactory connections) {
		try {
			((DisposableBean) connections).destroy();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void expectDoubt(Runnable verb) {
		assertThatExceptionOfType(IdempotencyStoreException.class).isThrownBy(verb::run)
			.isNotInstanceOf(StoreNotReachedException.class)
			.withMessageContaining("failed to execute");
	}

	private static void expectNotReached(Runnable verb) {
		assertThatExceptionOfType(StoreNotReachedException.class).isThrownBy(verb::run)
			.withMessageContaining("could not be reached");
	}

	/** A connection that was just lost may still take a command along. */
	private static void awaitDisconnected(RedisIdempotencyStore store) {
		await().atMost(Duration.ofSeconds(60)).until(() -> {
			try {
				store.claim(Requests.claim());
				return false;
			}
			catch (StoreNotReachedException ex) {
				return true;
			}
			catch (IdempotencyStoreException ex) {
				return false;
			}
		});
	}

	private static Claim awaitClaim(RedisIdempotencyStore store) {
		return awaitAnswer(() -> store.claim(Requests.claim()), ClaimResult.Acquired.class).claim();
	}

	/**
	 * A busy machine may need longer than the bound for the first commands of a client.
	 */
	private static <T> T awaitAnswer(Callable<ClaimResult> verb, Class<T> expected) {
		return expected.cast(await().atMost(Duration.ofSeconds(60))
			.ignoreExceptionsInstanceOf(IdempotencyStoreException.class)
			.until(verb, expected::isInstance));
	}

}
