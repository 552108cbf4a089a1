package io.idempotency.store.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Finds the servers that may have records: one, or the masters of a cluster in the order
 * of their slots. Each has a name that belongs to one of its slots, so a script with that
 * name as its key goes to it, through any client.
 */
final class RedisMasters {

	/**
	 * A master with a thousandth of the slots is missed once in 10^43 tries of this many
	 * names.
	 */
	private static final int MAX_NAMES = 100_000;

	private final RedisConnectionFactory connectionFactory;

	RedisMasters(RedisConnectionFactory connectionFactory) {
		this.connectionFactory = connectionFactory;
	}

	/** Returns the first master whose slots begin at the given one or later. */
	static @Nullable Master from(List<Master> masters, int slot) {
		return masters.stream().filter((master) -> master.firstSlot() >= slot).findFirst().orElse(null);
	}

	List<Master> find(RedisKeyspace keyspace) {
		try (RedisConnection connection = SpringScriptRunner.connect(this.connectionFactory)) {
			if (connection instanceof RedisClusterConnection cluster) {
				return ofCluster(cluster, keyspace);
			}
			return List.of(new Master(0, "", keyspace.route(0)));
		}
	}

	private static List<Master> ofCluster(RedisClusterConnection cluster, RedisKeyspace keyspace) {
		List<RedisClusterNode> missing = new ArrayList<>();
		for (RedisClusterNode node : cluster.clusterGetNodes()) {
			if (node.isMaster() && !node.getSlotRange().getSlots().isEmpty()) {
				missing.add(node);
			}
		}
		List<Master> masters = new ArrayList<>();
		// A prefix with a hash tag puts all records, and all these names, into one slot.
		boolean oneSlot = slot(keyspace.route(0)) == slot(keyspace.route(1));
		for (int number = 0; !missing.isEmpty() && number < (oneSlot ? 1 : MAX_NAMES); number++) {
			byte[] route = keyspace.route(number);
			missing.removeIf((node) -> node.getSlotRange().contains(slot(route)) && masters.add(master(node, route)));
		}
		masters.sort(Comparator.comparingInt(Master::firstSlot));
		return masters;
	}

	private static int slot(byte[] name) {
		return ClusterSlotHashUtil.calculateSlot(name);
	}

	private static Master master(RedisClusterNode node, byte[] route) {
		return new Master(Collections.min(node.getSlotRange().getSlots()), String.valueOf(node.getId()), route);
	}

	/**
	 * A server that may have records.
	 *
	 * @param node its id in the cluster, empty outside of a cluster
	 * @param route a name that belongs to one of its slots
	 */
	record Master(int firstSlot, String node, byte[] route) {
	}

}
