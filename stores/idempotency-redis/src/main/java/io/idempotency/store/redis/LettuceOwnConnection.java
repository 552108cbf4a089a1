package io.idempotency.store.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.Partitions;
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

	/**
	 * The answer of a cluster node to a caller that should have asked another node:
	 * {@code MOVED 3999 127.0.0.1:6381}.
	 *
	 * @param asking whether the answer was {@code ASK}: the other node is still taking
	 * over the slot, so the caller must send {@code ASKING} first
	 * @param host the host of the other node; empty if the nodes do not know their own
	 * address
	 * @param port the port of the other node
	 */
	private record Redirection(boolean asking, String host, int port) {

		private static final Pattern ERROR = Pattern.compile("(MOVED|ASK) \\d+ (.*):(\\d{1,5})");

		static @Nullable Redirection of(RedisCommandExecutionException ex) {
			String error = ex.getMessage();
			Matcher matcher = ERROR.matcher((error != null) ? error.trim() : "");
			return matcher.matches() ? new Redirection(matcher.group(1).equals("ASK"), matcher.group(2),
					Integer.parseInt(matcher.group(3))) : null;
		}

		/** Returns the other node, or {@code null} if the client does not know it. */
		@Nullable RedisClusterNode target(Partitions partitions) {
			return partitions.getPartition(this.host, this.port);
		}

		/**
		 * Returns whether the client knows the node and, after {@code MOVED}, that the
		 * node has the slot.
		 */
		boolean isKnownTo(Partitions partitions, int slot) {
			RedisClusterNode target = target(partitions);
			return target != null && (this.asking || target.equals(partitions.getMasterBySlot(slot)));
		}

	}

}
