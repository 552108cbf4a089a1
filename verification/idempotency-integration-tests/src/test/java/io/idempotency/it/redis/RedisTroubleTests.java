package io.idempotency.it.redis;

import java.time.Duration;

import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.OwnWork;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.ClaimId;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** A Redis that answers every question and takes no claim. */
@Requires(Backend.REDIS)
class RedisTroubleTests {

	private final RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);

	private final LettuceConnectionFactory factory = RedisClients.lettuce(this.server);

	private final RedisIdempotencyStore store = new RedisIdempotencyStore(this.factory);

	private final IdempotencyEngine engine = new IdempotencyEngine(10, (event, operation) -> {
	});

	@AfterEach
	void close() {
		this.engine.close(Duration.ZERO);
		this.store.close();
		this.factory.destroy();
		this.server.close();
	}

	@Test
	void engineKnowsThatRedisIsFull() throws Throwable {
		this.server.command("CONFIG", "SET", "maxmemory", "1");
		assertTrouble("OOM");
		this.server.command("CONFIG", "SET", "maxmemory", "0");
		await().ignoreExceptionsInstanceOf(IdempotencyStoreUnavailableException.class)
			.until(() -> "paid".equals(call("later")));
		await().until(() -> this.engine.trouble(this.store) == null);
	}

	@Test
	void engineKnowsThatRedisIsReadOnly() throws Throwable {
		this.server.command("REPLICAOF", "127.0.0.1", "1");
		assertTrouble("READONLY");
	}

	private void assertTrouble(String text) {
		for (int i = 0; i < 5; i++) {
			String key = "key-" + i;
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class).isThrownBy(() -> call(key));
		}
		assertThat(this.store.renew(key("probe"), ClaimId.random(), Duration.ofSeconds(1))).isFalse();
		assertThat(this.engine.trouble(this.store)).hasStackTraceContaining(text);
	}

	private @Nullable Object call(String key) throws Exception {
		try {
			return this.engine.execute(
					new GuardedCall(key(key), Fingerprint.NONE,
							IdempotencyOptions.DEFAULTS.change().operation("payments").build(), this.store),
					OwnWork.of(() -> "paid"));
		}
		catch (RuntimeException ex) {
			throw ex;
		}
		catch (Throwable ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static IdempotencyKey key(String key) {
		return IdempotencyKey.of("payments", Caller.GLOBAL, key);
	}

}
