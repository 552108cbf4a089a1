package io.idempotency.tests.redis;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.engine.EngineIdempotencyTemplate;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.IdempotencyEvent;
import io.idempotency.engine.IdempotencyPolicy;
import io.idempotency.engine.ResultCodec;
import io.idempotency.store.StoredResult;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * One node of an application: connections, a store and an engine of its own.
 */
final class Node implements AutoCloseable {

	private final RedisConnectionFactory connectionFactory;

	private final RedisIdempotencyStore store;

	private final IdempotencyEngine engine;

	private final IdempotencyTemplate template;

	private final Map<IdempotencyEvent, LongAdder> events = new ConcurrentHashMap<>();

	Node(RedisConnectionFactory connectionFactory) {
		this(connectionFactory, 0);
	}

	Node(RedisConnectionFactory connectionFactory, int waitReplicas) {
		this.connectionFactory = connectionFactory;
		this.store = new RedisIdempotencyStore(connectionFactory, RedisIdempotencyStore.DEFAULT_KEY_PREFIX,
				waitReplicas, Duration.ofMillis(300));
		this.engine = new IdempotencyEngine(1000, (event, operation) -> counter(event).increment());
		this.template = new EngineIdempotencyTemplate(this.engine, this.store, new TextCodec(),
				IdempotencyPolicy.DEFAULTS);
	}

	RedisIdempotencyStore store() {
		return this.store;
	}

	/** The description of a call, with a lease that no test waits for. */
	IdempotencyTemplate.Call call(String key) {
		return this.template.operation("test").key(key);
	}

	@Nullable String execute(String key, Supplier<String> action) {
		return call(key).execute(String.class, action);
	}

	/** How often something happened here. */
	long count(IdempotencyEvent event) {
		return counter(event).sum();
	}

	private LongAdder counter(IdempotencyEvent event) {
		return this.events.computeIfAbsent(event, (ignored) -> new LongAdder());
	}

	@Override
	public void close() {
		this.engine.close();
		this.store.close();
		try {
			((DisposableBean) this.connectionFactory).destroy();
		}
		catch (Exception ex) {
			throw new IllegalStateException("Cannot close the connections", ex);
		}
	}

	private static final class TextCodec implements ResultCodec {

		@Override
		public StoredResult encode(@Nullable Object value, Type type) {
			return new StoredResult("text", String.valueOf(value).getBytes(StandardCharsets.UTF_8));
		}

		@Override
		public Object decode(StoredResult result, Type type) {
			return new String(result.bytes(), StandardCharsets.UTF_8);
		}

		@Override
		public @Nullable String unsupported(Type type) {
			return null;
		}

	}

}
