package io.idempotency.proofs.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisClusterServers;
import io.idempotency.it.servers.RedisServer;

import static org.awaitility.Awaitility.await;

/**
 * A Redis Cluster of three masters, one of which stands still now and then, and whose
 * slots move from one to the next while calls run.
 */
final class RedisCluster implements HistoryStore {

	private static final int MOVED_AT_ONCE = 30;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final RedisClusterServers servers = RedisClusterServers.start(RedisBinary.REDIS_7_0);

	private int turn;

	@Override
	public String title() {
		return "Redis " + this.servers.masters().get(0).binary().version() + ", a cluster of three masters";
	}

	@Override
	public Duration lease() {
		return Duration.ofSeconds(3);
	}

	@Override
	public List<Operation> operations() {
		return List.of(Operation.REPLAY, Operation.WAIT, Operation.REJECT, Operation.ONCE, Operation.LOCK);
	}

	@Override
	public List<FaultKind> faults() {
		return List.of(FaultKind.SERVER_STOP_BRIEFLY, FaultKind.SERVER_STOP_LONG, FaultKind.MOVE, FaultKind.MOVE);
	}

	@Override
	public List<String> properties(String node) {
		String masters = this.servers.masters()
			.stream()
			.map((master) -> "127.0.0.1:" + master.port())
			.collect(Collectors.joining(","));
		List<String> properties = new ArrayList<>(List.of("idempotency.store=redis",
				"spring.data.redis.cluster.nodes=" + masters, "spring.data.redis.timeout=800ms",
				"spring.data.redis.connect-timeout=800ms", "spring.data.redis.repositories.enabled=false"));
		if (node.equals("two")) {
			properties
				.addAll(List.of("spring.data.redis.client-type=jedis", "spring.data.redis.jedis.pool.max-wait=800ms"));
		}
		return properties;
	}

	@Override
	public void inflict(FaultKind fault, String node, long millis) {
		switch (fault) {
			case SERVER_STOP_BRIEFLY, SERVER_STOP_LONG -> {
				RedisServer master = this.servers.masters().get(nextTurn());
				master.pause();
				Pause.millis(millis);
				master.resume();
				awaitAll();
			}
			case MOVE -> move();
			default -> throw new IllegalArgumentException(fault.toString());
		}
	}

	private int nextTurn() {
		this.turn = (this.turn + 1) % this.servers.masters().size();
		return this.turn;
	}

	/** Moves slots that have keys: most of them belong to calls that run or just ran. */
	private void move() {
		for (int i = 0; i < MOVED_AT_ONCE; i++) {
			int from = nextTurn();
			Object key = this.servers.masters().get(from).command("RANDOMKEY");
			if (key != null) {
				int slot = this.servers.slotOf(key.toString());
				int to = (from + 1) % this.servers.masters().size();
				this.servers.beginMove(slot, from, to);
				this.servers.endMove(slot, to);
			}
		}
	}

	/** Masters that have given up another one do not take it back at once. */
	private void awaitAll() {
		await("the cluster").atMost(PATIENCE)
			.pollInterval(Duration.ofMillis(50))
			.ignoreExceptions()
			.until(() -> this.servers.masters()
				.stream()
				.allMatch((master) -> String.valueOf(master.command("CLUSTER", "INFO")).contains("cluster_state:ok")));
		this.servers.awaitAgreement();
	}

	@Override
	public void close() {
		this.servers.close();
	}

}
