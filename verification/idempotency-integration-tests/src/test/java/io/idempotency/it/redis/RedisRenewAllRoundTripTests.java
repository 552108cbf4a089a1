package io.idempotency.it.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.idempotency.it.faults.BadLine;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.store.ClaimId;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Renewal;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What many renewals at once cost, through both clients.
 */
@EachRedis
@Execution(ExecutionMode.CONCURRENT)
class RedisRenewAllRoundTripTests {

	private final TestRedis redis;

	private final RedisRenewals node;

	RedisRenewAllRoundTripTests(TestRedis redis) {
		this.redis = redis;
		this.node = new RedisRenewals(redis);
	}

	@AfterEach
	void close() throws Exception {
		this.node.close();
	}

	/** So long that the server has heard all of them before the wait for it is over. */
	private static final Duration STORE_TIMEOUT = Duration.ofSeconds(15);

	/**
	 * The server hears all of them while no reply of it has arrived.
	 */
	@Test
	void twoHundredTakeOneRoundTrip() throws Exception {
		List<Renewal> renewals = this.node.claims(200);
		try (BadLine line = new BadLine(this.redis.server().port())) {
			RedisConnectionFactory connections = this.redis.connect(line.port(), STORE_TIMEOUT);
			try (RedisIdempotencyStore store = new RedisIdempotencyStore(connections, "test:", STORE_TIMEOUT)) {
				assertThat(store.renewAll(renewals)).isEmpty();
				this.redis.server().command("CONFIG", "RESETSTAT");
				line.loseReplies();
				CompletableFuture<Set<ClaimId>> renewed = SchedulerThread.supply(() -> store.renewAll(renewals));
				await().until(this::scriptsRun, (count) -> count == 200);
				assertThat(renewed).isNotDone();
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> renewed.get(60, TimeUnit.SECONDS))
					.withCauseInstanceOf(IdempotencyStoreException.class);
				line.reconnect();
			}
			finally {
				((DisposableBean) connections).destroy();
			}
		}
		assertThat(scriptsRun()).isEqualTo(200);
	}

	private int scriptsRun() {
		String stat = this.redis.server().info("commandstats").getProperty("cmdstat_evalsha", "calls=0,");
		return Integer.parseInt(stat.replaceFirst("calls=(\\d+),.*", "$1"));
	}

}
