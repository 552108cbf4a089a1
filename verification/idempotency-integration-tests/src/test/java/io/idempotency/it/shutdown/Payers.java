package io.idempotency.it.shutdown;

import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;

/**
 * Callers who pay again and again, each time with a new key, and remember what they were
 * told.
 */
final class Payers implements AutoCloseable {

	private static final long PAUSE_MILLIS = 20;

	/** Less than an answer with status 503 asks for: the load goes on. */
	private static final long PAUSE_AFTER_REJECTION_MILLIS = 300;

	private final Client client;

	private final ScheduledExecutorService threads;

	private final Set<String> keys = ConcurrentHashMap.newKeySet();

	private final Set<String> unanswered = ConcurrentHashMap.newKeySet();

	private final Map<String, Answer> answers = new ConcurrentHashMap<>();

	private volatile boolean stopped;

	Payers(Client client, int number) {
		this.client = client;
		this.threads = Executors.newScheduledThreadPool(number);
		for (int i = 0; i < number; i++) {
			this.threads.execute(this::pay);
		}
	}

	private void pay() {
		if (this.stopped) {
			return;
		}
		String key = UUID.randomUUID().toString();
		this.keys.add(key);
		this.unanswered.add(key);
		try {
			Answer answer = this.client.post("/payments", key);
			this.answers.put(key, answer);
			this.threads.schedule(this::pay, (answer.status() == 503) ? PAUSE_AFTER_REJECTION_MILLIS : PAUSE_MILLIS,
					TimeUnit.MILLISECONDS);
		}
		catch (RejectedExecutionException closed) {
			// That was the last one.
			this.stopped = true;
		}
		catch (UncheckedIOException noAnswer) {
			// The application is gone, or hung up: whether it paid the caller cannot
			// know.
			this.stopped = true;
		}
		finally {
			this.unanswered.remove(key);
		}
	}

	/** Every key that was ever sent. */
	Set<String> keys() {
		return Set.copyOf(this.keys);
	}

	/** The keys of calls that are under way. */
	Set<String> unanswered() {
		return Set.copyOf(this.unanswered);
	}

	/** What callers were told, by key; nothing where the line went dead. */
	Map<String, Answer> answers() {
		return Map.copyOf(this.answers);
	}

	/** The keys whose callers were told that they have paid. */
	Set<String> paid() {
		return this.answers.entrySet()
			.stream()
			.filter((answer) -> answer.getValue().status() == 201)
			.map(Map.Entry::getKey)
			.collect(Collectors.toUnmodifiableSet());
	}

	/** Sends no more keys, and waits for the answers. */
	@Override
	public void close() {
		this.stopped = true;
		this.threads.shutdown();
		try {
			if (!this.threads.awaitTermination(30, TimeUnit.SECONDS)) {
				throw new IllegalStateException("Callers still wait for an answer: " + this.unanswered);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.threads.shutdownNow();
		}
	}

}
