package io.idempotency.it.redis;

import java.util.List;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.store.DeadOwnerContract;
import io.idempotency.it.store.StoreNode;
import org.junit.jupiter.api.AfterEach;

/**
 * An owner of claims in Redis is killed.
 */
@Nightly
@Requires(Backend.REDIS)
@StoreAlone
class RedisDeadOwnerTests extends DeadOwnerContract {

	private final RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);

	private final Node survivor = new Node(RedisClients.lettuce(this.server));

	@AfterEach
	void stop() {
		this.survivor.close();
		this.server.close();
	}

	@Override
	protected Class<?> ownerType() {
		return Owner.class;
	}

	@Override
	protected List<String> address() {
		return List.of(Integer.toString(this.server.port()));
	}

	@Override
	protected StoreNode<?> survivor() {
		return this.survivor;
	}

	@Override
	protected String run(String key) {
		return "run " + haveEffect(this.server.port(), key);
	}

	private static Object haveEffect(int port, String key) {
		return RedisServer.command(port, "INCR", "runs:" + key);
	}

	@Override
	protected int runs(String key) {
		return Integer.parseInt(String.valueOf(this.server.command("GET", "runs:" + key)));
	}

	/** Is killed. */
	static final class Owner {

		private Owner() {
		}

		public static void main(String[] args) throws Exception {
			int port = Integer.parseInt(args[0]);
			own(new Node(RedisClients.lettuce(port)), args[1], (key) -> haveEffect(port, key));
		}

	}

}
