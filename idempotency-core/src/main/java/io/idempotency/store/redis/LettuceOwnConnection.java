package io.idempotency.store.redis;

import java.util.Arrays;

import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettucePoolingClientConfiguration;

/**
 * A connection beside the one that the application shares. In a cluster, script and
 * {@code WAIT} go to the key's node on one connection, which Spring's own cluster
 * connection would not do.
 */
final class LettuceOwnConnection implements OwnConnection {

	private final RedisConnection lease;

	private final boolean pooled;

	private final StatefulConnection<byte[], byte[]> connection;

	/** The node of the last script. */
	private @Nullable RedisCommands<byte[], byte[]> node;

	LettuceOwnConnection(RedisConnection lease, boolean pooled) {
		this.lease = lease;
		this.pooled = pooled;
		this.connection = unshared(lease);
	}

	static boolean isPooled(RedisConnectionFactory connectionFactory) {
		return connectionFactory instanceof LettuceConnectionFactory lettuce
				&& lettuce.getClientConfiguration() instanceof LettucePoolingClientConfiguration;
	}

	/**
	 * A pipeline is never opened on the shared connection. Deprecated or not, there is no
	 * other way from Spring's connection to the one below it.
	 */
	@SuppressWarnings({ "unchecked", "deprecation" })
	private static StatefulConnection<byte[], byte[]> unshared(RedisConnection lease) {
		lease.openPipeline();
		Object commands = lease.getNativeConnection();
		lease.closePipeline();
		if (commands instanceof RedisAdvancedClusterAsyncCommands<?, ?> cluster) {
			return (StatefulConnection<byte[], byte[]>) cluster.getStatefulConnection();
		}
		return ((RedisAsyncCommands<byte[], byte[]>) commands).getStatefulConnection();
	}

	@Override
	public <T> T run(Verb verb, byte[][] keyAndArguments) {
		RedisCommands<byte[], byte[]> commands = node(keyAndArguments[0]);
		this.node = commands;
		ScriptOutputType type = (verb.returnType() == ReturnType.MULTI) ? ScriptOutputType.MULTI
				: ScriptOutputType.INTEGER;
		byte[][] key = { keyAndArguments[0] };
		byte[][] arguments = Arrays.copyOfRange(keyAndArguments, 1, keyAndArguments.length);
		try {
			return commands.evalsha(verb.sha1(), type, key, arguments);
		}
		catch (RedisNoScriptException unknown) {
			return commands.eval(verb.script(), type, key, arguments);
		}
	}

	private RedisCommands<byte[], byte[]> node(byte[] key) {
		if (this.connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
			String nodeId = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key)).getNodeId();
			return cluster.getConnection(nodeId).sync();
		}
		return ((StatefulRedisConnection<byte[], byte[]>) this.connection).sync();
	}

	@Override
	public long awaitReplicas(int replicas, long millis) {
		if (this.node == null) {
			throw new IllegalStateException("No script was run on this connection");
		}
		return this.node.waitForReplication(replicas, millis);
	}

	@Override
	public boolean isKept() {
		return !this.pooled;
	}

	@Override
	public void close() {
		this.lease.close();
	}

}
