package io.idempotency.proofs.history;

import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.idempotency.it.client.Answer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Clients that send a call to any node until they have a final answer: new calls, calls
 * that another client is sending at the moment, and calls that were answered long ago.
 * Some of the latter two have another body. A client waits for an answer as long as it
 * likes, which may be too short.
 */
final class Callers implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Callers.class);

	private static final Pattern CODE = Pattern.compile("\"code\":\"([a-z-]+)\"");

	private static final int LATER = 2_000;

	/** So long must a key have a final answer when nothing goes wrong any more. */
	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final List<HistoryNode> nodes;

	private final List<Operation> operations;

	private final Journal journal;

	private final ExecutorService threads;

	private final AtomicReferenceArray<@Nullable Intent> underWay;

	private final ConcurrentLinkedQueue<Intent> all = new ConcurrentLinkedQueue<>();

	private final AtomicReferenceArray<@Nullable Intent> answered = new AtomicReferenceArray<>(LATER);

	private final AtomicLong calls = new AtomicLong();

	private final AtomicLong intents = new AtomicLong();

	private final List<Future<?>> callers = new ArrayList<>();

	private volatile boolean stopped;

	private volatile long giveUp;

	Callers(int number, List<HistoryNode> nodes, List<Operation> operations, Journal journal) {
		this.nodes = nodes;
		this.operations = operations;
		this.journal = journal;
		this.threads = Executors.newFixedThreadPool(number);
		this.underWay = new AtomicReferenceArray<>(number);
	}

	/** Begins. */
	void start() {
		for (int i = 0; i < this.underWay.length(); i++) {
			int place = i;
			this.callers.add(this.threads.submit(() -> callUntilStopped(place)));
		}
	}

	/** Lets the clients get their answers, and then asks for every key once more. */
	void finish() throws ExecutionException, InterruptedException {
		this.giveUp = System.nanoTime() + PATIENCE.toNanos();
		this.stopped = true;
		for (Future<?> caller : this.callers) {
			caller.get();
		}
		this.giveUp = System.nanoTime() + PATIENCE.multipliedBy(5).toNanos();
		List<Future<?>> audits = new ArrayList<>();
		for (int i = 0; i < this.underWay.length(); i++) {
			audits.add(this.threads.submit(() -> {
				Intent intent = this.all.poll();
				while (intent != null) {
					call(intent);
					intent = this.all.poll();
				}
			}));
		}
		for (Future<?> audit : audits) {
			audit.get();
		}
	}

	private void callUntilStopped(int place) {
		while (!this.stopped) {
			Random chance = ThreadLocalRandom.current();
			int percent = chance.nextInt(100);
			Intent other = null;
			if (percent < 25) {
				other = this.underWay.get(chance.nextInt(this.underWay.length()));
			}
			else if (percent < 40) {
				other = this.answered.get(chance.nextInt(LATER));
			}
			if (other != null) {
				call((chance.nextInt(20) == 0 && other.operation.compares()) ? other.changed() : other);
			}
			else {
				Intent mine = newIntent(chance);
				this.all.add(mine);
				this.underWay.set(place, mine);
				call(mine);
				this.underWay.set(place, null);
				this.answered.set(chance.nextInt(LATER), mine);
			}
		}
	}

	private Intent newIntent(Random chance) {
		Operation operation = this.operations.get(chance.nextInt(this.operations.size()));
		return new Intent("k" + this.intents.incrementAndGet(), "A", operation);
	}

	private void call(Intent intent) {
		while (!send(intent) && !(this.stopped && System.nanoTime() - this.giveUp > 0)) {
			Pause.millis(30 + ThreadLocalRandom.current().nextInt(200));
		}
	}

	/** Sends a call once. Returns whether the answer is final. */
	private boolean send(Intent intent) {
		Random chance = ThreadLocalRandom.current();
		HistoryNode node = this.nodes.get(chance.nextInt(this.nodes.size()));
		String call = "c" + this.calls.incrementAndGet();
		HttpRequest.Builder request = node.client()
			.to("/" + intent.operation)
			.timeout(Duration.ofMillis(patienceMillis(chance)))
			.header("Idempotency-Key", intent.key)
			.header("Content-Type", "text/plain")
			.POST(HttpRequest.BodyPublishers.ofString(intent.variant));
		this.journal.write("call", call, intent.key, intent.variant, intent.operation);
		try {
			Answer answer = node.client().send(request);
			Call.Reply reply = reply(answer);
			this.journal.write("answer", call, reply.status(), reply.code(), reply.replayed() ? "replay" : "fresh",
					reply.run(), reply.key(), reply.variant(), reply.body(), reply.whole());
			return reply.isFinal();
		}
		catch (UncheckedIOException noAnswer) {
			this.journal.write("silence", call);
			return false;
		}
	}

	/** Some hang up in the middle of their call, which closes the connection. */
	private static int patienceMillis(Random chance) {
		return (chance.nextInt(20) == 0) ? 1 + chance.nextInt(60) : 300 + chance.nextInt(5_000);
	}

	private static Call.Reply reply(Answer answer) {
		if (answer.status() / 100 != 2) {
			Matcher code = CODE.matcher(answer.text());
			return new Call.Reply(answer.status(), code.find() ? code.group(1) : "-", answer.replayed(), "-", "-", "-",
					"-", "-");
		}
		String[] words = answer.text().split(" ");
		if (words.length < 3) {
			logger.error("An answer that no run returns: {}", answer);
			words = new String[] { "-", "-", "-" };
		}
		String whole = answer.status() + " " + answer.comparableHeaders() + " " + answer.text();
		return new Call.Reply(answer.status(), "-", answer.replayed(), words[0], words[1], words[2],
				Digest.of(answer.body()), Digest.of(whole.getBytes(StandardCharsets.UTF_8)));
	}

	@Override
	public void close() {
		this.stopped = true;
		this.threads.shutdownNow();
	}

	/** What a client wants. */
	private record Intent(String key, String variant, Operation operation) {

		Intent changed() {
			return new Intent(this.key, "B", this.operation);
		}

	}

}
