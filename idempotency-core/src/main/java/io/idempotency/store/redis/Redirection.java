package io.idempotency.store.redis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;

/**
 * What a node of a cluster says to a caller that should have asked another one:
 * {@code MOVED 3999 127.0.0.1:6381}.
 *
 * @param asking whether the other node is still about to take over, so that it must be
 * told that its caller knows that ({@code ASK})
 * @param host where the other node is; empty where the nodes do not know their own
 * address
 * @param port its port
 */
record Redirection(boolean asking, String host, int port) {

	private static final Pattern ERROR = Pattern.compile("(MOVED|ASK) \\d+ (.*):(\\d{1,5})");

	static @Nullable Redirection of(RedisCommandExecutionException ex) {
		String error = ex.getMessage();
		Matcher matcher = ERROR.matcher((error != null) ? error.trim() : "");
		return matcher.matches()
				? new Redirection(matcher.group(1).equals("ASK"), matcher.group(2), Integer.parseInt(matcher.group(3)))
				: null;
	}

	/** The node, if the cluster is known to have it. */
	@Nullable RedisClusterNode target(Partitions partitions) {
		return partitions.getPartition(this.host, this.port);
	}

	/** Whether the client knows by now what it is told. */
	boolean isKnownTo(Partitions partitions, int slot) {
		RedisClusterNode target = target(partitions);
		return target != null && (this.asking || target.equals(partitions.getMasterBySlot(slot)));
	}

}
