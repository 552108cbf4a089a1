package io.idempotency.it.redis;

import io.idempotency.it.store.ServerClockContract;
import io.idempotency.store.IdempotencyStore;

/**
 * The law of every store on every kind of Redis server, through both clients. Two stores
 * with a connection factory each stand for two nodes.
 */
@EachRedis({ Redis.Kind.CLIENT, Redis.Kind.VERSION, Redis.Kind.CLUSTER, Redis.Kind.SENTINEL, Redis.Kind.OFFSPRING })
class RedisStoreContractTests extends ServerClockContract {

	private final TestRedis redis;

	RedisStoreContractTests(TestRedis redis) {
		this.redis = redis;
		redis.once("warm-up", this::warmUp);
	}

	@Override
	public IdempotencyStore store() {
		return store("one");
	}

	@Override
	public IdempotencyStore anotherStore() {
		return store("another");
	}

	/** Fewer where the client and the scripts are tested by another one, too. */
	@Override
	public int rounds() {
		return switch (this.redis.type().kind()) {
			case VERSION, SENTINEL -> super.rounds() / 5;
			default -> super.rounds();
		};
	}

	private IdempotencyStore store(String name) {
		return this.redis.share(name, () -> new Node(this.redis.connect())).store();
	}

}
