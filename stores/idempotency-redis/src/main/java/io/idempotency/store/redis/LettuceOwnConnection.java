package io.idempotency.store.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * A connection beside the one that the application shares. In a cluster, script and
 * {@code WAIT} must go to the node of the key on one connection. The cluster connection
 * of Spring does not do that, but it would follow a slot that moves to another node. So
 * this class follows the redirections of the cluster itself.
 */
final class LettuceOwnConnection implements OwnConnection {

	/**
	 * One {@code MOVED}, one {@code ASK} if the new node is just giving the slot away,
	 * and one in reserve.
	 */
	private static final int MAX_REDIRECTIONS = 3;

	private final RedisConnection lease;

	private final StatefulConnection<byte[], byte[]> connection;

	private final LettuceTopology topology;

	/** The connection to the node that got the last script. */
	private @Nullable StatefulRedisConnection<byte[], byte[]> node;

	LettuceOwnConnection(RedisConnection lease, LettuceTopology topology) {
		this.lease = lease;
		this.topology = topology;
		// Spring never opens a pipeline on the shared connection, so it takes another
		// one.
		lease.openPipeline();
		this.connection = LettuceScriptRunner.nativeConnection(lease);
		lease.closePipeline();
	}

	@Override
	public <T> T run(Verb verb, byte[][] keyAndArguments, Deadline deadline) {
		if (this.connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
			return run(cluster, verb, keyAndArguments, deadline);
		}
		StatefulRedisConnection<byte[], byte[]> only = (StatefulRedisConnection<byte[], byte[]>) this.connection;
		this.node = only;
		return LettuceScript.run(only, verb, keyAndArguments, deadline);
	}

	private <T> T run(StatefulRedisClusterConnection<byte[], byte[]> cluster, Verb verb, byte[][] keyAndArguments,
			Deadline deadline) {
		int slot = SlotHash.getSlot(keyAndArguments[0]);
		StatefulRedisConnection<byte[], byte[]> target = owner(cluster, slot, deadline);
		boolean asking = false;
		for (int redirections = 0;; redirections++) {
			this.node = target;
			try {
				return asking ? LettuceScript.runAsking(target, verb, keyAndArguments, deadline)
						: LettuceScript.run(target, verb, keyAndArguments, deadline);
			}
			catch (RedisCommandExecutionException ex) {
				Redirection redirection = Redirection.of(ex);
				if (redirection == null || redirections == MAX_REDIRECTIONS) {
					throw ex;
				}
				// A node that redirects a script has not run it, so the script can be
				// sent again.
				target = follow(cluster, redirection, slot, deadline);
				asking = redirection.asking();
			}
		}
	}

	private StatefulRedisConnection<byte[], byte[]> owner(StatefulRedisClusterConnection<byte[], byte[]> cluster,
			int slot, Deadline deadline) {
		RedisClusterNode owner = cluster.getPartitions().getMasterBySlot(slot);
		if (owner == null) {
			ConnectionOpener.await(this.topology.refresh(), deadline);
			owner = cluster.getPartitions().getMasterBySlot(slot);
		}
		if (owner == null) {
			throw new NotSentException(new RedisException("No node of the cluster has slot " + slot));
		}
		return ConnectionOpener.await(cluster.getConnectionAsync(owner.getNodeId()), deadline);
	}

	/**
	 * Follows a redirection. If the client does not know the move yet, its view of the
	 * cluster is refreshed, so that the next scripts go to the right node. The node that
	 * takes over a slot may also be new to the cluster.
	 */
	private StatefulRedisConnection<byte[], byte[]> follow(StatefulRedisClusterConnection<byte[], byte[]> cluster,
			Redirection redirection, int slot, Deadline deadline) {
		if (!redirection.isKnownTo(cluster.getPartitions(), slot)) {
			ConnectionOpener.await(this.topology.refresh(), deadline);
		}
		RedisClusterNode target = redirection.target(cluster.getPartitions());
		if (target == null) {
			return owner(cluster, slot, deadline);
		}
		CompletableFuture<StatefulRedisConnection<byte[], byte[]>> opening = cluster
			.getConnectionAsync(target.getNodeId());
		return ConnectionOpener.await(opening, deadline);
	}

	@Override
	public long awaitReplicas(int replicas, long millis, Deadline deadline) {
		if (this.node == null) {
			throw new IllegalStateException("No script was run on this connection");
		}
		return LettuceFutures.awaitOrCancel(this.node.async().waitForReplication(replicas, millis), deadline.rest(),
				TimeUnit.NANOSECONDS);
	}

	@Override
	public boolean isOpen() {
		return this.connection.isOpen();
	}

	@Override
	public boolean isKept() {
		return !this.topology.isPooled();
	}

	@Override
	public void close() {
		this.lease.close();
	}

}
