package io.idempotency.it.store;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;

import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.messaging.KafkaBackOff;
import io.idempotency.store.ClaimId;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisScriptingCommands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Exceptions whose causes are a ring: whoever follows them to their end never comes back.
 */
class CauseRingTests {

	private static final Duration LONG = Duration.ofSeconds(20);

	private final RuntimeException ring = ring();

	private static RuntimeException ring() {
		RuntimeException outer = new IllegalStateException("outer", new IllegalArgumentException("inner"));
		outer.getCause().initCause(outer);
		return outer;
	}

	@Test
	void backOffOfKafka() {
		assertTimeoutPreemptively(LONG,
				() -> assertThat(
						new KafkaBackOff().apply(new ConsumerRecord<>("topic", 0, 0, "key", "value"), this.ring))
					.isNull());
	}

	@Test
	void storeOnRedis() {
		RedisScriptingCommands scripts = proxy(RedisScriptingCommands.class, (self, method, arguments) -> {
			throw this.ring;
		});
		RedisConnection connection = proxy(RedisConnection.class,
				(self, method, arguments) -> method.getName().equals("scriptingCommands") ? scripts : null);
		RedisConnectionFactory factory = proxy(RedisConnectionFactory.class,
				(self, method, arguments) -> method.getName().equals("getConnection") ? connection : null);
		try (RedisIdempotencyStore store = new RedisIdempotencyStore(factory)) {
			assertTimeoutPreemptively(LONG,
					() -> assertThatExceptionOfType(IdempotencyStoreException.class)
						.isThrownBy(
								() -> store.renew(IdempotencyKey.of("pay", Caller.GLOBAL, "1"), ClaimId.random(), LONG))
						.withCause(this.ring));
		}
	}

	@Test
	void questionWhetherRedisRejectsTheUser() {
		RedisConnectionFactory factory = proxy(RedisConnectionFactory.class, (self, method, arguments) -> {
			if (method.getName().equals("getConnection")) {
				throw this.ring;
			}
			return null;
		});
		try (RedisIdempotencyStore store = new RedisIdempotencyStore(factory)) {
			assertThatCode(store::verify).doesNotThrowAnyException();
		}
	}

	private static <T> T proxy(Class<T> type, InvocationHandler handler) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, handler));
	}

}
