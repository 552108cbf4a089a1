package io.idempotency.it.redis;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.store.ClockContract;
import io.idempotency.it.faults.ShiftedCaller;
import org.junit.jupiter.api.AfterAll;

/**
 * Nodes of one Redis whose clocks are apart.
 */
@Requires(Backend.REDIS)
@StoreAlone
class RedisClockTests extends ClockContract {

	private final RedisServer server = RedisServer.start(RedisBinary.REDIS_6_2);

	@Override
	protected Class<? extends ShiftedCaller> callerType() {
		return RedisShiftedCaller.class;
	}

	@Override
	protected void connect(ShiftedCaller caller) {
		caller.connect("redis://127.0.0.1:" + this.server.port(), "");
	}

	@AfterAll
	void stopServer() {
		this.server.close();
	}

}
