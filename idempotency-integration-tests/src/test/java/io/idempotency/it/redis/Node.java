package io.idempotency.it.redis;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.engine.EngineIdempotencyTemplate;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.IdempotencyEvent;
import io.idempotency.engine.IdempotencyPolicy;
import io.idempotency.engine.ResultCodec;
import io.idempotency.engine.StoreFailureMode;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoredResult;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;
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
		this(connectionFactory, waitReplicas, StoreFailureMode.REJECT);
	}

	Node(RedisConnectionFactory connectionFactory, int waitReplicas, StoreFailureMode onStoreFailure) {
		this(connectionFactory, waitReplicas, onStoreFailure, UnaryOperator.identity());
	}

	private Node(RedisConnectionFactory connectionFactory, int waitReplicas, StoreFailureMode onStoreFailure,
			UnaryOperator<IdempotencyStore> around) {
		this.connectionFactory = connectionFactory;
		this.store = new RedisIdempotencyStore(connectionFactory, RedisIdempotencyStore.DEFAULT_KEY_PREFIX,
				waitReplicas, Duration.ofMillis(300));
		this.engine = new IdempotencyEngine(1000, (event, operation) -> counter(event).increment());
		this.template = new EngineIdempotencyTemplate(this.engine, around.apply(this.store), new TextCodec(),
				policy(onStoreFailure));
	}

	static Node withNearCache(RedisConnectionFactory connectionFactory) {
		return new Node(connectionFactory, 0, StoreFailureMode.REJECT,
				(store) -> new NearCacheIdempotencyStore(store, 1_000_000, Duration.ofMinutes(10)));
	}

	/**
	 * With a lease so long that a key that stays locked is never taken over, but found.
	 */
	private static IdempotencyPolicy policy(StoreFailureMode onStoreFailure) {
		IdempotencyPolicy defaults = IdempotencyPolicy.DEFAULTS;
		return new IdempotencyPolicy(defaults.operation(), defaults.mode(), defaults.retention(),
				Duration.ofMinutes(10), defaults.renewal(), defaults.conflict(), defaults.waitTimeout(),
				defaults.onFailure(), defaults.onAbandoned(), defaults.recoverable(), onStoreFailure);
	}

	RedisIdempotencyStore store() {
		return this.store;
	}

	IdempotencyTemplate.Call call(String key) {
		return this.template.operation("test").key(key);
	}

	@Nullable String execute(String key, Supplier<String> action) {
		return call(key).execute(String.class, action);
	}

	/** As a client does that was told to come again. */
	@Nullable String executeUntilAnswered(String key, Supplier<String> action) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
		while (true) {
			try {
				return execute(key, action);
			}
			catch (IdempotencyStoreUnavailableException | IdempotencyInProgressException ex) {
				if (System.nanoTime() - deadline > 0) {
					throw ex;
				}
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
			}
		}
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
