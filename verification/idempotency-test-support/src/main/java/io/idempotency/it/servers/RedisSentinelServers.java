package io.idempotency.it.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.awaitility.Awaitility.await;

/**
 * A master, a replica, and three sentinels that watch them.
 */
public final class RedisSentinelServers implements AutoCloseable {

	/** What the sentinels call the master. */
	public static final String MASTER_NAME = "mymaster";

	private final List<RedisServer> servers = new ArrayList<>();

	private final List<RedisServer> sentinels = new ArrayList<>();

	private RedisSentinelServers() {
	}

	/**
	 * Starts all five and waits until they know each other. A master that keeps silent
	 * for a while stays the master: on a busy machine that happens.
	 * @param binary their version
	 * @return the set, ready
	 */
	public static RedisSentinelServers start(RedisBinary binary) {
		return start(binary, Duration.ofMinutes(5));
	}

	/**
	 * Starts all five, to kill the master.
	 * @param binary their version
	 * @return the set, ready
	 */
	public static RedisSentinelServers startToFailOver(RedisBinary binary) {
		return start(binary, Duration.ofMillis(500));
	}

	private static RedisSentinelServers start(RedisBinary binary, Duration patience) {
		RedisSentinelServers set = new RedisSentinelServers();
		try {
			RedisServer master = RedisServer.start(binary);
			set.servers.add(master);
			set.servers.add(RedisServer.startReplica(master));
			for (int i = 0; i < 3; i++) {
				set.sentinels.add(RedisServer.startSentinel(binary, configuration(master, patience)));
			}
			await().atMost(Duration.ofSeconds(60))
				.pollInterval(Duration.ofMillis(20))
				.until(() -> set.sentinels.stream().allMatch(RedisSentinelServers::isReady));
			return set;
		}
		catch (RuntimeException | Error ex) {
			set.close();
			throw ex;
		}
	}

	private static List<String> configuration(RedisServer master, Duration patience) {
		return List.of("sentinel monitor " + MASTER_NAME + " 127.0.0.1 " + master.port() + " 2",
				"sentinel down-after-milliseconds " + MASTER_NAME + " " + patience.toMillis(),
				"sentinel failover-timeout " + MASTER_NAME + " 5000");
	}

	private static boolean isReady(RedisServer sentinel) {
		String master = sentinel.info("sentinel").getProperty("master0", "");
		return master.contains("status=ok") && master.contains("slaves=1") && master.contains("sentinels=3");
	}

	/** The first master. */
	public RedisServer master() {
		return this.servers.get(0);
	}

	/** Its first replica, the master after a fail-over. */
	public RedisServer replica() {
		return this.servers.get(1);
	}

	public List<RedisServer> sentinels() {
		return this.sentinels;
	}

	/** Waits until the replica was promoted. */
	public void awaitFailOver() {
		replica().awaitMaster();
	}

	@Override
	public void close() {
		this.sentinels.forEach(RedisServer::close);
		this.servers.forEach(RedisServer::close);
	}

}
