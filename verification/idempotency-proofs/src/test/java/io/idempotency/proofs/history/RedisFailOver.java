package io.idempotency.proofs.history;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisSentinelServers;
import io.idempotency.it.servers.RedisServer;

import static org.awaitility.Awaitility.await;

/**
 * A Redis with a replica and three sentinels, whose master is killed again and again just
 * when the replica is behind.
 */
final class RedisFailOver implements HistoryStore {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final RedisSentinelServers servers = RedisSentinelServers.start(RedisBinary.REDIS_7_0);

	private RedisServer master = this.servers.master();

	private RedisServer replica = this.servers.replica();

	@Override
	public String title() {
		return "Redis " + this.master.binary().version() + " with Sentinel";
	}

	@Override
	public Duration lease() {
		return Duration.ofSeconds(9);
	}

	@Override
	public boolean forgets() {
		return true;
	}

	@Override
	public List<Operation> operations() {
		return List.of(Operation.REPLAY, Operation.WAIT, Operation.REJECT, Operation.ONCE, Operation.LOCK);
	}

	@Override
	public List<FaultKind> faults() {
		// As often as all that happens to nodes.
		return Collections.nCopies(4, FaultKind.FAIL_OVER);
	}

	@Override
	public List<String> properties(String node) {
		String sentinels = this.servers.sentinels()
			.stream()
			.map((sentinel) -> "127.0.0.1:" + sentinel.port())
			.collect(Collectors.joining(","));
		return List.of("idempotency.store=redis",
				"spring.data.redis.sentinel.master=" + RedisSentinelServers.MASTER_NAME,
				"spring.data.redis.sentinel.nodes=" + sentinels, "spring.data.redis.timeout=800ms",
				"spring.data.redis.connect-timeout=800ms", "spring.data.redis.repositories.enabled=false");
	}

	@Override
	public void inflict(FaultKind fault, String node, long millis) {
		this.replica.pause();
		this.master.command("CLIENT", "KILL", "TYPE", "replica");
		Pause.millis(millis);
		this.master.kill();
		this.replica.resume();
		// By order: a sentinel that decides by itself may do so because the machine is
		// busy.
		await("a sentinel that begins the fail-over").atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(20))
			.ignoreExceptions()
			.until(() -> "OK".equals(
					this.servers.sentinels().get(0).command("SENTINEL", "FAILOVER", RedisSentinelServers.MASTER_NAME)));
		String next = "address=127.0.0.1:" + this.replica.port() + ",";
		await("the fail-over").atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(50))
			.ignoreExceptions()
			.until(() -> "master".equals(this.replica.info("replication").getProperty("role"))
					&& this.servers.sentinels().stream().allMatch((sentinel) -> masterOf(sentinel).contains(next)));
	}

	private static String masterOf(RedisServer sentinel) {
		return sentinel.info("sentinel").getProperty("master0", "");
	}

	/** Brings the old master back, as the replica of the new one. */
	@Override
	public void mend() {
		RedisServer next = this.replica;
		this.replica = this.master;
		this.master = next;
		this.replica.restart();
		this.replica.command("REPLICAOF", "127.0.0.1", Integer.toString(next.port()));
		await("the replica").atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(50))
			.ignoreExceptions()
			.until(() -> "up".equals(this.replica.info("replication").getProperty("master_link_status")));
	}

	@Override
	public void close() {
		this.servers.close();
	}

}
