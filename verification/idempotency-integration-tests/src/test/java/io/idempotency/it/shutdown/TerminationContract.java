package io.idempotency.it.shutdown;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import io.idempotency.it.client.Answer;
import io.idempotency.it.faults.BadLine;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An application under load is told to end just when its store is back: whatever it has
 * told its callers holds after it was started again.
 * <p>
 * A call whose work is done while the store is away is answered, and its completion is
 * outstanding. If the application took that to its grave, the claim would be abandoned
 * when its lease is over and a retry would pay a second time. The clients of the store
 * fail at once while it is away, so that the repetitions of the engine are far between.
 */
@Tag("own-processes")
abstract class TerminationContract {

	private static final int PAYERS = 20;

	/** How long a call works after it has paid: most of its time. */
	private static final Duration REST = Duration.ofMillis(300);

	/** Long enough for the pauses between repetitions to be longer than the rest. */
	private static final Duration AWAY = Duration.ofSeconds(3);

	private static final Duration LEASE = Duration.ofSeconds(4);

	/** For machines that are busy with other things. */
	private static final Duration PATIENCE = Duration.ofSeconds(90);

	/**
	 * Where the store listens.
	 * @return the port
	 */
	abstract int storePort();

	/**
	 * What makes an application use it.
	 * @param port where it seems to listen
	 * @return the properties
	 */
	abstract List<String> properties(int port);

	@Test
	void applicationThatEndsBringsInWhatIsOutstanding() throws Exception {
		Path directory = Files.createTempDirectory(Files.createDirectories(Path.of("target", "servers")), "payments-")
			.toAbsolutePath();
		Path payments = Files.createFile(directory.resolve("payments"));
		try (BadLine line = new BadLine(storePort());
				PaymentNode node = new PaymentNode(directory, properties(line, payments))) {
			Payers payers = new Payers(node.client(), PAYERS);
			Set<String> outstanding;
			try (payers) {
				outstanding = loseStoreAndTerminate(line, node, payments, payers);
			}
			long abandoned = System.nanoTime() + LEASE.plusSeconds(1).toNanos();
			node.restart();
			await("every lease to be over").until(() -> System.nanoTime() - abandoned > 0);
			Map<String, Answer> answers = payers.answers();
			Map<String, Answer> again = payAgain(node, payers.keys());
			Map<String, Long> runs = runs(payments);

			SoftAssertions softly = new SoftAssertions();
			softly.assertThat(keys(again, (key) -> runs.getOrDefault(key, 0L) > 1))
				.as("calls that ran twice, of %d; %d of them were answered while the store was away", again.size(),
						outstanding.size())
				.isEmpty();
			softly.assertThat(keys(again, (key) -> !runs.containsKey(key))).as("calls that never ran").isEmpty();
			softly.assertThat(keys(again, (key) -> again.get(key).status() != 201))
				.as("calls that fail: the store is there and nobody else is")
				.isEmpty();
			softly.assertThat(keys(again, (key) -> payers.paid().contains(key) && !isSame(answers, again, key)))
				.as("callers that are told something else than before")
				.isEmpty();
			softly.assertAll();
		}
	}

	/** Gives the keys that were answered while the store was away. */
	private static Set<String> loseStoreAndTerminate(BadLine line, PaymentNode node, Path payments, Payers payers)
			throws IOException {
		// Payers that began together may all be asking the store at one moment.
		await("calls at work").pollInterval(Duration.ofMillis(5))
			.atMost(PATIENCE)
			.until(() -> payers.paid().size() >= 3 * PAYERS && atWork(payments, payers) > PAYERS / 2);
		line.cut();
		Set<String> underWay = payers.unanswered();
		await().atMost(PATIENCE)
			.pollDelay(AWAY)
			.until(() -> payers.unanswered().stream().noneMatch(underWay::contains));
		Set<String> outstanding = underWay.stream()
			.filter(payers.paid()::contains)
			.collect(Collectors.toUnmodifiableSet());
		assertThat(outstanding).as("calls answered while the store is away").hasSizeGreaterThan(PAYERS / 4);
		long before = Files.size(payments);
		line.mend();
		await("a call under way").pollInterval(Duration.ofMillis(5))
			.atMost(PATIENCE)
			.until(() -> Files.size(payments) > before);
		node.terminate();
		node.awaitEnd(PATIENCE);
		return outstanding;
	}

	/** How many calls have paid and are not answered. */
	private static int atWork(Path payments, Payers payers) throws IOException {
		int answered = payers.paid().size();
		return Files.readAllLines(payments).size() - answered;
	}

	private List<String> properties(BadLine line, Path payments) {
		List<String> properties = new ArrayList<>(properties(line.port()));
		properties.addAll(List.of("idempotency.lease=" + LEASE.toSeconds() + "s", "idempotency.store-timeout=1s",
				"test.payments=" + payments, "test.rest=" + REST.toMillis() + "ms"));
		return properties;
	}

	private static Map<String, Answer> payAgain(PaymentNode node, Set<String> keys) throws Exception {
		ExecutorService callers = Executors.newFixedThreadPool(PAYERS);
		try {
			Map<String, Future<Answer>> calls = new TreeMap<>();
			keys.forEach((key) -> calls.put(key, callers.submit(() -> payUntilAnswered(node, key))));
			Map<String, Answer> answers = new TreeMap<>();
			for (Map.Entry<String, Future<Answer>> call : calls.entrySet()) {
				answers.put(call.getKey(), call.getValue().get());
			}
			return answers;
		}
		finally {
			callers.shutdownNow();
		}
	}

	/**
	 * An application that has just begun may be slow, and 503 says that nothing ran.
	 * Callers that repeat at once would keep it slow.
	 */
	private static Answer payUntilAnswered(PaymentNode node, String key) {
		return await("an answer for " + key).pollDelay(Duration.ZERO)
			.pollInterval(REST)
			.atMost(PATIENCE)
			.until(() -> node.client().post("/payments", key), (answer) -> answer.status() != 503);
	}

	private static Map<String, Long> runs(Path payments) throws IOException {
		return Files.readAllLines(payments)
			.stream()
			.collect(Collectors.groupingBy((key) -> key, Collectors.counting()));
	}

	private static List<String> keys(Map<String, Answer> answers, Predicate<String> which) {
		return answers.keySet().stream().filter(which).toList();
	}

	private static boolean isSame(Map<String, Answer> answers, Map<String, Answer> again, String key) {
		return again.get(key).replayed() && again.get(key).text().equals(answers.get(key).text());
	}

}
