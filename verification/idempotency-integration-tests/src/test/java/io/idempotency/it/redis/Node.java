package io.idempotency.it.redis;

import java.time.Duration;
import java.util.function.UnaryOperator;

import io.idempotency.StoreFailureMode;
import io.idempotency.it.store.StoreNode;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * A node with connections of its own.
 */
final class Node extends StoreNode<RedisIdempotencyStore> {

	Node(RedisConnectionFactory connectionFactory) {
		this(connectionFactory, store(connectionFactory, RedisClients.PATIENT), StoreFailureMode.REJECT,
				UnaryOperator.identity());
	}

	/**
	 * A node whose store waits for a connection no longer than that of an application.
	 * @param connectionFactory its connections
	 * @param onStoreFailure what it does when the store fails
	 * @return the node
	 */
	static Node impatient(RedisConnectionFactory connectionFactory, StoreFailureMode onStoreFailure) {
		return new Node(connectionFactory, store(connectionFactory, Duration.ofSeconds(2)), onStoreFailure,
				UnaryOperator.identity());
	}

	private static RedisIdempotencyStore store(RedisConnectionFactory connectionFactory, Duration storeTimeout) {
		return new RedisIdempotencyStore(connectionFactory, RedisIdempotencyStore.DEFAULT_KEY_PREFIX, storeTimeout);
	}

	private Node(RedisConnectionFactory connectionFactory, RedisIdempotencyStore store, StoreFailureMode onStoreFailure,
			UnaryOperator<IdempotencyStore> around) {
		super(store, () -> {
			store.close();
			((DisposableBean) connectionFactory).destroy();
		}, onStoreFailure, around);
	}

	static Node withNearCache(RedisConnectionFactory connectionFactory) {
		return new Node(connectionFactory, store(connectionFactory, RedisClients.PATIENT), StoreFailureMode.REJECT,
				(store) -> new NearCacheIdempotencyStore(store, 1_000_000, Duration.ofMinutes(10)));
	}

}
