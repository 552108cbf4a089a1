package io.idempotency.it.redis;

import java.time.Duration;

import io.idempotency.StoreFailureMode;
import io.idempotency.it.store.StoreNode;
import io.idempotency.store.redis.RedisIdempotencyStore;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * A node with connections of its own.
 */
final class Node extends StoreNode<RedisIdempotencyStore> {

	Node(RedisConnectionFactory connectionFactory) {
		this(connectionFactory, store(connectionFactory, RedisClients.PATIENT), StoreFailureMode.REJECT);
	}

	/**
	 * A node whose store waits for a connection no longer than that of an application.
	 * @param connectionFactory its connections
	 * @param onStoreFailure what it does when the store fails
	 * @return the node
	 */
	static Node impatient(RedisConnectionFactory connectionFactory, StoreFailureMode onStoreFailure) {
		return new Node(connectionFactory, store(connectionFactory, Duration.ofSeconds(2)), onStoreFailure);
	}

	private static RedisIdempotencyStore store(RedisConnectionFactory connectionFactory, Duration storeTimeout) {
		return new RedisIdempotencyStore(connectionFactory, RedisIdempotencyStore.DEFAULT_KEY_PREFIX, storeTimeout);
	}

	private Node(RedisConnectionFactory connectionFactory, RedisIdempotencyStore store,
			StoreFailureMode onStoreFailure) {
		super(store, () -> {
			store.close();
			((DisposableBean) connectionFactory).destroy();
		}, onStoreFailure);
	}

}
