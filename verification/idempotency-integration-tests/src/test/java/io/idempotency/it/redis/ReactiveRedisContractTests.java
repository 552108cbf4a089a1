package io.idempotency.it.redis;

import io.idempotency.it.store.BlockingBridge;
import io.idempotency.it.store.ServerClockContract;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.redis.ReactiveRedisIdempotencyStore;
import io.idempotency.store.redis.RedisIdempotencyStore;

/**
 * The law of every store, for the form that does not block. The other node blocks: both
 * forms share records.
 */
@EachRedis(value = { Redis.Kind.CLIENT, Redis.Kind.CLUSTER, Redis.Kind.SENTINEL }, clients = Redis.Client.LETTUCE)
class ReactiveRedisContractTests extends ServerClockContract {

	private final TestRedis redis;

	ReactiveRedisContractTests(TestRedis redis) {
		this.redis = redis;
		redis.once("warm-up", this::warmUp);
	}

	@Override
	public IdempotencyStore store() {
		return new BlockingBridge(ReactiveRedisIdempotencyStore.of(blocking("one")).orElseThrow());
	}

	@Override
	public IdempotencyStore anotherStore() {
		return blocking("another");
	}

	/** Scripts and servers are tested through the form that blocks. */
	@Override
	public int rounds() {
		return super.rounds() / 5;
	}

	private RedisIdempotencyStore blocking(String name) {
		return this.redis.share(name, () -> new Node(this.redis.connect())).store();
	}

}
