package io.idempotency.proofs.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.idempotency.it.servers.OtherJvm.Stack;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;

/** A Redis that has every write on its disk before it acknowledges it. */
final class RedisAlone extends StoreOnLines {

	private final RedisServer server = RedisServer.startDurable(RedisBinary.REDIS_7_4);

	private final Set<String> reactive;

	/**
	 * Starts it.
	 * @param reactive the nodes that have WebFlux
	 */
	RedisAlone(Set<String> reactive) {
		this.reactive = reactive;
	}

	@Override
	public String title() {
		return "Redis " + this.server.binary().version() + ", appendfsync always"
				+ (this.reactive.isEmpty() ? "" : ", nodes of both stacks");
	}

	@Override
	public Stack stack(String node) {
		return this.reactive.contains(node) ? Stack.REACTIVE : Stack.SERVLET;
	}

	@Override
	public List<Operation> operations() {
		return Operation.OF_EVERY_STORE;
	}

	@Override
	public List<String> properties(String node) {
		List<String> properties = new ArrayList<>(List.of("idempotency.store=redis", "spring.data.redis.host=127.0.0.1",
				"spring.data.redis.port=" + portFor(node), "spring.data.redis.timeout=800ms",
				"spring.data.redis.connect-timeout=800ms", "spring.data.redis.repositories.enabled=false"));
		if (node.equals("two") && stack(node) == Stack.SERVLET) {
			properties
				.addAll(List.of("spring.data.redis.client-type=jedis", "spring.data.redis.jedis.pool.max-wait=800ms"));
		}
		return properties;
	}

	@Override
	public List<FaultKind> faults() {
		List<FaultKind> faults = new ArrayList<>(super.faults());
		faults.addAll(List.of(FaultKind.SERVER_FULL_BRIEFLY, FaultKind.SERVER_FULL_LONG));
		return faults;
	}

	@Override
	public void inflict(FaultKind fault, String node, long millis) {
		switch (fault) {
			case SERVER_FULL_BRIEFLY, SERVER_FULL_LONG -> {
				this.server.command("CONFIG", "SET", "maxmemory", "1");
				Pause.millis(millis);
				this.server.command("CONFIG", "SET", "maxmemory", "0");
			}
			default -> super.inflict(fault, node, millis);
		}
	}

	@Override
	int serverPort() {
		return this.server.port();
	}

	@Override
	void pause() {
		this.server.pause();
	}

	@Override
	void resume() {
		this.server.resume();
	}

	@Override
	void kill() {
		this.server.kill();
	}

	@Override
	void restart() {
		this.server.restart();
	}

	@Override
	public void close() {
		super.close();
		this.server.close();
	}

}
