package io.idempotency.store.redis;

import java.util.concurrent.CompletableFuture;

import io.lettuce.core.cluster.RedisClusterClient;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

/**
 * The facts that the connections of one factory share: whether they come from a pool, and
 * their view of the cluster. Thread-safe.
 */
final class LettuceTopology {

	private final RedisConnectionFactory connectionFactory;

	private @Nullable CompletableFuture<Void> refreshing;

	LettuceTopology(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
	}

	boolean isPooled() {
		return this.connectionFactory instanceof LettuceConnectionFactory lettuce
				&& lettuce.getClientConfiguration() instanceof LettucePoolingClientConfiguration;
	}

	/**
	 * Asks the cluster again which node has which slot. Callers that notice a move at the
	 * same time share one question. With a factory that is not Spring's, this does
	 * nothing.
	 * @return a future that completes when the cluster has answered
	 */
	synchronized CompletableFuture<Void> refresh() {
		if (this.refreshing == null || this.refreshing.isDone()) {
			this.refreshing = (this.connectionFactory instanceof LettuceConnectionFactory lettuce
					&& lettuce.getNativeClient() instanceof RedisClusterClient client)
							? client.refreshPartitionsAsync().toCompletableFuture()
							: CompletableFuture.completedFuture(null);
		}
		return this.refreshing;
	}

}
