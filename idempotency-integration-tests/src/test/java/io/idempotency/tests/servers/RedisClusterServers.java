package io.idempotency.tests.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import static org.awaitility.Awaitility.await;

/**
 * A Redis Cluster of masters without replicas.
 */
public final class RedisClusterServers implements AutoCloseable {

	private static final int SLOTS = 16_384;

	private final List<RedisServer> masters;

	private RedisClusterServers(List<RedisServer> masters) {
		this.masters = masters;
	}

	/**
	 * Starts three masters and waits until each knows all slots.
	 * @param binary their version
	 * @return the cluster, ready
	 */
	public static RedisClusterServers start(RedisBinary binary) {
		List<RedisServer> masters = new ArrayList<>();
		RedisClusterServers cluster = new RedisClusterServers(masters);
		try {
			for (int i = 0; i < 3; i++) {
				masters.add(RedisServer.start(binary, "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
						"--cluster-node-timeout", "2000"));
			}
			cluster.join();
			return cluster;
		}
		catch (RuntimeException | Error ex) {
			cluster.close();
			throw ex;
		}
	}

	private void join() {
		int count = this.masters.size();
		for (int i = 0; i < count; i++) {
			RedisServer master = this.masters.get(i);
			List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
			IntStream.range(SLOTS * i / count, SLOTS * (i + 1) / count).mapToObj(Integer::toString).forEach(command::add);
			master.command(command.toArray(String[]::new));
			master.command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
		}
		for (RedisServer other : this.masters.subList(1, count)) {
			this.masters.get(0).command("CLUSTER", "MEET", "127.0.0.1", Integer.toString(other.port()));
		}
		await().atMost(Duration.ofSeconds(30))
			.pollInterval(Duration.ofMillis(20))
			.until(() -> this.masters.stream().allMatch(RedisClusterServers::isReady));
	}

	private static boolean isReady(RedisServer master) {
		String info = String.valueOf(master.command("CLUSTER", "INFO"));
		return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS)
				&& info.contains("cluster_known_nodes:3");
	}

	public List<RedisServer> masters() {
		return this.masters;
	}

	@Override
	public void close() {
		this.masters.forEach(RedisServer::close);
	}

}
