package io.idempotency.store.redis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a cluster node to a caller that should have asked another node:
 * {@code MOVED 3999 127.0.0.1:6381}.
 *
 * @param asking whether the answer was {@code ASK}: the other node is still taking over
 * the slot, so the caller must send {@code ASKING} first
 * @param host the host of the other node; empty if the nodes do not know their own
 * address
 * @param port the port of the other node
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

	/** Returns the other node, or {@code null} if the client does not know it. */
	@Nullable RedisClusterNode target(Partitions partitions) {
		return partitions.getPartition(this.host, this.port);
	}

	/**
	 * Returns whether the client knows the node and, after {@code MOVED}, that the node
	 * has the slot.
	 */
	boolean isKnownTo(Partitions partitions, int slot) {
		RedisClusterNode target = target(partitions);
		return target != null && (this.asking || target.equals(partitions.getMasterBySlot(slot)));
	}

}
