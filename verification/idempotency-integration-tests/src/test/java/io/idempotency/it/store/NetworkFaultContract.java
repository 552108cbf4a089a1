package io.idempotency.it.store;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.idempotency.it.faults.BadLine;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * What happens between client and server, and how often the guarded calls ran: replies
 * that are lost after the write was applied, connections that are dropped between the
 * verbs. One node is behind a bad line, another on a good one.
 */
public abstract class NetworkFaultContract {

	private final Runs runs = new Runs();

	private BadLine line;

	private StoreNode<?> node;

	private StoreNode<?> other;

	/**
	 * Where the server listens.
	 * @return its port
	 */
	protected abstract int serverPort();

	/**
	 * Connects a node.
	 * @param port the port of the server, or of a line to it
	 * @return the node
	 */
	protected abstract StoreNode<?> connect(int port);

	/**
	 * Connects a node that gives its store up soon.
	 * @param port the port of the server, or of a line to it
	 * @return the node
	 */
	protected StoreNode<?> connectImpatiently(int port) {
		return connect(port);
	}

	/**
	 * Counts the records, not through a node.
	 * @return the number of records
	 */
	protected abstract long records();

	@BeforeEach
	void openLine() {
		this.line = new BadLine(serverPort());
		this.node = connect(this.line.port());
		this.other = connect(serverPort());
		// Connects, and makes the server know the statements.
		this.node.execute(freshKey(), () -> "done");
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(freshKey(), () -> {
			throw new IllegalStateException();
		}));
	}

	@AfterEach
	void closeLine() {
		this.node.close();
		this.other.close();
		this.line.close();
	}

	@Test
	void lostReplyOfAClaimDoesNotLockTheKey() throws Exception {
		for (int round = 0; round < 5; round++) {
			String key = freshKey();
			long records = records();
			this.line.loseReplies();
			CompletableFuture<String> call = SchedulerThread
				.supply(() -> this.node.executeUntilAnswered(key, () -> this.runs.run(key)));
			await().atMost(Duration.ofSeconds(60)).until(() -> records() == records + 1);
			assertThat(this.runs.of(key)).as("runs before the reply").isZero();
			this.line.reconnect();
			assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo(key + " run 1");
			expectReplayed(key);
		}
	}

	@Test
	void lostReplyOfACompletionDoesNotChangeTheResult() {
		for (int round = 0; round < 5; round++) {
			String key = freshKey();
			CompletableFuture<Void> repair = new CompletableFuture<>();
			String result = this.node.executeUntilAnswered(key, () -> {
				this.line.loseReplies();
				// A completed record is one that a duplicate can replay.
				repair.completeAsync(() -> {
					await().atMost(Duration.ofSeconds(60))
						.ignoreException(IdempotencyInProgressException.class)
						.until(() -> this.other.execute(key, () -> "never") != null);
					this.line.reconnect();
					return null;
				}, SchedulerThread::start);
				return this.runs.run(key);
			});
			assertThat(result).isEqualTo(key + " run 1");
			assertThat(repair).succeedsWithin(Duration.ofSeconds(60));
			expectReplayed(key);
			// Repeated in the background, it would hold the connection of the next round.
			int executed = round + 2;
			await().atMost(Duration.ofSeconds(60)).until(() -> this.node.count(IdempotencyEvent.EXECUTED) == executed);
		}
		assertThat(this.node.count(IdempotencyEvent.LEASE_LOST)).isZero();
	}

	@Test
	void releaseThatIsSentTwiceDoesNotReleaseTheNextClaim() throws Exception {
		String key = freshKey();
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch mayEnd = new CountDownLatch(1);
		CompletableFuture<String> next = new CompletableFuture<>();
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(key, () -> {
			this.line.loseReplies();
			next.completeAsync(() -> this.other.executeUntilAnswered(key, () -> {
				running.countDown();
				this.line.reconnect();
				awaitUninterruptibly(mayEnd);
				return this.runs.run(key);
			}), SchedulerThread::start);
			throw new IllegalStateException("declined");
		}));
		assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
		// The release that had no reply was sent once more by now, or is in a moment.
		this.node.executeUntilAnswered(freshKey(), () -> "connected");
		await().pollDelay(Duration.ofMillis(500)).until(() -> true);
		await().atMost(Duration.ofSeconds(60))
			.ignoreException(IdempotencyStoreUnavailableException.class)
			.untilAsserted(() -> assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.node.execute(key, () -> this.runs.run(key))));
		mayEnd.countDown();
		assertThat(next.get(60, TimeUnit.SECONDS)).isEqualTo(key + " run 1");
		expectReplayed(key);
	}

	@Test
	void connectionDroppedBetweenClaimAndCompletionChangesNothing() {
		for (int round = 0; round < 5; round++) {
			String key = freshKey();
			String result = this.node.executeUntilAnswered(key, () -> {
				this.line.reconnect();
				return this.runs.run(key);
			});
			assertThat(result).isEqualTo(key + " run 1");
			expectReplayed(key);
		}
	}

	@Test
	void storeThatIsGoneAfterSuccessKeepsNobodyFromHisAnswer() {
		String key = freshKey();
		try (StoreNode<?> impatient = connectImpatiently(this.line.port())) {
			assertThat(impatient.executeUntilAnswered(freshKey(), () -> "connected")).isEqualTo("connected");
			String result = impatient.executeUntilAnswered(key, () -> {
				this.line.cut();
				return this.runs.run(key);
			});
			assertThat(result).isEqualTo(key + " run 1");
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.other.execute(key, () -> this.runs.run(key)));
			this.line.mend();
			expectReplayed(key);
			assertThat(impatient.count(IdempotencyEvent.STORE_RETRY)).isPositive();
		}
	}

	private void expectReplayed(String key) {
		for (StoreNode<?> any : List.of(this.other, this.node)) {
			assertThat(any.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
		}
		assertThat(this.runs.of(key)).as("runs").isEqualTo(1);
	}

	private static void awaitUninterruptibly(CountDownLatch latch) {
		await().atMost(Duration.ofSeconds(60)).until(() -> latch.getCount() == 0);
	}

	private static String freshKey() {
		return UUID.randomUUID().toString();
	}

}
