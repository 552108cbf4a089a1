package io.idempotency.it.redis;

import java.util.List;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.store.RaceContract;
import io.idempotency.it.store.StoreNode;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/**
 * The races on Redis, through both clients at once.
 */
@Requires(Backend.REDIS)
@TestInstance(Lifecycle.PER_CLASS)
@StoreAlone
class RedisRaceTests extends RaceContract {

	private RedisServer server;

	private List<Node> nodes;

	@BeforeAll
	void start() {
		this.server = RedisServer.start(RedisBinary.REDIS_6_2);
		this.nodes = List.of(new Node(RedisClients.lettuce(this.server)), new Node(RedisClients.jedis(this.server)));
	}

	@AfterAll
	void stop() {
		this.nodes.forEach(Node::close);
		this.server.close();
	}

	@Override
	protected List<? extends StoreNode<?>> nodes() {
		return this.nodes;
	}

}
