package io.idempotency.it.redis;

import io.idempotency.StoreFailureMode;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.NetworkFaultContract;
import io.idempotency.it.store.StoreNode;

/**
 * Bad lines to Redis.
 */
@EachRedis
@StoreAlone
class RedisNetworkFaultTests extends NetworkFaultContract {

	private final TestRedis redis;

	RedisNetworkFaultTests(TestRedis redis) {
		this.redis = redis;
	}

	@Override
	protected int serverPort() {
		return this.redis.server().port();
	}

	@Override
	protected StoreNode<?> connect(int port) {
		return new Node(this.redis.connect(port));
	}

	/** One that waits for a line that is cut does so for as long as the store may. */
	@Override
	protected StoreNode<?> connectImpatiently(int port) {
		return Node.impatient(this.redis.connect(port), StoreFailureMode.REJECT);
	}

	@Override
	protected long records() {
		return (Long) this.redis.server().command("DBSIZE");
	}

}
