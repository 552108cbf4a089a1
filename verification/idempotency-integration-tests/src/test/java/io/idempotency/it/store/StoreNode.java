package io.idempotency.it.store;

import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.StoreFailureMode;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.codec.ResultCodec;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoredResult;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import org.jspecify.annotations.Nullable;

/**
 * One node of an application: connections, a store and an engine of its own.
 */
public class StoreNode<S extends IdempotencyStore> implements AutoCloseable {

	private final S store;

	private final AutoCloseable connections;

	private final IdempotencyEngine engine;

	private final IdempotencyTemplate template;

	private final Map<IdempotencyEvent, LongAdder> events = new ConcurrentHashMap<>();

	/**
	 * Creates a node.
	 * @param store its store
	 * @param connections what is closed with the node
	 * @param onStoreFailure what it does when the store fails
	 */
	public StoreNode(S store, AutoCloseable connections, StoreFailureMode onStoreFailure) {
		this.store = store;
		this.connections = connections;
		this.engine = new IdempotencyEngine(1000, (event, operation) -> counter(event).increment());
		this.template = new DefaultIdempotencyTemplate(this.engine, store, new TextCodec(), policy(onStoreFailure));
	}

	/**
	 * With a lease so long that a key that stays locked is never taken over, but found.
	 */
	private static IdempotencyOptions policy(StoreFailureMode onStoreFailure) {
		IdempotencyOptions defaults = IdempotencyOptions.DEFAULTS;
		return defaults.change().lease(Duration.ofMinutes(10)).onStoreFailure(onStoreFailure).build();
	}

	public S store() {
		return this.store;
	}

	/**
	 * A call that is to be told more.
	 * @param key its key
	 * @return the call
	 */
	public IdempotencyTemplate.Call call(String key) {
		return this.template.operation("test").key(key);
	}

	/**
	 * A guarded call.
	 * @param key its key
	 * @param action what it does
	 * @return what the caller gets
	 */
	public @Nullable String execute(String key, Supplier<String> action) {
		return call(key).execute(String.class, action);
	}

	/**
	 * A guarded call, as a client does it that was told to come again.
	 * @param key its key
	 * @param action what it does
	 * @return what the caller gets
	 */
	public @Nullable String executeUntilAnswered(String key, Supplier<String> action) {
		return executeUntil(key, action, true);
	}

	/**
	 * A guarded call, as a client does it that comes again only where the store was down.
	 * @param key its key
	 * @param action what it does
	 * @return what the caller gets
	 */
	public @Nullable String executeUntilUp(String key, Supplier<String> action) {
		return executeUntil(key, action, false);
	}

	private @Nullable String executeUntil(String key, Supplier<String> action, boolean inProgressToo) {
		long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
		while (true) {
			try {
				return execute(key, action);
			}
			catch (IdempotencyStoreUnavailableException | IdempotencyInProgressException ex) {
				boolean comesAgain = inProgressToo || ex instanceof IdempotencyStoreUnavailableException;
				if (!comesAgain || System.nanoTime() - deadline > 0) {
					throw ex;
				}
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
			}
		}
	}

	/**
	 * How often something happened here.
	 * @param event what happened
	 * @return how often
	 */
	public long count(IdempotencyEvent event) {
		return counter(event).sum();
	}

	private LongAdder counter(IdempotencyEvent event) {
		return this.events.computeIfAbsent(event, (ignored) -> new LongAdder());
	}

	@Override
	public void close() {
		// Whatever a test looks at is there: nobody waits for what a dead store does not
		// take.
		this.engine.close(Duration.ofSeconds(1));
		try {
			this.connections.close();
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
