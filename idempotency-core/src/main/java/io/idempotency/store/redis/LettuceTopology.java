package io.idempotency.store.redis;

import java.util.concurrent.CompletableFuture;

import io.lettuce.core.cluster.RedisClusterClient;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

/**
 * What the connections of one factory have in common: a pool or none, and what they know
 * of their cluster. Thread-safe.
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
	 * Asks the cluster again who has which slot; once for all who find out at the same
	 * time that a slot was moved. Below a factory that is not Spring's nobody can be
	 * asked.
	 * @return when it has told
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
