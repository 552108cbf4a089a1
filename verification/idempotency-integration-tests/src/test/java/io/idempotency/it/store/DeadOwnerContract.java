package io.idempotency.it.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import io.idempotency.AbandonedMode;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.it.servers.OtherJvm;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The JVM of an owner is killed while its calls run: the only way to lose a claim. Its
 * effects are counted where they survive.
 */
public abstract class DeadOwnerContract {

	/** So long that an owner on a machine that stands still for some seconds keeps it. */
	private static final Duration LEASE = Duration.ofSeconds(10);

	/**
	 * Who dies.
	 * @return a class whose main method calls {@link #own}
	 */
	protected abstract Class<?> ownerType();

	/**
	 * Where the owner finds the store.
	 * @return the arguments of its main method, before the keys
	 */
	protected abstract List<String> address();

	/**
	 * Who lives on.
	 * @return the node
	 */
	protected abstract StoreNode<?> survivor();

	/**
	 * Has the effect of a call.
	 * @param key its key
	 * @return {@code run} and how many runs there were
	 */
	protected abstract String run(String key);

	/**
	 * Counts the effects.
	 * @param key the key of the calls
	 * @return the number
	 */
	protected abstract int runs(String key);

	@Test
	void callOfADeadOwnerIsTakenOverOnceOrRejected() {
		String rerun = UUID.randomUUID().toString();
		String reject = UUID.randomUUID().toString();
		try (OtherJvm owner = startOwner(rerun, reject)) {
			// The owner lives, so its claims do.
			awaitRenewal(rerun);
			awaitRenewal(reject);
			assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> execute(rerun));
			assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> execute(reject));

			owner.kill();
			assertThat(survivor().executeUntilAnswered(rerun, () -> run(rerun))).isEqualTo("run 2");
			assertThat(execute(rerun)).isEqualTo("run 2");
			assertThat(runs(rerun)).as("runs: of the dead owner and of its successor").isEqualTo(2);
			assertThat(survivor().count(IdempotencyEvent.TAKEN_OVER)).isEqualTo(1);

			await().atMost(Duration.ofSeconds(60))
				.ignoreException(IdempotencyInProgressException.class)
				.untilAsserted(() -> assertThatExceptionOfType(IdempotencyOutcomeUnknownException.class)
					.isThrownBy(() -> survivor().call(reject)
						.onAbandoned(AbandonedMode.REJECT)
						.execute(String.class, () -> run(reject))));
			assertThat(runs(reject)).as("runs: of the dead owner alone").isEqualTo(1);
		}
	}

	private String execute(String key) {
		return survivor().execute(key, () -> run(key));
	}

	private void awaitRenewal(String key) {
		RecordAdmin records = survivor().store().admin().orElseThrow();
		RecordKey recordKey = RecordKey.of(Requests.key("test", key));
		AtomicReference<Duration> rest = new AtomicReference<>(LEASE);
		await().until(() -> {
			Duration now = records.find(recordKey).orElseThrow().leaseRest();
			return now.compareTo(rest.getAndSet(now)) > 0;
		});
	}

	private OtherJvm startOwner(String... keys) {
		List<String> arguments = new ArrayList<>(address());
		arguments.add(String.join(",", keys));
		OtherJvm owner = OtherJvm.start(ownerType(), arguments.toArray(String[]::new));
		owner.awaitLine("running");
		return owner;
	}

	/**
	 * What the owner does: starts one call for each key, and none of them ends.
	 * @param node its node
	 * @param keys the keys, the last of its arguments
	 * @param effect what a call does first
	 */
	protected static void own(StoreNode<?> node, String keys, Consumer<String> effect) throws InterruptedException {
		List<String> all = List.of(keys.split(","));
		CountDownLatch running = new CountDownLatch(all.size());
		for (String key : all) {
			new Thread(() -> node.call(key).lease(LEASE).execute(String.class, () -> {
				effect.accept(key);
				running.countDown();
				return await().forever().until(() -> "never", (value) -> false);
			})).start();
		}
		running.await();
		System.out.println("running");
		Thread.currentThread().join();
	}

}
