package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.engine.ScriptedStore.Verb;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What an operator reads when the store was away for a while.
 */
@Tag("long")
@Timeout(120)
class OutageLogTests {

	private static final Duration LEASE = Duration.ofSeconds(24);

	/**
	 * All beats come due meanwhile, and no lease is over, on a machine that stands still
	 * for some seconds either.
	 */
	private static final Duration OUTAGE = Duration.ofSeconds(9);

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final List<IdempotencyKey> KEYS = HeldCalls.keys("running-", 2000);

	private static final List<IdempotencyKey> SUCCEED = KEYS.subList(0, 100);

	private static final List<IdempotencyKey> FAIL = KEYS.subList(100, 200);

	private static final List<IdempotencyKey> RUN_ON = KEYS.subList(200, KEYS.size());

	private static final List<IdempotencyKey> REJECTED = HeldCalls.keys("rejected-", 100);

	private final Logger logger = (Logger) LoggerFactory.getLogger("io.idempotency");

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	private final MemoryIdempotencyStore memory = new MemoryIdempotencyStore(64_000_000);

	private final ScriptedStore store = new ScriptedStore(this.memory);

	private final HeldCalls calls = new HeldCalls(this.store, TestPolicy.replay().lease(LEASE).build(),
			(event, operation) -> {
			});

	@BeforeEach
	void capture() {
		this.logger.setAdditive(false);
		this.logger.addAppender(this.log);
		this.log.start();
	}

	@AfterEach
	void close() {
		this.store.heal();
		this.calls.close();
		this.logger.detachAppender(this.log);
		this.logger.setAdditive(true);
	}

	@Test
	void outageIsTwoLines() throws Exception {
		this.calls.start(KEYS);
		for (Verb verb : Verb.values()) {
			this.store.failBefore(verb, ScriptedStore.ALWAYS);
		}
		this.calls.end(SUCCEED);
		this.calls.fail(FAIL);
		for (IdempotencyKey key : REJECTED) {
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> this.calls.execute(key));
		}
		await().atMost(PATIENCE).pollDelay(OUTAGE).until(() -> this.calls.areAnswered(SUCCEED));
		this.store.heal();
		await().atMost(PATIENCE).until(() -> RUN_ON.stream().allMatch(this::isRenewedSince));
		await().atMost(PATIENCE).until(() -> SUCCEED.stream().allMatch(this::isCompleted));
		await().atMost(PATIENCE).until(() -> this.memory.size() == SUCCEED.size() + RUN_ON.size());
		await().atMost(PATIENCE).until(() -> warnings().size() >= 2);
		List<String> warnings = warnings();
		assertThat(warnings.size())
			.as("lines at WARN or above; the first of them: %s", warnings.subList(0, Math.min(5, warnings.size())))
			.isEqualTo(2);
	}

	private boolean isCompleted(IdempotencyKey key) {
		return ask(key) instanceof ClaimResult.Completed;
	}

	/** Whether its lease is longer than one from before the outage can be. */
	private boolean isRenewedSince(IdempotencyKey key) {
		return ask(key) instanceof ClaimResult.InProgress running && running.rest().compareTo(LEASE.minus(OUTAGE)) > 0;
	}

	/** What another node is told, which takes nothing over. */
	private ClaimResult ask(IdempotencyKey key) {
		return this.memory.claim(ClaimRequest.of(key, LEASE, Duration.ofHours(24)).withTakeOver(false));
	}

	private List<String> warnings() {
		List<ILoggingEvent> events;
		synchronized (this.log) {
			events = new ArrayList<>(this.log.list);
		}
		return events.stream()
			.filter((event) -> event.getLevel().isGreaterOrEqual(Level.WARN))
			.map(ILoggingEvent::getFormattedMessage)
			.toList();
	}

}
